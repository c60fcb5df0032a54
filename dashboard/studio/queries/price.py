"""The price card: the estimate and its age, past prices, and what a render still needs.

It contains only data that every member may see, so it can be pushed to all; `build_render_button`
depends on the reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from dashboard.shared.team_balance import available_credits_text, credit_shortfall_text
from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.studio.flows import (
    Precondition,
    SettingControl,
    StepSlug,
    chosen_combination,
    flow_of,
    lacks_priced_choice,
)
from dashboard.studio.queries.past_costs import engine_key
from dashboard.studio.queries.script import draft_charges, script_length
from dashboard.studio.queries.steps import setting_state
from proxyapi import pricing
from proxyapi.credentials import token_vault
from proxyapi.kinds import KINDS
from proxyapi.models import Charge, Job, JobState, PageRead, TokenState
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import FACELESS_RENDER_OPERATIONS
from proxyapi.refusals import format_credits

MET, OPEN, PROBLEM, IN_PROGRESS = "good", "draft", "late", "running"
MAX_PAST_PRICES = 14
QUOTE_TIMEOUT = timedelta(seconds=20)
SIMILAR_LENGTH_FACTOR = 1.25  # lengths that differ by at most this factor are "like this"


@dataclass(frozen=True, slots=True)
class RenderRequirement:
    """A precondition of the service (spec, Faceless render preconditions) or of the portal.
    `state` is a glyph."""

    label: str
    state: str
    step: str = ""
    action_label: str = ""

    @property
    def done(self) -> bool:
        return self.state == MET


@dataclass(frozen=True, slots=True)
class ClipRate:
    """What the chosen clip engine takes a second, and for how many seconds."""

    name: str
    credits_per_second: Decimal
    length: str


@dataclass(frozen=True, slots=True)
class PastPrices:
    """Costs, in credits, of the last renders of the same type and length, newest first."""

    costs: tuple[Decimal, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.costs)

    @property
    def sentence(self) -> str:
        low, high = format_credits(min(self.costs)), format_credits(max(self.costs))
        many = f"Your last {len(self.costs)} videos" if len(self.costs) > 1 else "Your last video"
        span = low if low == high else f"{low} to {high}"
        return f"{many} like this cost {span}."


@dataclass(frozen=True, slots=True)
class DraftPrice:
    """`estimate` is set only in state `known`."""

    job_id: UUID
    state: str  # known, pending or none
    estimate: Decimal | None
    as_of: datetime | None
    reason: str
    can_request_again: bool
    requirements: tuple[RenderRequirement, ...]
    past_prices: PastPrices
    clip_rate: ClipRate | None = None

    @property
    def ready(self) -> bool:
        return self.state == "known" and all(need.done for need in self.requirements)

    @property
    def lacks_only_credits(self) -> bool:
        """True if it could be rendered with more credits: that line is the last."""
        *others, of_credits = self.requirements
        is_rest_met = self.state == "known" and all(need.done for need in others)
        return is_rest_met and not of_credits.done

    @property
    def quote_timeout(self) -> timedelta:
        """Return when a pending answer is overdue; the page counts the time."""
        return QUOTE_TIMEOUT


@dataclass(frozen=True, slots=True)
class RenderButton:
    """The render button with its price, for one reader."""

    job_id: UUID
    show: bool
    ready: bool
    estimate: Decimal | None
    disabled_reason: str = ""  # if set, the button is disabled
    may_wait: bool = False  # until the credits are free


def build_draft_price(job: Job) -> DraftPrice:
    """Three queries besides the job with its account and token, for a web page four."""
    options = account_options(job.account)
    state, reason = price_state_and_reason(job)
    return DraftPrice(
        job_id=job.pk,
        state=state,
        estimate=job.draft.estimate if state == "known" else None,
        as_of=job.draft.estimate_as_of,
        reason=reason,
        can_request_again=can_request_price_again(job, state),
        requirements=render_requirements(job, options),
        past_prices=load_past_prices(job),
        clip_rate=build_clip_rate(job, options),
    )


def build_clip_rate(job: Job, options: FacelessOptions) -> ClipRate | None:
    """Return the rate of the chosen clip engine; None if the type has none or it has no price."""
    chosen = job.draft.settings
    if "clip_engine_id" not in flow_of(job).settings:
        return None
    engine = options.clip_engine(chosen.get("clip_engine_id"))
    combination = chosen_combination(chosen)
    offered = engine.offered.get(combination.value) if engine else None
    if engine is None or offered is None or offered.credits_per_second is None:
        return None
    name = ", ".join(filter(None, (engine.name, offered.name)))
    length = script_length(chosen.get("script"))
    return ClipRate(name, offered.credits_per_second, length.duration_text if length.words else "")


def build_render_button(price: DraftPrice, reader: Membership) -> RenderButton:
    met = all(need.done for need in price.requirements)
    why = (
        "Available when the price is known." if met else "Available when every item above is done."
    )
    show = has_permission(reader, Permission.RENDER)
    reason, may_wait = "" if price.ready else why, price.lacks_only_credits
    return RenderButton(price.job_id, show, price.ready, price.estimate, reason, may_wait)


def price_state_and_reason(job: Job) -> tuple[str, str]:
    draft = job.draft
    if KINDS[job.kind].preconditions(draft.settings) or lacks_priced_choice(job):
        needed = flow_of(job).needed_text()
        none_yet = f"The price is requested when {needed} are chosen."
        return "none", draft.quote_error or none_yet
    if draft.quote_error:
        return "none", draft.quote_error
    if not draft.has_current_estimate and job.account.pause_reason:
        return "none", job.account.pause_reason
    return ("known", "") if draft.has_current_estimate else ("pending", "")


def can_request_price_again(job: Job, state: str) -> bool:
    """True if the last request failed or its answer is overdue."""
    overdue = state == "pending" and timezone.now() - job.draft.edited_at > QUOTE_TIMEOUT
    return overdue or bool(state == "none" and job.draft.quote_error)


def render_requirements(job: Job, options: FacelessOptions) -> tuple[RenderRequirement, ...]:
    needs = draft_requirements(job, options)
    if is_page_being_read(job):
        is_linked = any(need.step == StepSlug.SOURCE and not need.done for need in needs)
        step = "" if is_linked else StepSlug.SOURCE
        needs.append(RenderRequirement("The page is being read", IN_PROGRESS, step, "See it"))
    if has_active_render(job):
        needs.append(RenderRequirement("Wait until its render has ended", IN_PROGRESS))
    else:
        needs.append(RenderRequirement("No render is running", MET))
    if stopped := token_requirement(job):
        needs.append(stopped)
    needs.append(credits_requirement(job))
    return tuple(needs)


def is_page_being_read(job: Job) -> bool:
    """True if the service is to replace, or may still replace, the images of the draft. One query
    for a web page."""
    reads = PageRead.objects.in_progress(timezone.now()).filter(job=job)
    return flow_of(job).reads_page and reads.exists()


def draft_requirements(job: Job, options: FacelessOptions) -> list[RenderRequirement]:
    """Return what the chosen settings must meet; no queries."""
    needs: list[RenderRequirement] = []
    unset: set[str] = set()
    for need in flow_of(job).preconditions:
        if need.only_if_offered and not options.choices(need.field):
            continue
        if need.field in unset:
            continue  # a second line could only repeat the first
        state, label = precondition_state(need, job, options)
        needs.append(RenderRequirement(label, state, need.step, need.action_label))
        unset |= {need.field} if state == OPEN else set()
    return needs + vanished_requirements(job, options)


def vanished_requirements(job: Job, options: FacelessOptions) -> list[RenderRequirement]:
    """Return a line for each chosen value, other than those of preconditions, that the service no
    longer offers."""
    flow, chosen = flow_of(job), job.draft.settings
    covered = {need.field for need in flow.preconditions}
    lines = []
    for step in flow.steps:
        for setting in step.settings:
            is_checked_here = setting.control != SettingControl.WITH_ENGINE
            if is_checked_here and setting.name not in covered and chosen.get(setting.name):
                done, note = setting_state(setting, chosen, options)
                if not done:
                    lines.append(RenderRequirement(note, PROBLEM, step.slug, "Choose"))
    return lines


def precondition_state(need: Precondition, job: Job, options: FacelessOptions) -> tuple[str, str]:
    """Return the state of a precondition, and its line, which names a problem if there is one."""
    chosen = job.draft.settings
    if not chosen.get(need.field):
        return OPEN, need.task
    problem = need.find_problem(chosen, options) if need.find_problem else ""
    if problem:
        return PROBLEM, problem
    if need.must_be_offered:
        is_met, note = setting_state(flow_of(job).settings[need.field], chosen, options)
        return (MET, need.label) if is_met else (PROBLEM, note)
    return MET, need.label


def token_requirement(job: Job) -> RenderRequirement | None:
    """Return why the draft's token cannot be used; None if it can."""
    if not job.account.is_of_current_upstream:
        return RenderRequirement("The account belongs to another service address", PROBLEM)
    if job.token.state == TokenState.PAUSED:
        return RenderRequirement("The account has no paid plan", PROBLEM)
    if job.token.state != TokenState.WORKING or not token_vault.can_decrypt(job.token):
        return RenderRequirement("The token of this draft does not work", PROBLEM)
    return None


