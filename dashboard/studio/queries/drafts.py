"""The studio's list: the team's drafts, and whether the reader can start one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Exists, OuterRef

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import account_options
from dashboard.studio.flows import FlowStep, StepSlug, flow_of
from dashboard.studio.queries.notices import DraftNotice, account_notice
from dashboard.studio.queries.steps import step_state
from proxyapi.credentials import token_vault
from proxyapi.models import Charge, Job, JobKind, JobState, Token, TokenState
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.operations import FACELESS_RENDER_OPERATIONS

MAX_LISTED_DRAFTS = 50


@dataclass(frozen=True, slots=True)
class DraftRow:
    """`next_step` is the first incomplete step, or the review if all are complete."""

    job_id: UUID
    title: str
    member_name: str
    note: str
    next_step: StepSlug
    estimate: Decimal | None
    edited_at: datetime


@dataclass(frozen=True, slots=True)
class DraftList:
    """`token_stopped`: the reader has a token that does not work any more; `pause_reason` says why
    its account is paused."""

    drafts: tuple[DraftRow, ...]
    may_start: bool
    needs_token: bool
    token_stopped: bool
    pause_reason: str
    notice: DraftNotice | None
    has_more: bool


def load_draft_list(reader: Membership) -> DraftList:
    """Three queries. A draft whose render was sent is in the library, not here."""
    rendering = Charge.objects.filter(
        job=OuterRef("pk"), operation__in=FACELESS_RENDER_OPERATIONS, state__in=HOLDING_STATES
    )
    jobs = (
        Job.objects.visible()
        .filter(tenant=reader.team.tenant_id, kind=JobKind.FACELESS, state=JobState.DRAFT)
        .filter(draft__isnull=False)
        .filter(~Exists(rendering))
        .select_related("member", "account", "draft")
        .order_by("-draft__edited_at")[: MAX_LISTED_DRAFTS + 1]
    )
    rows = [build_draft_row(job) for job in jobs]
    may_start = has_permission(reader, Permission.RENDER)
    token = own_token_for_drafts(reader) if may_start else None
    pause_reason = token.account.pause_reason if token else ""
    usable = token is not None and token.state != TokenState.REVOKED and not pause_reason
    return DraftList(
        drafts=tuple(rows[:MAX_LISTED_DRAFTS]),
        may_start=may_start,
        needs_token=may_start and not usable,
        token_stopped=token is not None and not usable,
        pause_reason=pause_reason,
        notice=account_notice(token.account) if token and usable else None,
        has_more=len(rows) > MAX_LISTED_DRAFTS,
    )


def first_open_step(job: Job) -> FlowStep:
    """Return the first incomplete step, or the review if all are complete."""
    options = account_options(job.account)
    steps, settings = flow_of(job).steps, job.draft.settings
    return next(step for step in steps if not step_state(step, settings, options)[0])


def build_draft_row(job: Job) -> DraftRow:
    draft, step = job.draft, first_open_step(job)
    return DraftRow(
        job_id=job.pk,
        title=job.title,
        member_name=str(job.member),
        note=f"needs {step.needs}" if step.needs else "ready to render",
        next_step=step.slug,
        estimate=draft.estimate if draft.has_current_estimate else None,
        edited_at=draft.edited_at,
    )


def own_token_for_drafts(reader: Membership) -> Token | None:
    """Return the reader's token for new drafts; else one that stopped or is paused."""
    own_tokens = Token.objects.not_removed().filter(
        tenant=reader.team.tenant_id, owner=reader.user_id
    )
    best = list(own_tokens.select_related("account").best_first())
    ready = [token for token in best if token.account.is_of_current_upstream]
    return token_vault.first_decryptable(ready or best)
