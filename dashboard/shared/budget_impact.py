"""The rows of a price question about a member's limits: the credits left, and whether it fits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.utils import timezone
from django.utils.text import capfirst

from dashboard.models import Budget, BudgetPeriod, Membership
from dashboard.shared.budget_usage import (
    PERIOD_NAMES,
    BudgetExceeded,
    BudgetUsage,
    load_budget_usages,
    most_constrained,
    other_approver_names,
)
from dashboard.shared.formatting import credits
from dashboard.shared.second_person import (
    WITHOUT_SECOND_PERSON,
    SecondPersonRequired,
    rule_sentence,
)

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class BudgetImpact:
    """The most constrained of the reader's hard-limited budgets before and after a hold, or the
    second-person rule if that alone refuses it; in credits.

    `refusal` says why only an approval can be requested, empty if the hold fits; `title` names that
    in a word. `alert_warning` is set if the hold reaches the budget's alert limit.
    """

    label: str
    note: str
    left: Decimal
    after: Decimal
    refusal: str
    alert_warning: str
    title: str = "Over budget"


def build_budget_impact(
    reader: Membership,
    hold: Decimal,
    largest: Decimal | None = None,
    *,
    job_id: UUID | None = None,
) -> BudgetImpact | None:
    """Return None if nothing limits the reader: no budget with a hard limit, and no second person
    is needed. `largest` is the largest of several charges that `hold` is the sum of; budgets for
    the labels of a job apply to it too. At most five queries, and two for each kind of period of
    such budgets."""
    budgets = Budget.objects.applying_to(reader.team_id, reader.user_id, job_id).exclude(hard=None)
    usage = most_constrained(load_budget_usages(reader.team, budgets, timezone.now()))
    above = reader.team.second_person_above
    single = hold if largest is None else largest
    is_over_budget = usage is not None and not usage.has_room_for(hold)
    if above is not None and single > above and not is_over_budget:
        return second_person_impact(reader, single, above)
    if usage is None:
        return None
    left = usage.remaining or ZERO_CREDITS
    refusal = over_budget_text(usage, hold, reader) if is_over_budget else ""
    if refusal and above is not None and single > above:
        refusal = f"{refusal} Besides, {rule_sentence(above)}"
    return BudgetImpact(
        label=budget_label(usage),
        note=capfirst(budget_left_text(usage)),
        left=left,
        after=left - hold,
        refusal=refusal,
        alert_warning="" if refusal else alert_warning_text(usage, hold),
    )


def second_person_impact(reader: Membership, hold: Decimal, above: Decimal) -> BudgetImpact:
    return BudgetImpact(
        label=WITHOUT_SECOND_PERSON,
        note="",
        left=above,
        after=above - hold,
        refusal=SecondPersonRequired(hold, above, other_approver_names(reader)).why,
        alert_warning="",
        title="Needs a second person",
    )


def over_budget_text(usage: BudgetUsage, hold: Decimal, reader: Membership) -> str:
    return BudgetExceeded(hold, usage, other_approver_names(reader)).why


def budget_label(usage: BudgetUsage) -> str:
    """Return a label such as "Your budget this month" or "The team’s budget today"."""
    return f"{capfirst(usage.whose)} budget {PERIOD_NAMES[BudgetPeriod(usage.budget.period)]}"


def budget_left_text(usage: BudgetUsage) -> str:
    """Return a note such as "61 of your 2,500 left until 1 Dec", or "your budget allows no
    charges"."""
    whose = usage.whose
    if usage.allows_no_charges:
        return f"{whose} budget allows no charges"
    left, hard = (
        credits(usage.remaining or ZERO_CREDITS),
        credits(usage.hard or ZERO_CREDITS),
    )
    return f"{left} of {whose} {hard} left until {usage.resets_at_label}"


def alert_warning_text(usage: BudgetUsage, hold: Decimal) -> str:
    soft = usage.budget.soft
    if soft is None or usage.used + hold < soft:
        return ""
    return f"It passes the alert at {credits(soft)}. It is sent anyway."
