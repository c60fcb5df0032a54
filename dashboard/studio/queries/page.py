"""The page of a step: everything around its form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from dashboard.models import Membership, PlannedRender
from dashboard.shared.access import has_permission
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.studio.flows import FlowStep, StepSlug, flow_of
from dashboard.studio.queries.notices import DraftNotice, draft_notices
from dashboard.studio.queries.page_source import PageSource, load_page_source
from dashboard.studio.queries.planned_render import render_obstacles
from dashboard.studio.queries.price import (
    DraftPrice,
    RenderButton,
    build_draft_price,
    build_render_button,
    token_requirement,
)
from dashboard.studio.queries.script import (
    ScriptLength,
    ScriptRequestStatus,
    build_script_question,
    draft_charges,
    last_script_request,
    script_length,
    script_request_status,
)
from dashboard.studio.queries.script_versions import EarlierScript, load_earlier_scripts
from dashboard.studio.queries.steps import (
    ReviewFact,
    StepProgress,
    build_review_facts,
    build_step_progress,
)
from proxyapi.models import AccountPlan, Job


@dataclass(frozen=True, slots=True)
class StudioPage:
    job_id: UUID
    title: str
    edited_at: datetime
    may_edit: bool
    options: FacelessOptions
    has_paid_plan: bool  # the service sends its options to paid plans only
    flow_step: FlowStep
    step_progress: StepProgress
    price: DraftPrice
    render_button: RenderButton
    notices: tuple[DraftNotice, ...]
    facts: tuple[ReviewFact, ...]
    script: str
    length: ScriptLength
    writing: ScriptRequestStatus
    last_script_request: dict[str, Any]
    script_question: PriceQuestion
    script_versions: tuple[EarlierScript, ...]
    source: PageSource
    plan: PlannedRender | None
    render_obstacles: tuple[str, ...]  # to "Write and render"

    @property
    def is_script_locked(self) -> bool:
        """True while the script is written, or is about to be rendered: it cannot be edited, and
        the part of the page refetches itself."""
        follows_script = (
            self.plan is not None and self.plan.is_active and not self.plan.is_scheduled
        )
        return self.writing.blocks_new_script or follows_script

    @property
    def step(self) -> str:
        return self.flow_step.slug

    @property
    def is_read_only(self) -> bool:
        """True if the step shows values without a form: the review, and every step for a viewer."""
        return self.step == StepSlug.REVIEW or not self.may_edit

    @property
    def has_form(self) -> bool:
        """True if the step has a form, so that "next" saves it."""
        if self.flow_step.has_script:
            return self.may_edit and not self.is_script_locked
        return not self.is_read_only and bool(self.options)


def load_studio_page(job: Job, reader: Membership, step: StepSlug) -> StudioPage:
    """Three queries besides the job with its account and token: charges, holds, past prices; in
    the step of the script two more, the draft and earlier scripts, and for a web page another two.

    In that step the draft is read after what says that its script or its images arrived: with an
    older draft the page would show neither, and would not refetch itself, as nothing is awaited.
    """
    flow_step = flow_of(job).steps_by_slug[step]
    source = load_page_source(job) if step == StepSlug.SOURCE else PageSource()
    if flow_step.has_script:
        draft_charges(job)
        job.draft.refresh_from_db()
    options = account_options(job.account)
    draft, price = job.draft, build_draft_price(job)
    may_edit, need = has_permission(reader, Permission.RENDER), token_requirement(job)
    plan: PlannedRender | None = getattr(job, "planned_render", None)
    # Beside the script, or with a time, it has its button.
    shows_plan = (may_edit and flow_step.has_script) or (plan is not None and plan.is_scheduled)
    return StudioPage(
        job_id=job.pk,
        title=job.title,
        edited_at=draft.edited_at,
        may_edit=may_edit,
        options=options,
        has_paid_plan=job.account.plan == AccountPlan.PAID,
        flow_step=flow_step,
        step_progress=build_step_progress(job, options, step),
        price=price,
        render_button=build_render_button(price, reader),
        notices=draft_notices(job, reader, None if shows_plan else plan),
        facts=build_review_facts(job, options, step),
        script=str(draft.settings.get("script") or ""),
        length=script_length(draft.settings.get("script")),
        writing=script_request_status(job),
        last_script_request=last_script_request(job),
        script_question=build_script_question(job, source.read_url, need.label if need else ""),
        script_versions=load_earlier_scripts(job) if flow_step.has_script else (),
        source=source,
        plan=plan,
        render_obstacles=tuple(render_obstacles(job, options)) if flow_step.has_script else (),
    )
