"""The price question before a render: its price among past ones, the hold, and the credits left."""

from __future__ import annotations

from decimal import Decimal

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.charts.price_range import build_price_range
from dashboard.shared.formatting import credits
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.start_times import START_TIMES_TEMPLATE
from dashboard.shared.video_options import account_options
from dashboard.studio.flows import StepSlug
from dashboard.studio.queries.price import build_draft_price, has_active_render
from dashboard.studio.queries.steps import draft_summary
from proxyapi import pricing
from proxyapi.models import Job, JobState

RENDER_NOTICE = "If the render fails, the service promises no refund, and a retry is charged again."


def build_render_question(job: Job, reader: Membership) -> PriceQuestion:
    """At most ten queries, five of them for budgets. A refused form keeps its key: it charged
    nothing and cannot charge twice."""
    price, (held, held_by_others) = build_draft_price(job), job.account.held_by_all_and_others()
    hold = pricing.hold_for_estimate(price.estimate) if price.estimate is not None else Decimal(0)
    waits = price.lacks_only_credits
    unmet = tuple(need.label for need in price.requirements if not need.done)
    is_sent = job.state != JobState.DRAFT or has_active_render(job)
    return PriceQuestion(
        label="Render later" if waits else "Render",
        title=job.title,
        summary=draft_summary(job, account_options(job.account)),
        price=price.estimate,
        price_note="Approximate, according to the service",
        credit_check=job.account.check_credits(hold, job.account.balance - held),
        available_note=held_text(job.account.balance, held, held_by_others),
        budget=build_budget_impact(reader, hold, job_id=job.pk),
        price_range=build_price_range(price.past_prices.costs, price.estimate, hold),
        choices_template=START_TIMES_TEMPLATE if (price.ready or waits) and not is_sent else "",
        now_refusals=unmet if waits else (),
        unmet=() if waits else unmet,
        notice=RENDER_NOTICE,
        url=reverse("studio-renders", args=[job.pk]),
        cancel_url=reverse("studio-step", args=[job.pk, StepSlug.REVIEW]),
        sent_url=reverse("video", args=[job.pk]) if is_sent else "",
    )


def held_text(balance: Decimal, held: Decimal, held_by_others: Decimal) -> str:
    if not held:
        return ""
    others = (
        f", {credits(held_by_others)} of them by another team that uses this account"
        if held_by_others
        else ""
    )
    return f"{credits(balance)} less {credits(held)} held{others}"
