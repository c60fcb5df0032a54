"""Caps: how budgets stand, in spent + held credits of their period (rule 3).

A charge counts in the period it was created in, one that was asked for in the period it was
approved in: with its cost once it is settled, with its hold until then. What was refunded counts
nothing. A day, week (from Monday) or month begins at midnight of the team's time zone, whatever the
clocks do in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet, Sum

from dashboard.models import Budget, BudgetPeriod, Membership, Role, Team
from dashboard.shared.roles import Permission, role_allows
from proxyapi.models import Charge
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES
from proxyapi.refusals import Refusal, format_credits

ZERO = Decimal(0)
MAX_MEMBERS_IN_ONE_ROW = 3  # members whose sums go into one row with the team's
PERIOD_NAMES = {
    BudgetPeriod.DAY: "today",
    BudgetPeriod.WEEK: "this week",
    BudgetPeriod.MONTH: "this month",
}


class PeriodBounds(NamedTuple):
    """From `start` on, before `end`; both UTC."""

    start: datetime
    end: datetime


class SpentAndHeld(NamedTuple):
    spent: Decimal
    held: Decimal


@dataclass(frozen=True, slots=True)
class BudgetUsage:
    """A budget and what of it is gone. `zone` is the team's."""

    budget: Budget
    bounds: PeriodBounds
    zone: ZoneInfo
    spent: Decimal
    held: Decimal

    @property
    def used(self) -> Decimal:
        return self.spent + self.held

    @property
    def remaining(self) -> Decimal | None:
        """Credits below the hard limit, never below 0; None without such a limit."""
        return None if self.budget.hard is None else max(self.budget.hard - self.used, ZERO)

    @property
    def state(self) -> str:
        """In the look's words: failed at the cap, late past the alert, else nothing."""
        if self.budget.hard is not None and self.used >= self.budget.hard:
            return "failed"
        return "late" if self.budget.soft is not None and self.used >= self.budget.soft else ""

    def has_room_for(self, amount: Decimal) -> bool:
        """Whether that much more stays within the hard limit."""
        return self.budget.hard is None or self.used + amount <= self.budget.hard

    @property
    def version(self) -> str:
        """Which budget it is and its limits."""
        return f"{self.budget.pk}/{self.budget.limits_version}"

    @property
    def resets_at_label(self) -> str:
        """When it begins anew: "midnight", "Mon 23 Nov", "1 Dec"."""
        return period_end_label(BudgetPeriod(self.budget.period), self.bounds, self.zone)


class BudgetExceeded(Refusal):
    """A hard limit is in the way: which one, how much is left, until when, and who can help."""

    def __init__(self, needed: Decimal, standing: BudgetUsage, approvers: Sequence[str]) -> None:
        whose = "your" if standing.budget.member_id else "the team’s"
        hard, left = (
            format_credits(standing.budget.hard or ZERO),
            format_credits(standing.remaining or ZERO),
        )
        self.needed, self.standing, self.approvers = needed, standing, tuple(approvers)
        self.why = (
            f"It needs {format_credits(needed)} cr, and {left} of {whose} {hard} are left until "
            f"{standing.resets_at_label}. Request approval, or make it shorter. "
            f"{approver_hint(approvers)}"
        ).strip()
        super().__init__(f"Not sent. {self.why}")


def approver_hint(approvers: Sequence[str]) -> str:
    return f"{' or '.join(approvers)} can approve it." if approvers else ""


def period_bounds(period: BudgetPeriod, zone: ZoneInfo, at: datetime) -> PeriodBounds:
    today = at.astimezone(zone).date()
    match period:
        case BudgetPeriod.DAY:
            first, last = today, today + timedelta(days=1)
        case BudgetPeriod.WEEK:
            first = today - timedelta(days=today.weekday())
            last = first + timedelta(days=7)
        case BudgetPeriod.MONTH:
            first = today.replace(day=1)
            last = (first + timedelta(days=31)).replace(day=1)
    return PeriodBounds(local_midnight(first, zone), local_midnight(last, zone))


def local_midnight(day: date, zone: ZoneInfo) -> datetime:
    """The first moment of a day. Where the clocks skip midnight, the moment they skip at."""
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def period_end_label(period: BudgetPeriod, span: PeriodBounds, zone: ZoneInfo) -> str:
    last = span.end.astimezone(zone)
    match period:
        case BudgetPeriod.DAY:
            return "midnight"
        case BudgetPeriod.WEEK:
            return f"{last:%a} {last.day} {last:%b}"
        case BudgetPeriod.MONTH:
            return f"{last.day} {last:%b}"


