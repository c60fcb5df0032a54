"""Which rows and which sums a page is about: the team's accounts, its zone, and the filters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from dashboard.models import Team
from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.found import Found
from dashboard.queries.ledger.period import Period, period_of
from dashboard.queries.ledger.steps import WEEKLY, Step, step_of
from dashboard.queries.ledger_end import with_newer
from dashboard.queries.purse import known_accounts_of
from proxyapi.models import Account, DailyTotal, LedgerEntry, Vault
from proxyapi.models.account import is_shared_with_another_team
from proxyapi.rollups.daily_totals import narrowest_table


@dataclass(frozen=True, slots=True)
class Scope:
    """`accounts` are all of the team's, `ids` those asked for, `first_day` is that of their first
    row. `found`: what a search named, which `entries` and `sums` do not know."""

    team: Team
    filters: Filters
    accounts: tuple[Account, ...]
    ids: tuple[UUID, ...]
    zone: ZoneInfo
    today: date
    period: Period
    first_day: date | None
    found: Found | None = None

    @property
    def span(self) -> tuple[date, date]:
        """The days that are drawn: of long periods without the years before the first row, and
        those to come."""
        first, last = self.period.first, self.period.last
        if self.period.days > WEEKLY:
            last = max(first, min(last, self.today))
            first = min(last, max(first, self.first_day or last))
        return first, last

    @property
    def step(self) -> Step:
        return step_of(*self.span)

    @property
    def is_recounted(self) -> bool:
        """The team changed its zone, and the sums of an account are not of its days yet."""
        ledgers = [getattr(one, "ledger", None) for one in self.accounts if one.pk in self.ids]
        return any(one and one.sums_zone != self.zone.key for one in ledgers)

    def entries(self, span: tuple[datetime, datetime] | None = None) -> QuerySet[LedgerEntry]:
        """The rows that the filters leave, in no order; of a shorter span, that alone is asked for:
        of two lower bounds SQLite searches an index from the first."""
        return LedgerEntry.objects.filter(self.wanted(span), **self.of_accounts())

    def wanted(self, span: tuple[datetime, datetime] | None = None, prefix: str = "") -> Q:
        """What the filters leave, whatever its account. `prefix`: how a query comes to the rows."""
        chosen, (start, end) = self.filters, span or self.period.moments(self.zone)
        wanted = names_of(chosen) | {"happened_at__gte": start, "happened_at__lt": end}
        if chosen.job:
            wanted["job"] = chosen.job
        if chosen.direction:
            wanted["amount__gt" if chosen.direction == "in" else "amount__lte"] = 0
        if chosen.match:
            wanted["charge__isnull"] = chosen.match == "no"
        return Q(**{f"{prefix}{name}": value for name, value in wanted.items()})

    def sums(self, *columns: str) -> QuerySet[Any]:
        """The sums of the same rows, from the smallest table that has these columns as well."""
        table = narrowest_table({*columns, *names_of(self.filters)})
        return table._default_manager.filter(**self.summed())

    def summed(self) -> dict[str, Any]:
        return self.chosen() | {"day__gte": self.period.first, "day__lte": self.period.last}

    def chosen(self) -> dict[str, Any]:
        """What the filters leave of sums, whenever it was."""
        wanted = self.of_accounts() | names_of(self.filters)
        if self.filters.direction:
            wanted["is_credit"] = self.filters.direction == "in"
        if self.filters.match:
            wanted["is_matched"] = self.filters.match == "yes"
        return wanted

    def of_accounts(self) -> dict[str, Any]:
        """One account is asked for by its id alone: then an index has its rows in order."""
        return {"account_id": self.ids[0]} if len(self.ids) == 1 else {"account_id__in": self.ids}


def names_of(filters: Filters) -> dict[str, Any]:
    wanted = {
        "member": filters.member,
        "operation": filters.feature,
        "label": filters.label,
        "via_api": {"api": True, "web": False}.get(filters.source),
    }
    return {name: value for name, value in wanted.items() if value not in (None, "")}


def scope_of(team: Team, filters: Filters) -> Scope:
    """One query. An account or a job of somebody else leaves nothing, and says nothing."""
    return scope_from(team, filters, tuple(ledgered(team.vault)))


def ledgered(vault: Vault) -> QuerySet[Account]:
    """The team's accounts, each with its ledger, what is newer than its last weighing, the day of
    its first row, and whether another team uses it."""
    days = DailyTotal.objects.filter(account=OuterRef("pk")).order_by("day").values("day")
    accounts = with_newer(known_accounts_of(vault)).annotate(first_day=Subquery(days[:1]))
    return accounts.annotate(is_shared=is_shared_with_another_team())


def scope_from(team: Team, filters: Filters, accounts: Collection[Account]) -> Scope:
    zone = team.vault.zone
    today = timezone.now().astimezone(zone).date()
    asked = [one for one in accounts if filters.account in (None, one.pk)]
    days = (getattr(one, "first_day", None) for one in asked)
    return Scope(
        team=team,
        filters=filters,
        accounts=tuple(accounts),
        ids=tuple(one.pk for one in asked),
        zone=zone,
        today=today,
        period=period_of(filters.period, today),
        first_day=min((day for day in days if day), default=None),
    )
