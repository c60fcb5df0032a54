"""What the team has: free to spend, each account with the time it was seen, and what the plan
says. Whether the books agree stands beneath."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from dashboard.overview.queries.balance_line import (
    BalanceDay,
    build_balance_chart,
    build_balance_days,
)
from dashboard.overview.queries.date_range import weekday_date_text
from dashboard.overview.queries.sums import OverviewSums
from dashboard.shared.charts import LineChart
from dashboard.shared.formatting import credits
from dashboard.shared.ledger_agreement import (
    LedgerAgreement,
    are_ledgers_complete,
    check_ledger_agreement,
)
from dashboard.shared.ledger_balance import ledger_end_balance
from dashboard.shared.team_balance import ActivityCounts, TeamBalance
from proxyapi.models import Account, AccountPlan

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class OverviewAccountBalance:
    """`name` is the account's, for a team of several."""

    name: str
    balance: Decimal
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class CreditsOverview:
    purse: TeamBalance
    open_charges: int
    accounts: tuple[OverviewAccountBalance, ...]
    plan: str
    days: tuple[BalanceDay, ...]
    line: LineChart | None
    agreement: LedgerAgreement | None

    @property
    def has_several_accounts(self) -> bool:
        return len(self.accounts) > 1

    @property
    def balance(self) -> Decimal:
        """Of the accounts that are listed, those that no token opens now among them."""
        return sum((account.balance for account in self.accounts), ZERO_CREDITS)

    @property
    def days_newest_first(self) -> tuple[BalanceDay, ...]:
        return self.days[::-1]

    @property
    def as_of(self) -> datetime | None:
        return self.purse.as_of


def build_credits_overview(
    accounts: Sequence[Account], purse: TeamBalance, counts: ActivityCounts, sums: OverviewSums
) -> CreditsOverview:
    now = sum((ledger_end_balance(account) for account in accounts), ZERO_CREDITS)
    days = build_balance_days(now, sums, whole=are_ledgers_complete(accounts))
    return CreditsOverview(
        purse=purse,
        open_charges=counts.holding,
        accounts=tuple(
            OverviewAccountBalance(one.name or one.email, one.balance, one.balance_as_of)
            for one in accounts
        ),
        plan=account_plan_sentence(accounts),
        days=days,
        line=build_balance_chart(days),
        agreement=check_ledger_agreement(accounts),
    )


def account_plan_sentence(accounts: Sequence[Account]) -> str:
    """`One shared account: Studio plan, 12,000 credits a month, renews Tue 1 Dec.`"""
    if not accounts:
        return "No account yet. The credits show once a member adds a token."
    if len(accounts) > 1:
        monthly = sum((one.monthly_credits for one in accounts), Decimal(0))
        return f"{len(accounts)} accounts, {credits(monthly)} credits a month together."
    one = accounts[0]
    if one.plan == AccountPlan.NONE:
        return "One shared account, without a plan."
    words = [f"{one.plan_name or one.get_plan_display()} plan"]
    if one.monthly_credits:
        words.append(f"{credits(one.monthly_credits)} credits a month")
    if one.plan_ends_at:
        ends = timezone.localdate(one.plan_ends_at)
        words.append(
            f"{'renews' if one.plan_ends_at > timezone.now() else 'ended'} "
            f"{weekday_date_text(ends)}"
        )
    return f"One shared account: {', '.join(words)}."
