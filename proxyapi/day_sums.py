"""What one account's ledger adds up to per day, made from the entries.

Pages answer from these sums what they would else count over a million entries. `TABLES` are the
same entries added up along more and more columns: a page asks the first that has those it needs.
The days by feature are added up to months as well, for pages that tell of years.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

import redis
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, Count, ExpressionWrapper, F, Max, Min, Q, Sum
from django.db.models.functions import Sign
from django.db.models.sql.compiler import SQLCompiler

from proxyapi.events import EventType, publish_event
from proxyapi.models import (
    Account,
    DayFeature,
    DayFlow,
    DayMember,
    DayRow,
    DaySum,
    DayTotal,
    Entry,
    Ledger,
    MonthFeature,
)
from proxyapi.models.day_row import COMMON
from proxyapi.models.month_feature import COLUMNS
from proxyapi.month_costs import after
from proxyapi.rate_limiter import redis_connection

# The narrowest first; what none of the others has is in the last.
TABLES: Final[tuple[type[DayRow], ...]] = (DayFlow, DayFeature, DayMember, DayTotal, DaySum)
NOTHING = Decimal(0)
PLACES = 10_000  # amounts have four
WEEK = 7  # days of sums made in one transaction, for which who pays may have to wait
COUNTED_WITHIN = 600  # seconds; whoever counts for longer is dead
WANTED, COUNTING = "", "counting"  # instead of a zone, while no sum can be relied on


class CreditSum(Sum):
    """The sum of an amount, exact on SQLite too, which keeps decimals as floats."""

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        exact = self.copy()
        exact.template = f"SUM(CAST(ROUND(%(expressions)s * {PLACES}) AS INTEGER))"
        return exact.as_sql(compiler, connection, **context)

    def get_db_converters(self, connection: BaseDatabaseWrapper) -> list[Any]:
        if connection.vendor == "sqlite":
            return [of_integer]
        return super().get_db_converters(connection)


def of_integer(value: int | None, *_: object) -> Decimal | None:
    return None if value is None else Decimal(value) / PLACES


def recount(account: Account, days: Collection[date]) -> None:
    """Make the sums of these days anew, in the caller's transaction.

    The days are those of the vault's zone as it is now, which is not always what was loaded.
    """
    write_days(account, days, locked_zone(account))
    write_months(account, days)


def recount_at(account: Account, moments: Iterable[datetime], *, only_told: bool = False) -> None:
    """The same of the days on which these moments lie. `only_told`: nothing of their entries
    changed but whether they are the API's, which the sums of months do not tell apart."""
    zone = locked_zone(account)
    days = days_in(zone, moments)
    write_days(account, days, zone)
    if not only_told:
        write_months(account, days)


def locked_zone(account: Account) -> ZoneInfo:
    """Lock the account, always before its ledger; answers the zone of its vault now.

    Two counts at once would leave a day in the sums twice. On PostgreSQL a query that waits for
    the lock tells the zone of before its wait; asked with the lock in hand it is that of now.
    """
    rows = Account.objects.select_for_update(of=("self",)).select_related("vault")
    return rows.only("vault__time_zone").get(pk=account.pk).vault.zone


def write_days(account: Account, days: Collection[date], zone: ZoneInfo) -> None:
    wanted = sorted(set(days))
    sums = [row for day in wanted for row in sums_of(account, day, zone)]
    for table in TABLES:
        table._default_manager.filter(account=account, day__in=wanted).delete()
        table._default_manager.bulk_create(added_up(table, sums), batch_size=500)


def narrowest(columns: Iterable[str]) -> type[DayRow]:
    """The table with the fewest rows that can answer a question about these columns."""
    asked = set(columns)
    return next(table for table in TABLES if asked <= {*COMMON, *table.SPLIT})


def recount_all(account: Account) -> None:
    """Make all sums anew in the days of the vault's zone, a week in each transaction.

    Meanwhile pages show sums of which some days begin hours off. Whoever is interrupted leaves
    `sums_zone` without a zone, and is begun again; so is what was wanted anew meanwhile.
    """
    with transaction.atomic():
        zone = locked_zone(account)
        Ledger.objects.filter(pk=account.pk).update(sums_zone=COUNTING)
        days = sorted(all_days(account, zone))
    for start in range(0, len(days), WEEK):
        with transaction.atomic():
            locked_zone(account)  # should it have to wait, the count has the zone of after that
            recount(account, days[start : start + WEEK])
    Ledger.objects.filter(pk=account.pk, sums_zone=COUNTING).update(sums_zone=zone.key)
    publish_event(account.vault_id, EventType.LEDGER, account.pk)


