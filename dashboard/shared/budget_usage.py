"""Budget usage: spent + held credits of the current period (rule 3).

A charge counts in the period it was created in; an approval request counts in the period it was
approved in. A settled charge counts with its cost, an unsettled one with its hold, a refunded one
not at all. A day, a week (from Monday) or a month begins at midnight in the team's time zone, also
across daylight saving changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
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
NO_OTHER_APPROVER = "Nobody else in the team can approve it now."
MAX_MEMBERS_IN_ONE_ROW = 3  # members whose sums go into one row with the team's
PERIOD_NAMES = {
    BudgetPeriod.DAY: "today",
    BudgetPeriod.WEEK: "this week",
    BudgetPeriod.MONTH: "this month",
}


class PeriodBounds(NamedTuple):
    """`start` is inclusive, `end` is exclusive; both are UTC."""

    start: datetime
    end: datetime


class SpentAndHeld(NamedTuple):
    spent: Decimal
    held: Decimal


@dataclass(frozen=True, slots=True)
class BudgetUsage:
    """The credits of a budget that are spent and held in its current period. `zone` is the team's
    time zone, `raised` what a raise adds to the hard limit now."""

    budget: Budget
    bounds: PeriodBounds
    zone: ZoneInfo
    spent: Decimal
    held: Decimal
    raised: Decimal = ZERO

    @property
    def hard(self) -> Decimal | None:
        """The hard limit now, with a raise."""
        return None if self.budget.hard is None else self.budget.hard + self.raised

    @property
    def allows_no_charges(self) -> bool:
        """True for a limit of 0, with which a member is blocked on purpose."""
        return self.hard == 0

    @property
    def whose(self) -> str:
        """Whose limit it is, for who it applies to: "your", "the label Acme’s" or "the
        team’s"."""
        if self.budget.label_id:
            return f"{self.budget.subject}’s"
        return "your" if self.budget.member_id else "the team’s"

    @property
    def used(self) -> Decimal:
        return self.spent + self.held

    @property
    def remaining(self) -> Decimal | None:
        """Return the credits below the hard limit, at least 0; None without a hard limit."""
        return None if self.hard is None else max(self.hard - self.used, ZERO)

    @property
    def state(self) -> str:
        """Return the `data-state` value: "failed" at the hard limit, "late" at the alert limit,
        else "". A limit of 0 is meant, so that it is reached is no problem."""
        if self.allows_no_charges:
            return ""
        if self.hard is not None and self.used >= self.hard:
            return "failed"
        return "late" if self.budget.soft is not None and self.used >= self.budget.soft else ""

    def has_room_for(self, amount: Decimal) -> bool:
        """True if that many more credits stay within the hard limit."""
        return self.hard is None or self.used + amount <= self.hard

    @property
    def version(self) -> str:
        """Return the budget's id and the version of its limits."""
        return f"{self.budget.pk}/{self.budget.limits_version}"

    @property
    def resets_at_label(self) -> str:
        """Return when the next period starts: "midnight", "Mon 23 Nov" or "1 Dec"."""
        return period_end_label(BudgetPeriod(self.budget.period), self.bounds, self.zone)


class ApprovalRequired(Refusal):
    """A rule of the team refuses the charge, so that an approval can be requested. `why` says it
    without "Not sent"."""

    needs_approval = True
    is_for_scripts = False  # a script requests the approval by itself

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"Not sent. {why}")


class BudgetExceeded(ApprovalRequired):
    """A hard limit would be exceeded. The sentence says what is left, until when, and who can
    approve."""

    def __init__(self, needed: Decimal, usage: BudgetUsage, approvers: Sequence[str]) -> None:
        whose = usage.whose
        hard, left = (
            format_credits(usage.hard or ZERO),
            format_credits(usage.remaining or ZERO),
        )
        self.needed, self.standing, self.approvers = needed, usage, tuple(approvers)
        if usage.allows_no_charges:
            super().__init__(
                f"It needs {format_credits(needed)} cr, and {whose} budget allows no charges. "
                f"Request approval. {approver_hint(approvers)}"
            )
            return
        super().__init__(
            f"It needs {format_credits(needed)} cr, and {left} of {whose} {hard} are left until "
            f"{usage.resets_at_label}. Request approval, or make it shorter. "
            f"{approver_hint(approvers)}"
        )


def approver_hint(approvers: Sequence[str]) -> str:
    return f"{' or '.join(approvers)} can approve it." if approvers else NO_OTHER_APPROVER


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
    """Return the first moment of a day in UTC; if the clocks skip midnight, the moment of the
    change."""
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
    """Return the usage of each budget, in the given order; one query for each kind of period, and
    one more for each with budgets of labels."""
    rows, zone = list(budgets), team.tenant.zone
    usages = {}
    for kind in {budget.period for budget in rows}:
        span, of_kind = period_bounds(BudgetPeriod(kind), zone, at), []
        of_labels = [budget for budget in rows if budget.period == kind and budget.label_id]
        of_people = [budget for budget in rows if budget.period == kind and not budget.label_id]
        if of_people:
            members = sum_budget_charges(team, span, of_people)
            of_kind += [(budget, members.get(budget.member_id)) for budget in of_people]
        if of_labels:
            labels = sum_label_charges(team, span, of_labels)
            of_kind += [(budget, labels.get(budget.label_id)) for budget in of_labels]
        for budget, sums in of_kind:
            spent, held = sums or (ZERO, ZERO)
            usages[budget.pk] = BudgetUsage(budget, span, zone, spent, held, budget.raised_by(at))
    return [usages[budget.pk] for budget in rows]


