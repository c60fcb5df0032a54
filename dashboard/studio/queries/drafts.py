"""The team's drafts: what each still needs, and its price."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Exists, OuterRef

from dashboard.models import Membership
from dashboard.shared.video_options import account_options
from dashboard.studio.flows import FlowStep, StepSlug, flow_of
from dashboard.studio.queries.steps import step_state
from proxyapi.models import Charge, Job, JobKind, JobState
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
    drafts: tuple[DraftRow, ...]
    has_more: bool


def load_draft_list(reader: Membership) -> DraftList:
    """One query. A draft whose render was sent is in the library, not here."""
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
    return DraftList(drafts=tuple(rows[:MAX_LISTED_DRAFTS]), has_more=len(rows) > MAX_LISTED_DRAFTS)


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