def want_recount(account: Account) -> None:
    """All sums are to be made anew, within a minute: too many to do it in the caller's transaction,
    whose lock people wait for."""
    Ledger.objects.filter(pk=account.pk).update(sums_zone=WANTED)


def recount_moved(account: Account) -> None:
    """The same if its zone is another one still, and nobody else is at it: of an account that takes
    longer than a minute, more would be wanted than are ever done."""
    lock = redis_connection().lock(f"reelroom:recount:{account.pk}", timeout=COUNTED_WITHIN)
    if account.pk not in in_another_zone() or not lock.acquire(blocking=False):
        return
    try:
        recount_all(account)
    finally:
        with suppress(redis.RedisError):  # it ran out, and ended by itself
            lock.release()


def all_days(account: Account, zone: ZoneInfo) -> set[date]:
    """From the first entry to the last in this zone, and those that have sums by now.

    These may be of another zone, two days away at most, or of entries that are gone since.
    """
    days = set(DayFlow.objects.filter(account=account).values_list("day", flat=True))
    span = Entry.objects.filter(account=account).aggregate(
        first=Min("happened_at"), last=Max("happened_at")
    )
    if span["first"] is not None:
        first, last = (span[name].astimezone(zone).date() for name in ("first", "last"))
        days |= {first + timedelta(days=n) for n in range((last - first).days + 1)}
    return days


def in_another_zone() -> list[UUID]:
    """Accounts whose sums are of days in another zone than their vault's by now."""
    left = Ledger.objects.exclude(sums_zone=F("account__vault__time_zone"))
    return list(left.values_list("pk", flat=True))


def days_of(account: Account, moments: Iterable[datetime]) -> set[date]:
    """The days on which these moments lie in the vault's zone, as it was loaded."""
    return days_in(account.vault.zone, moments)


def days_in(zone: ZoneInfo, moments: Iterable[datetime]) -> set[date]:
    return {moment.astimezone(zone).date() for moment in moments}


def bounds(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """First moment of a day and of the next; a day has 23, 24 or 25 hours."""
    start = datetime.combine(day, time.min, zone)
    return start, datetime.combine(day + timedelta(days=1), time.min, zone)


def sums_of(account: Account, day: date, zone: ZoneInfo) -> Iterator[DaySum]:
    start, end = bounds(day, zone)
    entries = Entry.objects.filter(account=account, happened_at__gte=start, happened_at__lt=end)
    # Without constants: PostgreSQL groups by no expression that holds a parameter.
    is_matched = ExpressionWrapper(Q(charge__isnull=False), BooleanField())
    split = entries.annotate(sign=Sign("amount"), is_matched=is_matched)
    names = ("member_id", "operation", "label", "via_api", "is_matched")
    for group in (
        split.order_by().values(*names, "sign").annotate(sum=CreditSum("amount"), rows=Count("pk"))
    ):
        yield DaySum(
            account=account,
            day=day,
            is_credit=group["sign"] > 0,
            amount=group["sum"],
            entries=group["rows"],
            **{name: group[name] for name in names},
        )


def write_months(account: Account, days: Collection[date]) -> None:
    """The months of these days, anew from their days, which are those of the entries by now."""
    months = {day.replace(day=1) for day in days}
    MonthFeature.objects.filter(account=account, month__in=months).delete()
    for month in sorted(months):
        rows = DayFeature.objects.filter(account=account, day__gte=month, day__lt=after(month))
        sums = rows.order_by().values(*COLUMNS)
        MonthFeature.objects.bulk_create(
            MonthFeature(
                account=account,
                month=month,
                amount=group.pop("sum"),
                entries=group.pop("rows"),
                **group,
            )
            for group in sums.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
        )


def added_up(table: type[DayRow], sums: Iterable[DaySum]) -> list[DayRow]:
    """The same sums, along the columns of a table alone."""
    kept = {*COMMON, *table.SPLIT}
    names = [field.attname for field in table._meta.concrete_fields if field.name in kept]
    found: dict[tuple[object, ...], DayRow] = {}
    for one in sums:
        given = {name: getattr(one, name) for name in names}
        row = found.setdefault(tuple(given.values()), table(amount=NOTHING, entries=0, **given))
        row.amount += one.amount
        row.entries += one.entries
    return list(found.values())
