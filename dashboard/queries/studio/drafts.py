"""The studio's first page: the team's drafts, and whether the reader can start one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Exists, OuterRef

from dashboard.access import can
from dashboard.models import Membership
from dashboard.queries.studio.notices import Notice, account_notice
from dashboard.queries.studio.options import options_in
from dashboard.queries.studio.steps import Slug, state_of
from dashboard.roles import Permission
from proxyapi.credentials import token_vault
from proxyapi.models import Charge, Job, JobKind, JobState, Token, TokenState
from proxyapi.models.charge import FACELESS_RENDER_OPERATIONS, HOLDING_STATES

SHOWN = 50
MISSING = {
    Slug.TYPE: "needs a format",
    Slug.SCRIPT: "needs a script",
    Slug.VOICE: "needs a voice",
    Slug.LOOK: "needs a genre",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """`next` is the first step with something missing; the review when nothing is."""

    job_id: UUID
    title: str
    who: str
    note: str
    next: Slug
    estimate: Decimal | None
    edited_at: datetime


@dataclass(frozen=True, slots=True)
class DraftList:
    """`stopped` says that the reader had a token and the service takes it no more, `elsewhere`
    why it is paused."""

    drafts: tuple[Draft, ...]
    may_start: bool
    needs_token: bool
    stopped: bool
    elsewhere: str
    notice: Notice | None
    more: bool


def drafts_of(reader: Membership) -> DraftList:
    """Three queries. A draft whose render is on its way stands in the library, not here."""
    rendering = Charge.objects.filter(
        job=OuterRef("pk"), operation__in=FACELESS_RENDER_OPERATIONS, state__in=HOLDING_STATES
    )
    jobs = (
        Job.objects.visible()
        .filter(vault=reader.team.vault_id, kind=JobKind.FACELESS, state=JobState.DRAFT)
        .filter(~Exists(rendering))
        .select_related("member", "account")
        .order_by("-edited_at")[: SHOWN + 1]
    )
    rows = [draft_of(job) for job in jobs]
    may = can(reader, Permission.RENDER)
    token = token_of(reader) if may else None
    elsewhere = token.account.pause_reason if token else ""
    usable = token is not None and token.state != TokenState.REVOKED and not elsewhere
    return DraftList(
        drafts=tuple(rows[:SHOWN]),
        may_start=may,
        needs_token=may and not usable,
        stopped=token is not None and not usable,
        elsewhere=elsewhere,
        notice=account_notice(token.account) if token and usable else None,
        more=len(rows) > SHOWN,
    )


def draft_of(job: Job) -> Draft:
    options = options_in(job.account.options)
    step = next(
        (slug for slug in MISSING if not state_of(slug, job.wanted, options)[0]), Slug.REVIEW
    )
    return Draft(
        job_id=job.pk,
        title=job.title,
        who=str(job.member),
        note=MISSING.get(step, "ready to render"),
        next=step,
        estimate=job.estimate if job.has_current_estimate else None,
        edited_at=job.edited_at,
    )


def token_of(reader: Membership) -> Token | None:
    """The reader's own token that new drafts run on; else one that stopped or is paused."""
    mine = Token.objects.not_removed().filter(vault=reader.team.vault_id, owner=reader.user_id)
    best = list(mine.select_related("account").best_first())
    ready = [token for token in best if token.account.is_of_current_upstream]
    return token_vault.first_decryptable(ready or best)