def most_constrained(usages: Iterable[BudgetUsage]) -> BudgetUsage | None:
    """Return the usage with the least credits left below its hard limit, or the most above it.

    Equal ones are ordered by id, so a page and its action choose the same budget.
    """
    return min(
        (usage for usage in usages if usage.hard is not None),
        key=remaining_sort_key,
        default=None,
    )


def exceeded_by(usages: Iterable[BudgetUsage], amount: Decimal) -> list[BudgetUsage]:
    """Return the usages that `amount` more credits would exceed, the most constrained first."""
    return sorted(
        (usage for usage in usages if not usage.has_room_for(amount)), key=remaining_sort_key
    )


def budget_usages_version(usages: Iterable[BudgetUsage]) -> str:
    """Return the ids and limit versions of the budgets, for a form to detect that they changed."""
    return " ".join(usage.version for usage in usages)


def remaining_sort_key(usage: BudgetUsage) -> tuple[Decimal, UUID]:
    return (usage.hard or ZERO) - usage.used, usage.budget.pk


def sum_budget_charges(
    team: Team, span: PeriodBounds, budgets: Sequence[Budget]
) -> dict[int | None, SpentAndHeld]:
    """Return the spent and held credits of each member in a period, and the team's sum under None.
    One query.

    It reads only the index `charge_counts`. For a few members and the team, as for each new charge,
    it does not sort by member, because that would take longer than the sum.
    """
    charges = counted_charges(team, span)
    member_ids = {budget.member_id for budget in budgets}
    members = member_ids - {None}
    if len(members) == len(member_ids):
        return sum_charges_by_member(charges.filter(member__in=members))
    if len(members) <= MAX_MEMBERS_IN_ONE_ROW:
        return sum_charges_in_one_row(charges, member_ids)
    sums = sum_charges_by_member(charges)
    spent = sum((row.spent for row in sums.values()), ZERO)
    held = sum((row.held for row in sums.values()), ZERO)
    return {**sums, None: SpentAndHeld(spent, held)}


def sum_label_charges(
    team: Team, span: PeriodBounds, budgets: Sequence[Budget]
) -> dict[UUID | None, SpentAndHeld]:
    """Return the spent and held credits of the videos with each label in a period; one of several
    labels counts for each. One query."""
    labels = {budget.label_id for budget in budgets}
    charges = counted_charges(team, span).filter(job__video_labels__label__in=labels)
    return sum_charges_by(charges, "job__video_labels__label")


def load_month_spend(team: Team, at: datetime) -> dict[int | None, Decimal]:
    """Return the credits that each member spent in the month of `at`. One query."""
    span = period_bounds(BudgetPeriod.MONTH, team.tenant.zone, at)
    sums = sum_charges_by_member(counted_charges(team, span))
    return {member_id: row.spent for member_id, row in sums.items()}


def counted_charges(team: Team, span: PeriodBounds) -> QuerySet[Charge]:
    return Charge.objects.filter(
        tenant=team.tenant_id,
        created_at__gte=span.start,
        created_at__lt=span.end,
        state__in=(*HOLDING_STATES, *CHARGED_STATES),
        refunded_at=None,
    ).order_by()


def sum_charges_by_member(charges: QuerySet[Charge]) -> dict[int | None, SpentAndHeld]:
    return sum_charges_by(charges, "member")


def sum_charges_by(charges: QuerySet[Charge], name: str) -> dict[Any, SpentAndHeld]:
    rows: QuerySet[Any] = charges.values(name).annotate(
        spent=Sum("cost", filter=Q(state__in=CHARGED_STATES)),
        held=Sum("hold", filter=Q(state__in=HOLDING_STATES)),
    )
    return {
        row[name]: SpentAndHeld(quantize_credits(row["spent"]), quantize_credits(row["held"]))
        for row in rows
    }


def sum_charges_in_one_row(
    charges: QuerySet[Charge], member_ids: Collection[int | None]
) -> dict[int | None, SpentAndHeld]:
    sums = {}
    for member_id in member_ids:
        is_member = Q(member=member_id) if member_id else Q()
        sums[f"spent_{member_id}"] = Sum("cost", filter=is_member & Q(state__in=CHARGED_STATES))
        sums[f"held_{member_id}"] = Sum("hold", filter=is_member & Q(state__in=HOLDING_STATES))
    row = charges.aggregate(**sums)
    return {
        member_id: SpentAndHeld(
            quantize_credits(row[f"spent_{member_id}"]), quantize_credits(row[f"held_{member_id}"])
        )
        for member_id in member_ids
    }


def other_approver_names(requester: Membership) -> list[str]:
    """Return the first names of those who may approve a member's requests, which is never that
    member: treasurers, then owners."""
    managers = load_money_managers(requester.team)
    return [other.user.first_name for other in managers if other.user_id != requester.user_id]


def load_money_managers(team: Team) -> list[Membership]:
    roles = [role for role in Role if role_allows(role, Permission.MANAGE_MONEY)]
    memberships = Membership.objects.filter(team=team, role__in=roles, user__is_active=True)
    return sorted(
        memberships.select_related("user"), key=lambda membership: membership.role == Role.OWNER
    )
