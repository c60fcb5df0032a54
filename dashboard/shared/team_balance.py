"""What a team can spend, what moves and what is unknown: whole-team truth, which may be pushed to
everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from dashboard.shared.formatting import clock, credits, day
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, Tenant, Token
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import HOLDING_STATES, held_credits_annotation

STALE_BALANCE_AFTER = timedelta(minutes=15)  # a balance older than that says when it was read


@dataclass(frozen=True, slots=True)
class TeamBalance:
    """Credits of all accounts that a token of the team opens. Percent are of `total`.

    `held_by_others`: what charges of other teams reserve on the same upstream accounts.
    """

    known: bool
    balance: Decimal = Decimal(0)
    held: Decimal = Decimal(0)
    held_by_others: Decimal = Decimal(0)
    monthly: Decimal = Decimal(0)
    ends_at: datetime | None = None
    as_of: datetime | None = None

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
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class ActivityCounts:
    """`holding`: charges that hold credits."""

    running: int
    unknown: int
    holding: int = 0


def load_team_balance(tenant: Tenant) -> TeamBalance:
    """The purse alone, for a push: two queries."""
    return build_team_balance(list(reachable_accounts(tenant)), load_holds_and_counts(tenant)[0])


def load_holds_and_counts(tenant: Tenant) -> tuple[Decimal, ActivityCounts]:
    """Credits held on accounts that a token opens, and what moves and what is unknown, in one
    query."""
    opened = Token.objects.not_removed().filter(account=OuterRef("account"))
    charges = Charge.objects.filter(tenant=OuterRef("pk"), state__in=HOLDING_STATES).order_by()
    jobs = Job.objects.visible().filter(tenant=OuterRef("pk"), state=JobState.RUNNING).order_by()
    row = (
        Tenant.objects.filter(pk=tenant.pk)
        .annotate(
            held=Subquery(
                charges.filter(Exists(opened))
                .values("tenant")
                .annotate(sum=Sum("hold"))
                .values("sum")
            ),
            holding=Coalesce(
                Subquery(charges.values("tenant").annotate(n=Count("pk")).values("n")), 0
            ),
            unknown=Coalesce(
                Subquery(
                    charges.filter(state=ChargeState.UNKNOWN)
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


def reachable_accounts(tenant: Tenant) -> QuerySet[Account]:
    """The accounts that a token of the team still opens."""
    opened = Token.objects.not_removed().filter(account=OuterRef("pk"))
    accounts = Account.objects.filter(Exists(opened), tenant=tenant).defer("options", "costs")
    return accounts.annotate(held_by_others=held_credits_annotation(by_others=True))


def all_team_accounts(tenant: Tenant) -> QuerySet[Account]:
    """All of them: one that no token opens any more (`opened`) keeps its books."""
    opened = Token.objects.not_removed().filter(account=OuterRef("pk"))
    accounts = Account.objects.filter(tenant=tenant).annotate(
        opened=Exists(opened), held_by_others=held_credits_annotation(by_others=True)
    )
    return accounts.defer("options", "costs").order_by("created_at", "pk")


def build_team_balance(known: Sequence[Account], held: Decimal) -> TeamBalance:
    """Of those of the known accounts that a token opens."""
    accounts = [account for account in known if getattr(account, "opened", True)]
    if not accounts:
        return TeamBalance(known=False)
    ends = [account.plan_ends_at for account in accounts if account.plan_ends_at]
    seen = [account.balance_as_of for account in accounts if account.balance_as_of]
    return TeamBalance(
        known=True,
        balance=sum((account.balance for account in accounts), Decimal(0)),
        held=held,
        held_by_others=sum((held_by_other_teams(account) for account in accounts), Decimal(0)),
        monthly=sum((account.monthly_credits for account in accounts), Decimal(0)),
        ends_at=min(ends, default=None),
        as_of=min(seen, default=None),
    )


def held_by_other_teams(account: Account) -> Decimal:
    """What other teams hold on the upstream account, as it was annotated."""
    return quantize_credits(getattr(account, "held_by_others", None))


def credit_shortfall_text(free: Decimal, hold: Decimal) -> str:
    """What is free and what it would take, in words; empty where the hold fits."""
    if free >= hold:
        return ""
    return f"{credits(max(free, Decimal(0)))} cr free; {credits(hold)} would be held"


def plan_renewal_text(ends_at: datetime, verb: str = "renews") -> str:
    days = (timezone.localdate(ends_at) - timezone.localdate()).days
    if days < 0:
        return f"the plan ended {day(ends_at)}"
    when = {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
    return f"{verb} {when}"
