"""Banners about problems with a draft's token or account."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone
from django.utils.dateformat import format as formatted

from dashboard.models import Membership, PlannedRender, User
from dashboard.shared.formatting import clock
from dashboard.studio.flows import flow_of
from dashboard.studio.kept_settings.capture import draft_origin
from dashboard.studio.kept_settings.groups import setting_label
from proxyapi.credentials import token_vault
from proxyapi.models import Account, AccountPlan, Job, TokenState


@dataclass(frozen=True, slots=True)
class DraftNotice:
    """A banner. `add_token`: the reader can solve it by adding a token."""

    state: str
    title: str
    text: str
    add_token: bool = False


def draft_notices(
    job: Job, reader: Membership, plan: PlannedRender | None = None
) -> tuple[DraftNotice, ...]:
    """No query, unless the token belongs to another member and does not work."""
    notices = (
        token_notice(job, reader),
        account_notice(job.account),
        left_out_notice(job),
        plan_notice(plan) if plan else None,
    )
    return tuple(notice for notice in notices if notice)


def token_notice(job: Job, reader: Membership) -> DraftNotice | None:
    token = job.token
    stopped = token.state in (TokenState.REVOKED, TokenState.REMOVED)
    if not stopped and job.account.pause_reason:
        return DraftNotice("paused", "This draft is paused.", job.account.pause_reason)
    if not stopped and token_vault.can_decrypt(token):
        return None
    is_own = token.owner_id == reader.user_id
    owner: User = token.owner
    whose = "Your" if is_own else f"{owner.first_name}’s"
    who = "you add" if is_own else f"{owner.first_name} adds"
    account = job.account.name or "the same account"
    advice = f"It can be priced and rendered again when {who} a new token for {account}."
    if not stopped:
        return DraftNotice(
            "failed",
            f"{whose} stored token cannot be decrypted.",
            f"Its data was changed, or its encryption key is missing. The draft is kept. {advice}",
            add_token=is_own,
        )
    if token.state == TokenState.REVOKED:
        return DraftNotice(
            "failed",
            f"{whose} token stopped working at {clock(token.state_since)}.",
            f"The draft is kept. {advice}",
            add_token=is_own,
        )
    return DraftNotice(
        "paused",
        f"{whose} token was removed.",
        f"The draft is kept. {advice}",
        add_token=is_own,
    )


def account_notice(account: Account) -> DraftNotice | None:
    if account.plan == AccountPlan.TRIAL:
        return DraftNotice(
            "paused",
            "The service allows its API on paid plans only, not on trials.",
            "The balance and the ledger can still be read. Drafts are kept.",
        )
    if account.plan == AccountPlan.NONE and not account.had_plan:
        return DraftNotice(
            "paused",
            "The account has no paid plan.",
            "The service allows its API on paid plans only. Drafts are kept.",
        )
    if account.plan == AccountPlan.NONE:
        ended = account.plan_ends_at
        has_ended = ended is not None and ended <= timezone.now()
        day = f" on {formatted(timezone.localtime(ended), 'j M')}" if has_ended else ""
        return DraftNotice(
            "paused",
            f"The plan lapsed{day}.",
            "Nothing is lost. Videos stay here. Status checks are paused and resume automatically "
            "when the plan is paid.",
        )
    if not account.email_verified:
        return DraftNotice(
            "paused",
            "The e-mail address of this account is not verified.",
            "The service may refuse to render until the owner verifies the address there. Drafts "
            "are kept.",
        )
    return None


def plan_notice(plan: PlannedRender) -> DraftNotice:
    if plan.is_active:
        return DraftNotice(
            "info",
            "The render starts by itself when the script is written.",
            "If you change the draft, it does not, and you press Render when you are ready.",
        )
    return DraftNotice("late", "The render did not start by itself.", plan.reason)


def left_out_notice(job: Job) -> DraftNotice | None:
    """Return which settings of its preset or of the brand kit a new draft could not get, until
    something is chosen instead."""
    origin, chosen = draft_origin(job), job.chosen_settings
    left_out = origin.left_out if origin else {}
    names = [
        f"{setting_label(field).lower()} “{name}”"
        for field, name in left_out.items()
        if not chosen.get(field) and field in flow_of(job).settings
    ]
    if not names:
        return None
    return DraftNotice(
        "late",
        f"Left out, because the service no longer offers it: {', '.join(names)}.",
        "Choose something else in its step.",
    )
