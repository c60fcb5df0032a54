"""The team's drafts: what each still needs, and its price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from dashboard.models import Membership, User
from dashboard.shared import query_params
from dashboard.shared.access import has_permission
from dashboard.shared.budget_usage import load_money_managers
from dashboard.shared.formatting import age_text
from dashboard.shared.lists import WHOSE_LABELS, load_list
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.studio.flows import FLOWS, FlowStep, flow_of
from dashboard.studio.queries.price import MET, OPEN, precondition_state, price_state_and_reason
from dashboard.studio.queries.steps import step_state
from proxyapi.models import Charge, ChargeState, Job, JobKind, JobState
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.operations import FACELESS_RENDER_OPERATIONS, SCRIPT_OPERATIONS

HOME_DRAFT_COUNT = 5
DRAFT_PAGE_SIZE = 40
READY_TEXT = "Nothing, ready to render"
TYPE_LABELS = {"": "any", **{flow.type: flow.label for flow in FLOWS.values()}}


@dataclass(frozen=True, slots=True)
class DraftFilters(query_params.PageFilters):
    PAGE: ClassVar[str] = "drafts"
    CURSOR: ClassVar[str] = "before"
    ID: ClassVar[str] = "draft"

    search: str = query_params.search_field()
    whose: str = query_params.choice_field(WHOSE_LABELS, narrows=False)
    type: str = query_params.choice_field(TYPE_LABELS, "Type", lookup="draft__settings__type")
    before: query_params.Cursor | None = query_params.cursor_field(datetime, UUID)


def load_drafts(reader: Membership, filters: DraftFilters, size: int) -> dict[str, Any]:
    """Three queries, and a fourth if a draft waits for an approval. A draft whose render was sent
    is in the library, not here."""
    page = load_list(filters, annotate_open_charges(filter_drafts(reader, filters)), size)
    waits = any(job.requested_price is not None for job in page.rows)
    approvers = [other.user for other in load_money_managers(reader.team)] if waits else []
    options = {job.account: account_options(job.account) for job in page.rows}
    now = timezone.now()
    return {
        "list": page,
        "rows": [build_draft_row(job, options[job.account], approvers, now) for job in page.rows],
        "may_change": has_permission(reader, Permission.RENDER),
    }


def filter_drafts(reader: Membership, filters: DraftFilters) -> QuerySet[Job]:
    rendering = Charge.objects.filter(
        job=OuterRef("pk"), operation__in=FACELESS_RENDER_OPERATIONS, state__in=HOLDING_STATES
    )
    jobs = filters.narrow(
        Job.objects.visible()
        .filter(tenant=reader.team.tenant_id, kind=JobKind.FACELESS, state=JobState.DRAFT)
        .filter(draft__isnull=False)
        .filter(~Exists(rendering))
        .select_related("member", "draft")
        .prefetch_related("account")  # read and parsed once, not with each row
        .order_by("-draft__edited_at", "-pk")
    )
    if filters.whose:
        jobs = jobs.filter(member=reader.user_id)
    if filters.search:
        text = filters.search
        jobs = jobs.filter(Q(title__icontains=text) | Q(draft__settings__script__icontains=text))
    return jobs


def annotate_open_charges(jobs: QuerySet[Job]) -> QuerySet[Any]:
    """Annotate the price of a render that waits for an approval, and whether a script is being
    written."""
    charges = Charge.objects.filter(job=OuterRef("pk"))
    renders = charges.filter(operation__in=FACELESS_RENDER_OPERATIONS, state=ChargeState.DRAFT)
    scripts = charges.filter(operation__in=SCRIPT_OPERATIONS, state__in=HOLDING_STATES)
    return jobs.annotate(
        requested_price=Subquery(renders.values("quote")[:1]), is_writing=Exists(scripts)
    )


def first_open_step(job: Job, options: FacelessOptions | None = None) -> FlowStep:
    """Return the first incomplete step, or the review if all are complete. `options`: those of the
    draft's account."""
    options = options or account_options(job.account)
    steps, settings = flow_of(job).steps, job.draft.settings
    return next(step for step in steps if not step_state(step, settings, options)[0])


def build_draft_row(
    job: Any, options: FacelessOptions, approvers: Sequence[User], now: datetime
) -> dict[str, Any]:
    """`job` is a row of `annotate_open_charges`; `approvers` are those who may approve. `glyph` and
    `missing` say what is missing, or that nothing is. No query."""
    draft = job.draft
    glyph, missing = draft_progress(job, options, approvers)
    estimate = draft.estimate if draft.has_current_estimate else None
    return {
        "job": job,
        "kind_line": ", ".join(
            filter(None, (flow_of(job).label, str(draft.settings.get("aspect_ratio") or "")))
        ),
        "glyph": glyph,
        "missing": missing,
        "next_step": first_open_step(job, options).slug,
        "price": job.requested_price if job.requested_price is not None else estimate,
        "age": age_text(now - draft.edited_at),
    }


def draft_progress(
    job: Any, options: FacelessOptions, approvers: Sequence[User]
) -> tuple[str, str]:
    """Return the glyph and the text of what the draft lacks."""
    if job.requested_price is not None:
        others = [user.first_name for user in approvers if user.pk != job.member_id]
        by = f" by {' or '.join(others)}" if others else ""
        return "waiting", f"Waiting for approval{by}"
    if job.is_writing:
        return "running", "The script is being written"
    if nouns := missing_nouns(job, options):
        return OPEN, join_nouns(nouns)
    state, reason = price_state_and_reason(job)
    if state == "known":
        return "completed", READY_TEXT
    return ("running", "Getting the price") if state == "pending" else ("late", f"Price: {reason}")


def missing_nouns(job: Job, options: FacelessOptions) -> list[str]:
    """Return what the draft lacks, in the order of its steps, each once."""
    flow, chosen = flow_of(job), job.draft.settings
    nouns = []
    if not chosen.get("aspect_ratio") and options.choices("aspect_ratio"):
        nouns.append("format")
    for need in flow.preconditions:
        if need.only_if_offered and not options.choices(need.field):
            continue
        if precondition_state(need, job, options)[0] != MET:
            nouns.append(need.noun)
    return list(dict.fromkeys(nouns))


def join_nouns(nouns: list[str]) -> str:
    """Return a text such as `Format, voice and genre`."""
    *first, last = nouns
    text = f"{', '.join(first)} and {last}" if first else last
    return text[:1].upper() + text[1:]