def has_active_render(job: Job) -> bool:
    """True if a render runs, was sent, or may have been sent."""
    charges = draft_charges(job)
    return job.state == JobState.RUNNING or any(
        charge.is_open and charge.operation in FACELESS_RENDER_OPERATIONS for charge in charges
    )


def credits_requirement(job: Job) -> RenderRequirement:
    """The hold, which is slightly above the estimate, must be available; with less the render is
    refused."""
    if job.account.balance_as_of is None:
        return RenderRequirement("The balance is not known yet", IN_PROGRESS)
    check = job.account.check_credits(pricing.hold_for_estimate(job.draft.estimate or Decimal(0)))
    shortfall = credit_shortfall_text(check)
    is_met = not shortfall and check.free + check.extra > 0
    state = MET if is_met else PROBLEM
    return RenderRequirement(shortfall or available_credits_text(check), state)


def load_past_prices(job: Job, words: int | None = None) -> PastPrices:
    """Return what the team's last renders of the same type and engine and a similar length cost.
    `words` is the length of a script that is not written yet."""
    chosen = job.draft.settings
    words = script_length(chosen.get("script")).words if words is None else words
    charges = (
        Charge.objects.filter(
            tenant=job.tenant_id, operation__in=FACELESS_RENDER_OPERATIONS, state__in=CHARGED_STATES
        )
        .filter(job__draft__settings__type=chosen.get("type"))
        .select_related("job__draft")
        .order_by("-settled_at", "-created_at")[:60]
    )
    alike = (charge for charge in charges if is_same_engine(charge, chosen))
    costs = [charge.cost for charge in alike if charge.cost and has_similar_length(charge, words)]
    return PastPrices(tuple(costs[:MAX_PAST_PRICES]))


def is_same_engine(charge: Charge, chosen: dict[str, Any]) -> bool:
    return charge.job is not None and engine_key(charge.job.chosen_settings) == engine_key(chosen)


def has_similar_length(charge: Charge, words: int) -> bool:
    """True if the script of the charge's job has a similar number of words."""
    other = script_length(charge.job.chosen_settings.get("script")).words if charge.job else 0
    return min(words, other) > 0 and max(words, other) <= SIMILAR_LENGTH_FACTOR * min(words, other)
