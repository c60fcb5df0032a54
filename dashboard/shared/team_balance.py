"""The team's credits, running jobs and unknown charges: data that all members may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from dashboard.shared.formatting import clock, credits, day
from proxyapi.models import (
    VIDEO_KINDS,
    Account,
    Charge,
    ChargeState,
    Job,
    JobState,
    SpendingObstacle,
    Tenant,
    annotate_spending_obstacle,
    spendable_accounts,
)
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import HOLDING_STATES, held_credits_annotation
from proxyapi.operations import SIDE_OPERATIONS
from proxyapi.refusals import CreditCheck

STALE_BALANCE_AFTER = timedelta(minutes=15)  # an older balance is shown with its time


@dataclass(frozen=True, slots=True)
class TeamBalance:
    """Credits of all accounts that can be spent. Percentages are of `total`.

    `known` is False for a team without an account. `held_by_others`: credits that charges of other
    teams hold on the same upstream accounts. `not_spendable`: the obstacle of each other account.
    """

    known: bool
    balance: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    held_by_others: Decimal = Decimal(0)
    monthly: Decimal = Decimal(0)
    ends_at: datetime | None = None
    as_of: datetime | None = None
    not_spendable: tuple[str, ...] = ()

    @property
    def free(self) -> Decimal:
        return self.balance - self.held - self.held_by_others

    @property
    def total(self) -> Decimal:
        return max(self.monthly, self.balance)

    @property
    def used(self) -> Decimal:
        return self.total - self.balance

    @property
    def used_percent(self) -> str:
        return f"{100 * self.used / self.total:.2f}" if self.total else "0"

    @property
    def held_percent(self) -> str:
        held = min(self.held + self.held_by_others, self.balance)
        return f"{100 * held / self.total:.2f}" if self.total else "0"

    @property
    def sentence(self) -> str:
        used, total = credits(self.used), credits(self.total)
        return f"{used} used and {credits(self.held + self.held_by_others)} held of {total}"

    @property
    def note(self) -> str:
        parts = [f"{credits(self.held)} held" if self.held else "Nothing held"]
        if self.held_by_others:
            parts.append(f"{credits(self.held_by_others)} held by another team")
        if self.ends_at:
            parts.append(plan_renewal_text(self.ends_at))
        if self.as_of and timezone.now() - self.as_of > STALE_BALANCE_AFTER:
            parts.append(f"as of {clock(self.as_of)}")
        if count := len(self.not_spendable):
            what = self.not_spendable[0] if count == 1 else f"{count} accounts"
            parts.append(f"not spendable: {what}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class ActivityCounts:
    """Running jobs, unknown charges, and charges that hold credits (`holding`)."""

    running: int
    unknown: int
    holding: int = 0


def load_team_balance(tenant: Tenant) -> TeamBalance:
    """Return the balance alone, for a push; two queries."""
    return build_team_balance(list(all_team_accounts(tenant)), load_holds_and_counts(tenant)[0])


def load_holds_and_counts(tenant: Tenant) -> tuple[Decimal, ActivityCounts]:
    """Return the credits held on accounts that can be spent, and the activity counts, in one
    query."""
    of_videos = Q(job=None) | Q(job__kind__in=VIDEO_KINDS)  # others have pages of their own
    charges = Charge.objects.filter(tenant=OuterRef("pk"), state__in=HOLDING_STATES).order_by()
    spendable = charges.filter(account__in=spendable_accounts().values("pk"))
    jobs = (
        Job.objects.visible()
        .videos()
        .filter(tenant=OuterRef("pk"), state=JobState.RUNNING)
        .order_by()
    )
    row = (
        Tenant.objects.filter(pk=tenant.pk)
        .annotate(
            held=Subquery(spendable.values("tenant").annotate(sum=Sum("hold")).values("sum")),
            holding=Coalesce(
                Subquery(spendable.values("tenant").annotate(n=Count("pk")).values("n")), 0
            ),
            unknown=Coalesce(
                Subquery(
                    charges.filter(of_videos, state=ChargeState.UNKNOWN)
                    .exclude(operation__in=SIDE_OPERATIONS)  # the video itself is not unknown
                    .values("tenant")
                    .annotate(n=Count("pk"))
                    .values("n")
                ),
                0,
            ),
            running=Coalesce(
                Subquery(jobs.values("tenant").annotate(n=Count("pk")).values("n")), 0
            ),
        )
        .values("held", "holding", "unknown", "running")
        .get()
    )
    counts = ActivityCounts(running=row["running"], unknown=row["unknown"], holding=row["holding"])
    return quantize_credits(row["held"]), counts


def all_team_accounts(tenant: Tenant) -> QuerySet[Account]:
    """Return the accounts with their `spending_obstacle`. One without a token keeps its ledger,
    until it is archived."""
    accounts = annotate_spending_obstacle(Account.objects.not_archived().filter(tenant=tenant))
    accounts = accounts.annotate(held_by_others=held_credits_annotation(by_others=True))
    return accounts.defer("options", "costs").order_by("created_at", "pk")


def build_team_balance(loaded: Sequence[Account], held: Decimal) -> TeamBalance:
    """Sum the accounts that can be spent; `held` is what the team's charges hold on them."""
    accounts = [account for account in loaded if not account.spending_obstacle]
    ends = [account.plan_ends_at for account in accounts if account.plan_ends_at]
    read_at = [account.balance_as_of for account in accounts if account.balance_as_of]
    return TeamBalance(
        known=bool(loaded),
        balance=sum((account.balance for account in accounts), Decimal(0)),
        held=held,
        held_by_others=sum((held_by_other_teams(account) for account in accounts), Decimal(0)),
        monthly=sum((account.monthly_credits for account in accounts), Decimal(0)),
        ends_at=min(ends, default=None),
        as_of=min(read_at, default=None),
        not_spendable=tuple(
            SpendingObstacle(account.spending_obstacle).label
            for account in loaded
            if account.spending_obstacle
        ),
    )


def held_by_other_teams(account: Account) -> Decimal:
    """Return the annotated credits that other teams hold on the upstream account."""
    return quantize_credits(getattr(account, "held_by_others", None))


def credit_shortfall_text(check: CreditCheck) -> str:
    """Return the available and the required credits in words; empty if the hold fits, or if extra
    credits may pay it."""
    if check.fits or check.is_beyond_balance:
        return ""
    return f"{credits(check.free)} cr free; {credits(check.hold)} would be held"


def available_credits_text(check: CreditCheck) -> str:
    """Return the available credits in words; with the extra credits if they may have to pay."""
    free = f"{credits(check.free)} cr are free"
    return f"{free}, and {credits(check.extra)} extra" if check.is_beyond_balance else free


def plan_renewal_text(ends_at: datetime, verb: str = "renews") -> str:
    days = (timezone.localdate(ends_at) - timezone.localdate()).days
    if days < 0:
        return f"the plan ended {day(ends_at)}"
    when = {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
    return f"{verb} {when}"
