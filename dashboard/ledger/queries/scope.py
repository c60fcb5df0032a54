"""Which rows and which sums a page is about: the team's accounts, its zone, the filters, and what a
search found."""

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
from dashboard.models import Team
from dashboard.shared.ledger_agreement import annotate_newer_entries
from dashboard.shared.team_balance import all_team_accounts
from proxyapi.models import Account, DailyTotal, LedgerEntry, Tenant
from proxyapi.models.account import is_shared_with_another_team
from proxyapi.rollups.daily_totals import narrowest_table
from proxyapi.rollups.ledger_names import LedgerNames


class FoundRow(NamedTuple):
    key: int
    at: datetime
    amount: Decimal
    is_matched: bool


class SearchGap(NamedTuple):
    """What was not looked for, and how to find it all the same."""

    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class LedgerSearchResult:
    """`rows` have none of the other names. `names`: all that the days have."""

    names: LedgerNames
    labels: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    members: frozenset[int] = frozenset()
    rows: tuple[FoundRow, ...] = ()
    gaps: tuple[SearchGap, ...] = ()

    @property
    def label_or_operation_q(self) -> Q:
        """Rows, or sums, with one of the labels or features."""
        return Q(label__in=self.labels) | Q(operation__in=self.operations)

    @property
    def any_name_q(self) -> Q:
        return self.label_or_operation_q | Q(member__in=self.members)

    def matches(self, label: str, operation: str, member: int | None) -> bool:
        """As `named`, of one row."""
        return label in self.labels or operation in self.operations or member in self.members

    def iter_indexed_conditions(self) -> Iterator[Q]:
        """Each names rows by another index; with `rows` they are all that was found."""
        names = {"label": self.labels, "operation": self.operations, "member": self.members}
        for name, values in names.items():
            if values:
                yield Q(**{f"{name}__in": values})


@dataclass(frozen=True, slots=True)
class LedgerScope:
    """`accounts` are all of the team's, `ids` those asked for, `first_day` is that of their first
    row. `found`: what a search named, which `entries` and `sums` do not know."""

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
        """The days that are drawn: of long periods without the years before the first row, and
        those to come."""
        first, last = self.period.first, self.period.last
        if self.period.days > MAX_DAYS_BY_WEEK:
            last = max(first, min(last, self.today))
            first = min(last, max(first, self.first_day or last))
        return first, last

    @property
    def step(self) -> Granularity:
        return choose_granularity(*self.charted_days)

    @property
    def is_recounting(self) -> bool:
        """The team changed its zone, and the sums of an account are not of its days yet."""
        ledgers = [getattr(one, "ledger", None) for one in self.accounts if one.pk in self.ids]
        return any(one and one.rollup_time_zone != self.zone.key for one in ledgers)

    def entries(self, span: tuple[datetime, datetime] | None = None) -> QuerySet[LedgerEntry]:
        """The rows that the filters leave, in no order; of a shorter span, that alone is asked for:
        of two lower bounds SQLite searches an index from the first."""
        return LedgerEntry.objects.filter(self.rows_q(span), **self.accounts_filter())

    def rows_q(self, span: tuple[datetime, datetime] | None = None, prefix: str = "") -> Q:
        """What the filters leave, whatever its account. `prefix`: how a query comes to the rows."""
        chosen, (start, end) = self.filters, span or self.period.time_bounds(self.zone)
        wanted = build_column_filters(chosen) | {"happened_at__gte": start, "happened_at__lt": end}
        if chosen.job:
            wanted["job"] = chosen.job
        if chosen.direction:
            wanted["amount__gt" if chosen.direction == "in" else "amount__lte"] = 0
        if chosen.match:
            wanted["charge__isnull"] = chosen.match == "no"
        return Q(**{f"{prefix}{name}": value for name, value in wanted.items()})

    def sums(self, *columns: str) -> QuerySet[Any]:
        """The sums of the same rows, from the smallest table that has these columns as well."""
        table = narrowest_table({*columns, *build_column_filters(self.filters)})
        return table._default_manager.filter(**self.period_sums_filter())

    def period_sums_filter(self) -> dict[str, Any]:
        return self.sums_filter() | {"day__gte": self.period.first, "day__lte": self.period.last}

    def sums_filter(self) -> dict[str, Any]:
        """What the filters leave of sums, whenever it was."""
        wanted = self.accounts_filter() | build_column_filters(self.filters)
        if self.filters.direction:
            wanted["is_credit"] = self.filters.direction == "in"
        if self.filters.match:
            wanted["is_matched"] = self.filters.match == "yes"
        return wanted

    def accounts_filter(self) -> dict[str, Any]:
        """One account is asked for by its id alone: then an index has its rows in order."""
        return {"account_id": self.ids[0]} if len(self.ids) == 1 else {"account_id__in": self.ids}


def build_column_filters(filters: LedgerFilters) -> dict[str, Any]:
    wanted = {
        "member": filters.member,
        "operation": filters.feature,
        "label": filters.label,
        "via_api": {"api": True, "web": False}.get(filters.source),
    }
    return {name: value for name, value in wanted.items() if value not in (None, "")}


def load_ledger_scope(team: Team, filters: LedgerFilters) -> LedgerScope:
    """One query. An account or a job of somebody else leaves nothing, and says nothing."""
    return build_ledger_scope(team, filters, tuple(load_ledger_accounts(team.tenant)))


def load_ledger_accounts(tenant: Tenant) -> QuerySet[Account]:
    """The team's accounts, each with its ledger, what is newer than its last weighing, the day of
    its first row, and whether another team uses it."""
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
    asked = [one for one in accounts if filters.account in (None, one.pk)]
    days = (getattr(one, "first_day", None) for one in asked)
    return LedgerScope(
        team=team,
        filters=filters,
        accounts=tuple(accounts),
        ids=tuple(one.pk for one in asked),
        zone=zone,
        today=today,
        period=parse_ledger_period(filters.period, today),
        first_day=min((day for day in days if day), default=None),
    )
