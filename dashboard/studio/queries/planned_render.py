"""The price question before a script and the render that starts after it: one total as a range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from statistics import median_low
from uuid import UUID

from django.urls import reverse

from dashboard.models import Membership, settings_digest
from dashboard.shared.budget_impact import BudgetImpact, build_budget_impact
from dashboard.shared.formatting import credits
from dashboard.shared.price_question import AmountRow, PriceQuestion
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.studio.flows import flow_of
from dashboard.studio.flows.faceless_steps import SCRIPT_SET
from dashboard.studio.queries.price import (
    build_clip_rate,
    draft_requirements,
    has_active_render,
    is_page_being_read,
    load_past_prices,
    token_requirement,
)
from dashboard.studio.queries.render_question import RENDER_NOTICE, held_text
from dashboard.studio.queries.steps import draft_summary
from proxyapi import pricing
from proxyapi.models import Job
from proxyapi.models.duration_class import WORDS_PER_SECOND
from proxyapi.refusals import CreditCheck

# A script is not as long as requested to the word, and some prices go up in steps of the length.
LENGTH_MARGIN = Decimal("1.15")
TOTAL_LABEL = "Held at most, for both"
STARTS_BY_ITSELF = (
    "Only the script’s {script} cr are held now. The render starts by itself when the script is "
    "written, if at most {limit} cr are held for it. If it would be more, or the credits are not "
    "free any more, it is not sent and you are asked. {notice}"
)
NO_PAST_PRICE = (
    "No video like this was rendered yet, so nobody knows what its render costs. Write the script "
    "first: its price is shown then."
)
ONE_BY_ONE = "Write the script alone, and look at the price of the render then"


def build_planned_render_question(
    job: Job,
    reader: Membership,
    script_request: Mapping[str, object],
    refusal: str,
    idempotency_key: UUID,
) -> PriceQuestion:
    """`script_request` has the fields of the form of a script. At most eleven queries, five of them
    for budgets."""
    account, options = job.account, account_options(job.account)
    script, costs = pricing.script_credits(account), expected_costs(job, script_request, options)
    limit = pricing.hold_for_estimate(max(costs) * LENGTH_MARGIN) if costs else Decimal(0)
    hold = pricing.hold_for_operation(flow_of(job).script_operation, script) + limit
    held, held_by_others = account.held_by_all_and_others()
    check = account.check_credits(hold, account.balance - held)
    impact = build_budget_impact(reader, hold, limit, job_id=job.pk)
    unmet = render_obstacles(job, options) + money_obstacles(check, impact)
    render, seconds = median_low(costs) if costs else None, requested_seconds(script_request)
    return PriceQuestion(
        label="Write and render",
        title=job.title,
        summary=draft_summary(job, options, seconds),
        price=None if render is None else script + render,
        price_note=range_note(script, costs),
        parts=(
            AmountRow("Script", script, "exact" if account.costs else "about"),
            *((AmountRow("Render, usually", render, "about"),) if render is not None else ()),
        ),
        credit_check=check,
        hold_label=TOTAL_LABEL,
        available_note=held_text(account.balance, held, held_by_others),
        budget=None if impact and impact.refusal else impact,
        unmet=tuple(unmet),
        refusal=refusal or ("" if costs else NO_PAST_PRICE),
        notice=STARTS_BY_ITSELF.format(
            script=credits(script), limit=credits(limit), notice=RENDER_NOTICE
        ),
        url=reverse("studio-planned-renders", args=[job.pk]),
        cancel_url=reverse("studio-step", args=[job.pk, flow_of(job).script_slug]),
        hidden_fields={
            **{name: str(value) for name, value in script_request.items()},
            "script_price": str(script),
            "limit": str(limit),
            "settings": settings_digest(job.draft.settings),
        },
        idempotency_key=idempotency_key,
    )


def money_obstacles(check: CreditCheck, impact: BudgetImpact | None) -> list[str]:
    """Return why the credits of both are not free now, or need somebody else's approval."""
    unmet = []
    if shortfall := credit_shortfall_text(check):
        unmet.append(shortfall)
    elif check.is_beyond_balance:
        unmet.append(f"{check.extra_text}. {ONE_BY_ONE}")
    if impact and impact.refusal:
        unmet.append(f"{impact.refusal} {ONE_BY_ONE}")
    return unmet


def expected_costs(
    job: Job, script_request: Mapping[str, object], options: FacelessOptions
) -> tuple[Decimal, ...]:
    """Return what the render of a script of this length may cost, in credits: what renders like it
    cost, else the price of its clip engine; empty if nothing is known."""
    seconds = requested_seconds(script_request)
    if past := load_past_prices(job, round(seconds * WORDS_PER_SECOND)):
        return past.costs
    rate = build_clip_rate(job, options)
    return (rate.credits_per_second * math.ceil(seconds),) if rate and seconds else ()


def requested_seconds(script_request: Mapping[str, object]) -> int:
    return int(str(script_request.get("duration") or 0))


def range_note(script: Decimal, costs: tuple[Decimal, ...]) -> str:
    """Return the total as a range, such as `92 to 108 cr, as your last 6 videos like this cost`."""
    if not costs:
        return ""
    low, high = credits(script + min(costs)), credits(script + max(costs))
    span = low if low == high else f"{low} to {high}"
    many = f"your last {len(costs)} videos" if len(costs) > 1 else "your last video"
    return f"{span} cr, as {many} like this cost"


def render_obstacles(job: Job, options: FacelessOptions) -> list[str]:
    """Return what a render lacks besides the script that is to be written; empty if nothing. One
    query for a web page."""
    needs = draft_requirements(job, options)
    unmet = [need.label for need in needs if not need.done and need.label != SCRIPT_SET.task]
    if is_page_being_read(job):
        unmet.append("The page is being read")
    if has_active_render(job):
        unmet.append("Wait until its render has ended")
    if stopped := token_requirement(job):
        unmet.append(stopped.label)
    return unmet