def load_budget_usages(team: Team, budgets: Iterable[Budget], at: datetime) -> list[BudgetUsage]:
    """How each of them stands, in the given order; one query for each kind of period."""
    listed, zone = list(budgets), team.tenant.zone
    spans = {
        kind: period_bounds(BudgetPeriod(kind), zone, at) for kind in {one.period for one in listed}
    }
    sums = {
        kind: sum_budget_charges(team, span, [one for one in listed if one.period == kind])
        for kind, span in spans.items()
    }
    return [
        BudgetUsage(one, spans[one.period], zone, *sums[one.period].get(one.member_id, (ZERO,) * 2))
        for one in listed
    ]


def most_constrained(found: Iterable[BudgetUsage]) -> BudgetUsage | None:
    """Of those with a hard limit the one with the least left, or the most above it; of several
    the first by its key, so that a page and the action behind it mean the same one."""
    return min(
        (one for one in found if one.budget.hard is not None), key=remaining_sort_key, default=None
    )


def exceeded_by(found: Iterable[BudgetUsage], amount: Decimal) -> list[BudgetUsage]:
    """Those that do not take that much more, the tightest first."""
    return sorted((one for one in found if not one.has_room_for(amount)), key=remaining_sort_key)


def budget_usages_version(found: Iterable[BudgetUsage]) -> str:
    """Which budgets they are and their limits, for a form to tell which it was drawn with."""
    return " ".join(one.version for one in found)


def remaining_sort_key(standing: BudgetUsage) -> tuple[Decimal, UUID]:
    return (standing.budget.hard or ZERO) - standing.used, standing.budget.pk


def sum_budget_charges(
    team: Team, span: PeriodBounds, budgets: Sequence[Budget]
) -> dict[int | None, SpentAndHeld]:
    """What each member took of a period, and under None all of them together. One query.

    Read from the index `charge_counts` alone; of one person and the team, as whenever a charge is
    made, without sorting by member, which would take longer than the sum.
    """
    charges = Charge.objects.filter(
        tenant=team.tenant_id,
        created_at__gte=span.start,
        created_at__lt=span.end,
        state__in=(*HOLDING_STATES, *CHARGED_STATES),
        refunded_at=None,
    ).order_by()
    people = {budget.member_id for budget in budgets}
    members = people - {None}
    if len(members) == len(people):
        return sum_charges_by_member(charges.filter(member__in=members))
    if len(members) <= MAX_MEMBERS_IN_ONE_ROW:
        return sum_charges_in_one_row(charges, people)
    taken = sum_charges_by_member(charges)
    spent = sum((one.spent for one in taken.values()), ZERO)
    held = sum((one.held for one in taken.values()), ZERO)
    return {**taken, None: SpentAndHeld(spent, held)}


def sum_charges_by_member(charges: QuerySet[Charge]) -> dict[int | None, SpentAndHeld]:
    rows = charges.values("member").annotate(
        spent=Sum("cost", filter=Q(state__in=CHARGED_STATES)),
        held=Sum("hold", filter=Q(state__in=HOLDING_STATES)),
    )
    return {
        row["member"]: SpentAndHeld(quantize_credits(row["spent"]), quantize_credits(row["held"]))
        for row in rows
    }


def sum_charges_in_one_row(
    charges: QuerySet[Charge], people: Collection[int | None]
) -> dict[int | None, SpentAndHeld]:
    sums = {}
    for one in people:
        theirs = Q(member=one) if one else Q()
        sums[f"spent_{one}"] = Sum("cost", filter=theirs & Q(state__in=CHARGED_STATES))
        sums[f"held_{one}"] = Sum("hold", filter=theirs & Q(state__in=HOLDING_STATES))
    row = charges.aggregate(**sums)
    return {
        one: SpentAndHeld(
            quantize_credits(row[f"spent_{one}"]), quantize_credits(row[f"held_{one}"])
        )
        for one in people
    }


def approver_names(team: Team) -> list[str]:
    """The first names of those who decide about money: treasurers, then owners."""
    return [one.user.first_name for one in load_money_managers(team)]


def load_money_managers(team: Team) -> list[Membership]:
    roles = [role for role in Role if role_allows(role, Permission.MANAGE_MONEY)]
    who = Membership.objects.filter(team=team, role__in=roles, user__is_active=True)
    return sorted(who.select_related("user"), key=lambda one: one.role == Role.OWNER)
