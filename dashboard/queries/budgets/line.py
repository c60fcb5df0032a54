"""The budget in a question with a price: what is left of it, and whether the price fits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from dashboard.caps import OverBudget, Standing, approvers_of, standings, tightest
from dashboard.models import Budget, Membership, Period
from dashboard.queries.budgets.meter import NAMES
from dashboard.templatetags.reelroom import credits

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Line:
    """Of all budgets with a cap that bind the reader, the tightest. `over` says why it is refused,
    as the refusal itself would; `warned`: the price takes it past its alert."""

    label: str
    note: str
    left: Decimal
    after: Decimal
    over: str
    warned: str


def line_of(reader: Membership, hold: Decimal) -> Line | None:
    """None where no budget binds. At most five queries."""
    budgets = Budget.objects.binding(reader.team_id, reader.user_id).exclude(hard=None)
    short = tightest(standings(reader.team, budgets, timezone.now()))
    if short is None:
        return None
    left = short.left or NOTHING
    over = "" if short.takes(hold) else refusal(short, hold, reader)
    return Line(
        label=label_of(short),
        note=note_of(short),
        left=left,
        after=left - hold,
        over=over,
        warned="" if over else warning(short, hold),
    )


def refusal(standing: Standing, hold: Decimal, reader: Membership) -> str:
    return OverBudget(hold, standing, approvers_of(reader.team)).why


def label_of(standing: Standing) -> str:
    """ "Your budget this month", "The team’s budget today"."""
    whose = "Your" if standing.budget.member_id else "The team’s"
    return f"{whose} budget {NAMES[Period(standing.budget.period)]}"


def note_of(standing: Standing) -> str:
    """ "61 of your 2,500 left until 1 Dec"."""
    whose = "your" if standing.budget.member_id else "the team’s"
    left, hard = credits(standing.left or NOTHING), credits(standing.budget.hard or NOTHING)
    return f"{left} of {whose} {hard} left until {standing.until}"


def warning(standing: Standing, hold: Decimal) -> str:
    soft = standing.budget.soft
    if soft is None or standing.taken + hold < soft:
        return ""
    return f"It goes past the alert at {credits(soft)}. It is sent all the same."
