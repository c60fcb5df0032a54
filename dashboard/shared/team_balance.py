"""The team's credits, running jobs and unknown charges: data that all members may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import QuerySet
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
)
from proxyapi.models.account import quantize_credits
from proxyapi.models.held_credits import held_credits_annotation
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
    def free_percent(self) -> str:
        return f"{100 * max(self.free, Decimal(0)) / self.total:.2f}" if self.total else "0"

    @property
    def held_percent(self) -> str:
        held = min(self.held + self.held_by_others, self.balance)
        return f"{100 * held / self.total:.2f}" if self.total else "0"

    @property
    def sentence(self) -> str:
        held = credits(self.held + self.held_by_others)
        return f"{credits(self.free)} free and {held} held of {credits(self.total)}"

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


def load_balance_and_counts(
    tenant: Tenant, accounts: Sequence[Account] | None = None
) -> tuple[TeamBalance, ActivityCounts]:
    """`accounts`: the rows of `all_team_accounts`, if they were read. Two queries, and one if they
    were not.

    Each page asks this: the open charges, which are few, are added up here, because subqueries in
    one statement take longer to build than to run.
    """
    accounts = list(all_team_accounts(tenant)) if accounts is None else accounts
    spendable = {account.pk for account in accounts if not account.spending_obstacle}
    held, holding, unknown = Decimal(0), 0, 0
    charges = Charge.objects.holding().filter(tenant=tenant).order_by()
    columns = charges.values_list("account_id", "hold", "state", "operation", "job__kind")
    for account_id, hold, state, operation, kind in columns:
        if account_id in spendable:
            held, holding = held + hold, holding + 1
        is_of_video = kind in (None, *VIDEO_KINDS)  # others have pages of their own
        # With a side operation the video itself is not unknown.
        is_unknown = state == ChargeState.UNKNOWN and operation not in SIDE_OPERATIONS
        unknown += is_of_video and is_unknown
    counts = ActivityCounts(running_videos(tenant).count(), unknown, holding)
    return build_team_balance(accounts, quantize_credits(held)), counts


def running_videos(tenant: Tenant) -> QuerySet[Job]:
    # Those without `JobQuerySet.videos`, whose condition is about drafts.
    jobs = Job.objects.visible().filter(kind__in=VIDEO_KINDS)
    return jobs.filter(tenant=tenant, state=JobState.RUNNING)


def all_team_accounts(tenant: Tenant) -> QuerySet[Account]:
    """Return the accounts with their `spending_obstacle`. One without a token keeps its ledger,
    until it is archived."""
    accounts = annotate_spending_obstacle(Account.objects.not_archived().filter(tenant=tenant))
    accounts = accounts.annotate(held_by_others=held_credits_annotation(by_others=True))
    return accounts.defer("options", "costs").order_by("created_at", "pk")


def build_team_balance(accounts: Sequence[Account], held: Decimal) -> TeamBalance:
    """Sum the accounts that can be spent; `held` is what the team's charges hold on them."""
    spendable = [account for account in accounts if not account.spending_obstacle]
    ends = [account.plan_ends_at for account in spendable if account.plan_ends_at]
    read_at = [account.balance_as_of for account in spendable if account.balance_as_of]
    return TeamBalance(
        known=bool(accounts),
        balance=sum((account.balance for account in spendable), Decimal(0)),
        held=held,
        held_by_others=sum((held_by_other_teams(account) for account in spendable), Decimal(0)),
        monthly=sum((account.monthly_credits for account in spendable), Decimal(0)),
        ends_at=min(ends, default=None),
        as_of=min(read_at, default=None),
        not_spendable=tuple(
            SpendingObstacle(account.spending_obstacle).label
            for account in accounts
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
