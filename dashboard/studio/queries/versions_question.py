"""The price question before several versions: the price of each, and the one total."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.urls import reverse

from dashboard.models import Membership, VersionGroup
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.price_question import AmountRow, PriceQuestion
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.shared.video_options import account_options
from dashboard.studio.queries.price import (
    draft_requirements,
    has_active_render,
    price_state_and_reason,
    token_requirement,
)
from dashboard.studio.queries.render_question import RENDER_NOTICE, held_text
from dashboard.studio.queries.steps import draft_summary
from proxyapi import pricing
from proxyapi.models import Job, JobState

PRICE_PENDING = "Version {number}: the price is being requested"


def build_versions_question(
    group: VersionGroup, jobs: Sequence[Job], reader: Membership
) -> PriceQuestion:
    """`jobs` are the versions that are not hidden; those that are not rendered are asked for. At
    most eight queries, five of them for budgets."""
    page_url = reverse("video-versions", args=[group.pk])
    drafts = [job for job in jobs if job.state == JobState.DRAFT and not has_active_render(job)]
    if not drafts:
        return PriceQuestion(
            label="Render versions", price=None, title=jobs[0].title if jobs else "",
            cancel_url=page_url, sent_url=page_url,
        )  # fmt: skip
    estimates = {job: known_estimate(job) for job in drafts}
    known = [estimate for estimate in estimates.values() if estimate is not None]
    hold = sum((pricing.hold_for_estimate(estimate) for estimate in known), Decimal(0))
    account = drafts[0].account
    held, held_by_others = account.held_by_all_and_others()
    check = account.check_credits(hold, account.balance - held)
    largest = max(map(pricing.hold_for_estimate, known), default=None)
    impact = build_budget_impact(reader, hold, largest)
    problems = [problem for job in drafts for problem in version_problems(job)]
    problems += filter(None, (credit_shortfall_text(check),))
    return PriceQuestion(
        label=f"Render {len(drafts)} version{'s' if len(drafts) > 1 else ''}",
        title=drafts[0].title,
        summary=draft_summary(drafts[0], account_options(account)),
        price=sum(known, Decimal(0)) if len(known) == len(drafts) else None,
        parts=tuple(
            AmountRow(f"Version {job.version.number}", estimate, "about")
            for job, estimate in estimates.items()
            if estimate is not None
        ),
        price_note="Approximate, according to the service",
        credit_check=check,
        available_note=held_text(account.balance, held, held_by_others),
        budget=impact,
        unmet=tuple(problems),
        notice=f"Each version is charged, and approved, for itself. {RENDER_NOTICE}",
        url=reverse("studio-version-renders", args=[group.pk]),
        cancel_url=page_url,
        hidden_fields={f"price-{job.pk}": str(value) for job, value in estimates.items()},
    )


def known_estimate(job: Job) -> Decimal | None:
    return job.draft.estimate if price_state_and_reason(job)[0] == "known" else None


def version_problems(job: Job) -> list[str]:
    """Return why a version cannot be rendered, each with its number; empty if it can."""
    number = job.version.number
    needs = draft_requirements(job, account_options(job.account))
    unmet = [need.label for need in needs if not need.done]
    if stopped := token_requirement(job):
        unmet.append(stopped.label)
    state, reason = price_state_and_reason(job)
    if state == "pending":
        return [
            *(f"Version {number}: {label}" for label in unmet),
            PRICE_PENDING.format(number=number),
        ]
    if state == "none" and not unmet:
        unmet.append(reason)
    return [f"Version {number}: {label}" for label in unmet]
