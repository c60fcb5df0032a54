"""The scope of a ledger page: the team's accounts, its time zone, the filters and the search
result, and the rows and sums that they select."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.period import (
    MAX_DAYS_BY_WEEK,
    Granularity,
    LedgerPeriod,
    choose_granularity,
    parse_ledger_period,
)
from dashboard.models import Team, VideoLabel
from dashboard.shared.ledger_agreement import annotate_newer_entries
from dashboard.shared.team_balance import all_team_accounts
from proxyapi.models import Account, DailyTotal, LedgerEntry, Tenant
from proxyapi.models.account import is_shared_with_another_team
from proxyapi.models.credit_price import CreditPrice, common_credit_price
from proxyapi.rollups.daily_totals import narrowest_table
from proxyapi.rollups.ledger_names import LedgerNames


class FoundRow(NamedTuple):
    key: int
    at: datetime
    amount: Decimal


class SearchGap(NamedTuple):
    """A part that was not searched, and how to find it."""

    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class LedgerSearchResult:
    """`rows` were found by a video title only; `names` are all names of the days."""

    names: LedgerNames
    labels: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    members: frozenset[int] = frozenset()
    rows: tuple[FoundRow, ...] = ()
    gaps: tuple[SearchGap, ...] = ()

    @property
    def label_or_operation_q(self) -> Q:
        """Matches rows or sums with one of the labels or features."""
        return Q(label__in=self.labels) | Q(operation__in=self.operations)

    @property
    def any_name_q(self) -> Q:
        return self.label_or_operation_q | Q(member__in=self.members)

    def matches(self, label: str, operation: str, member: int | None) -> bool:
        """`any_name_q` for a single row."""
        return label in self.labels or operation in self.operations or member in self.members

    def iter_indexed_conditions(self) -> Iterator[Q]:
        """One condition per index; together with `rows` they select all that was found."""
        names = {"label": self.labels, "operation": self.operations, "member": self.members}
        for name, values in names.items():
            if values:
                yield Q(**{f"{name}__in": values})


@dataclass(frozen=True, slots=True)
class LedgerScope:
    """`accounts` are all of the team's, `ids` the selected ones, `first_day` is that of their first
    row. `found` is the search result, which `entries` and `sums` ignore."""

    team: Team
    filters: LedgerFilters
    accounts: tuple[Account, ...]
    ids: tuple[UUID, ...]
    zone: ZoneInfo
    today: date
    period: LedgerPeriod
    first_day: date | None
    found: LedgerSearchResult | None = None

    @property
    def charted_days(self) -> tuple[date, date]:
        """The first and last day of the chart: a long period is cut to the days from the first row
        to today."""
        first, last = self.period.first, self.period.last
        if self.period.days > MAX_DAYS_BY_WEEK:
            last = max(first, min(last, self.today))
            first = min(last, max(first, self.first_day or last))
        return first, last

    @property
    def credit_price(self) -> CreditPrice | None:
        """The price of the sums; None if the selected accounts have different prices."""
        return common_credit_price(account for account in self.accounts if account.pk in self.ids)

    @property
    def step(self) -> Granularity:
        return choose_granularity(*self.charted_days)

    @property
    def is_recounting(self) -> bool:
        """True if the team changed its time zone and the sums of an account still use the previous
        one."""
        ledgers = [
            getattr(account, "ledger", None) for account in self.accounts if account.pk in self.ids
        ]
        return any(account and account.rollup_time_zone != self.zone.key for account in ledgers)

    def entries(self, span: tuple[datetime, datetime] | None = None) -> QuerySet[LedgerEntry]:
        """The filtered rows, unordered. A shorter `span` replaces the period: with two lower
        bounds, SQLite searches the index from the first one."""
        entries = LedgerEntry.objects.filter(self.rows_q(span), **self.accounts_filter())
        if self.filters.video_label:
            return entries.filter(job__in=jobs_with_label(self.filters.video_label))
        return entries

    def rows_q(self, span: tuple[datetime, datetime] | None = None, prefix: str = "") -> Q:
        """The filters as a condition on rows, without the account and the label of the video.
        `prefix` is the relation to the rows."""
        filters, (start, end) = self.filters, span or self.period.time_bounds(self.zone)
        conditions = build_column_filters(filters) | {
            "happened_at__gte": start,
            "happened_at__lt": end,
        }
        if filters.job:
            conditions["job"] = filters.job
        if filters.direction:
            conditions["amount__gt" if filters.direction == "in" else "amount__lte"] = 0
        rows = Q(**{f"{prefix}{name}": value for name, value in conditions.items()})
        # As `IS_UNEXPLAINED`.
        unexplained = Q(**{f"{prefix}charge__isnull": True, f"{prefix}job__isnull": True})
        return rows & {"": Q(), "no": unexplained, "yes": ~unexplained}[filters.match]

    def sums(self, *columns: str) -> QuerySet[Any]:
        """The sums of the filtered rows, from the smallest table that also has `columns`."""
        table = narrowest_table({*columns, *build_column_filters(self.filters)})
        return table._default_manager.filter(**self.period_sums_filter())

    def period_sums_filter(self) -> dict[str, Any]:
        return self.sums_filter() | {"day__gte": self.period.first, "day__lte": self.period.last}

    def sums_filter(self) -> dict[str, Any]:
        """The filters on sums, without the period."""
        conditions = self.accounts_filter() | build_column_filters(self.filters)
        if self.filters.direction:
            conditions["is_credit"] = self.filters.direction == "in"
        if self.filters.match:
            conditions["is_matched"] = self.filters.match == "yes"
        return conditions

    def accounts_filter(self) -> dict[str, Any]:
        """An equality for a single account, so that an index returns its rows in order."""
        return {"account_id": self.ids[0]} if len(self.ids) == 1 else {"account_id__in": self.ids}


def build_column_filters(filters: LedgerFilters) -> dict[str, Any]:
    columns = {
        "member": filters.member,
        "operation": filters.feature,
        "content_type": filters.content_type,
        "via_api": {"api": True, "web": False}.get(filters.source),
    }
    return {name: value for name, value in columns.items() if value not in (None, "")}


def jobs_with_label(label: UUID) -> QuerySet[Any]:
    return VideoLabel.objects.filter(label=label).values("job")


def load_ledger_scope(team: Team, filters: LedgerFilters) -> LedgerScope:
    """One query. An account or job of another team selects nothing and does not reveal that it
    exists."""
    return build_ledger_scope(team, filters, tuple(load_ledger_accounts(team.tenant)))


def load_ledger_accounts(tenant: Tenant) -> QuerySet[Account]:
    """The team's accounts, each with its ledger, the entries since its last balance checkpoint, the
    day of its first row, and whether another team uses it."""
    days = DailyTotal.objects.filter(account=OuterRef("pk")).order_by("day").values("day")
    accounts = annotate_newer_entries(all_team_accounts(tenant)).annotate(
        first_day=Subquery(days[:1])
    )
    return accounts.annotate(is_shared=is_shared_with_another_team())


def build_ledger_scope(
    team: Team, filters: LedgerFilters, accounts: Collection[Account]
) -> LedgerScope:
    zone = team.tenant.zone
    today = timezone.now().astimezone(zone).date()
    selected = [account for account in accounts if filters.account in (None, account.pk)]
    days = (getattr(account, "first_day", None) for account in selected)
    return LedgerScope(
        team=team,
        filters=filters,
        accounts=tuple(accounts),
        ids=tuple(account.pk for account in selected),
        zone=zone,
        today=today,
        period=parse_ledger_period(filters.period, today),
        first_day=min((day for day in days if day), default=None),
    )
