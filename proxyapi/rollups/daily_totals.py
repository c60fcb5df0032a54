"""Daily totals of one account's ledger, computed from its entries.

Pages read these totals instead of summing a million entries. The tables group the same entries by
more and more columns; a page reads the first table with the columns that it needs. Daily totals by
feature are also summed by month, for pages that show years.
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
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.models import (
    Account,
    DailyBreakdown,
    DailyRollup,
    DailyTotal,
    DailyTotalByContentType,
    DailyTotalByLabel,
    DailyTotalByMember,
    DailyTotalByOperation,
    LedgerEntry,
    LedgerMirror,
    MonthlyTotalByOperation,
    StaleLedgerDay,
)
from proxyapi.models.ledger_entry import IS_UNEXPLAINED
from proxyapi.models.ledger_sums import COMMON_COLUMNS, MONTHLY_GROUP_COLUMNS
from proxyapi.redis_client import connect_redis
from proxyapi.rollups.price_counts import next_month

# The narrowest first; the last one has all columns.
DAILY_TABLES: Final[tuple[type[DailyRollup], ...]] = (
    DailyTotal,
    DailyTotalByOperation,
    DailyTotalByMember,
    DailyTotalByContentType,
    DailyTotalByLabel,
    DailyBreakdown,
)
ZERO_CREDITS = Decimal(0)
UNITS_PER_CREDIT = 10_000  # amounts have four decimals
DAYS_PER_TRANSACTION = 7  # days recomputed in one transaction, whose lock new charges wait for
REBUILD_LOCK_TTL_S = 600  # seconds; a worker that takes longer counts as dead
REBUILD_WANTED, REBUILD_RUNNING = "", "counting"  # instead of a zone, while sums are unreliable


class CreditSum(Sum):
    """The sum of an amount, exact on SQLite too, which stores decimals as floats."""

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        exact = self.copy()
        exact.template = f"SUM(CAST(ROUND(%(expressions)s * {UNITS_PER_CREDIT}) AS INTEGER))"
        return exact.as_sql(compiler, connection, **context)

    def get_db_converters(self, connection: BaseDatabaseWrapper) -> list[Any]:
        if connection.vendor == "sqlite":
            return [units_to_credits]
        return super().get_db_converters(connection)


def units_to_credits(value: int | None, *_: object) -> Decimal | None:
    return None if value is None else Decimal(value) / UNITS_PER_CREDIT


def rebuild_days(account: Account, days: Collection[date]) -> None:
    """Recompute the sums of these days, in the caller's transaction.

    The days are those of the tenant's current zone, which may differ from the loaded one.
    """
    write_daily_totals(account, days, lock_time_zone(account))
    write_monthly_totals(account, days)


def rebuild_days_at(account: Account, moments: Iterable[datetime]) -> None:
    """Recompute the sums of the days that contain these times, in the caller's transaction."""
    zone = lock_time_zone(account)
    days = days_in_zone(zone, moments)
    write_daily_totals(account, days, zone)
    write_monthly_totals(account, days)


def mark_days_stale(account: Account, moments: Iterable[datetime]) -> None:
    """Mark the days that contain these times for `rebuild_stale_days`, in the caller's transaction,
    which has the account locked."""
    days = days_in_zone(lock_time_zone(account), moments)
    marks = [StaleLedgerDay(account=account, day=day) for day in sorted(days)]
    StaleLedgerDay.objects.bulk_create(marks, batch_size=500, ignore_conflicts=True)


def rebuild_stale_days(account: Account) -> None:
    """Recompute the sums of the marked days, a week in each transaction."""
    marks = StaleLedgerDay.objects.filter(account=account).order_by("day")
    while days := list(marks.values_list("day", flat=True)[:DAYS_PER_TRANSACTION]):
        with transaction.atomic():
            rebuild_days(account, days)
            marks.filter(day__in=days).delete()
            publish_event(account.tenant_id, EventType.LEDGER, account.pk)


def lock_time_zone(account: Account) -> ZoneInfo:
    """Lock the account, always before its ledger; return the current zone of its tenant.

    Two rebuilds at once would add a day twice. A PostgreSQL query that waits for the lock returns
    the zone from before the wait; a call with the lock held returns the current one.
    """
    rows = Account.objects.select_for_update(of=("self",)).select_related("tenant")
    return rows.only("tenant__time_zone").get(pk=account.pk).tenant.zone


def write_daily_totals(account: Account, days: Collection[date], zone: ZoneInfo) -> None:
    sorted_days = sorted(set(days))
    sums = [row for day in sorted_days for row in aggregate_day(account, day, zone)]
    for table in DAILY_TABLES:
        table._default_manager.filter(account=account, day__in=sorted_days).delete()
        table._default_manager.bulk_create(regroup_totals(table, sums), batch_size=500)


def narrowest_table(columns: Iterable[str]) -> type[DailyRollup]:
    """The table with the fewest rows that has these columns."""
    needed = set(columns)
    return next(
        table for table in DAILY_TABLES if needed <= {*COMMON_COLUMNS, *table.GROUP_COLUMNS}
    )


def rebuild_all_days(account: Account) -> None:
    """Recompute all sums by the days of the tenant's zone, a week in each transaction.

    Meanwhile some days of the sums on pages begin hours off. An interrupted rebuild leaves
    `rollup_time_zone` without a zone and starts again, and so does one that was requested
    meanwhile.
    """
    with transaction.atomic():
        zone = lock_time_zone(account)
        LedgerMirror.objects.filter(pk=account.pk).update(rollup_time_zone=REBUILD_RUNNING)
        days = sorted(all_ledger_days(account, zone))
    for start in range(0, len(days), DAYS_PER_TRANSACTION):
        with transaction.atomic():
            lock_time_zone(account)  # if it waits for the lock, the next call has the current zone
            rebuild_days(account, days[start : start + DAYS_PER_TRANSACTION])
    LedgerMirror.objects.filter(pk=account.pk, rollup_time_zone=REBUILD_RUNNING).update(
        rollup_time_zone=zone.key
    )
    publish_event(account.tenant_id, EventType.LEDGER, account.pk)


def request_rebuild(account: Account) -> None:
    """Have all sums recomputed within a minute: they are too many for the caller's transaction,
    whose lock people wait for."""
    LedgerMirror.objects.filter(pk=account.pk).update(rollup_time_zone=REBUILD_WANTED)


def rebuild_if_zone_changed(account: Account) -> None:
    """Recount only if the time zone still differs and no other worker is recounting. Otherwise an
    account that takes over a minute would be queued faster than it is finished."""
    lock = connect_redis().lock(f"reelroom:recount:{account.pk}", timeout=REBUILD_LOCK_TTL_S)
    if account.pk not in accounts_with_stale_zone() or not lock.acquire(blocking=False):
        return
    try:
        rebuild_all_days(account)
    finally:
        with suppress(redis.RedisError):  # the lock expired
            lock.release()


def all_ledger_days(account: Account, zone: ZoneInfo) -> set[date]:
    """The days from the first entry to the last in this zone, and the days that have sums.

    The latter may belong to another zone, two days away at most, or to entries that were removed.
    """
    days = set(DailyTotal.objects.filter(account=account).values_list("day", flat=True))
    span = LedgerEntry.objects.filter(account=account).aggregate(
        first=Min("happened_at"), last=Max("happened_at")
    )
    if span["first"] is not None:
        first, last = (span[name].astimezone(zone).date() for name in ("first", "last"))
        days |= {first + timedelta(days=n) for n in range((last - first).days + 1)}
    return days


def accounts_with_stale_zone() -> list[UUID]:
    """Accounts whose sums use another time zone than their tenant's current one."""
    stale = LedgerMirror.objects.exclude(rollup_time_zone=F("account__tenant__time_zone"))
    return list(stale.values_list("pk", flat=True))


def accounts_with_stale_days() -> list[UUID]:
    """Accounts with marked days and without a running sync, which would recompute them at its
    end."""
    marked = Account.objects.filter(pk__in=StaleLedgerDay.objects.values("account"))
    syncing = Q(ledger__lease_expires_at__gte=timezone.now())
    return list(marked.exclude(syncing).values_list("pk", flat=True))


def days_in_account_zone(account: Account, moments: Iterable[datetime]) -> set[date]:
    """The days of these times in the tenant's zone, as loaded."""
    return days_in_zone(account.tenant.zone, moments)


def days_in_zone(zone: ZoneInfo, moments: Iterable[datetime]) -> set[date]:
    return {moment.astimezone(zone).date() for moment in moments}


def day_bounds(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """First moment of a day and of the next; a day has 23, 24 or 25 hours."""
    start = datetime.combine(day, time.min, zone)
    return start, datetime.combine(day + timedelta(days=1), time.min, zone)


def aggregate_day(account: Account, day: date, zone: ZoneInfo) -> Iterator[DailyBreakdown]:
    start, end = day_bounds(day, zone)
    entries = LedgerEntry.objects.filter(
        account=account, happened_at__gte=start, happened_at__lt=end
    )
    # Without constants: PostgreSQL cannot group by an expression with a parameter.
    is_matched = ExpressionWrapper(~IS_UNEXPLAINED, BooleanField())
    split = entries.annotate(sign=Sign("amount"), is_matched=is_matched)
    names = ("member_id", "operation", "label", "content_type", "via_api", "is_matched")
    for group in (
        split.order_by().values(*names, "sign").annotate(sum=CreditSum("amount"), rows=Count("pk"))
    ):
        yield DailyBreakdown(
            account=account,
            day=day,
            is_credit=group["sign"] > 0,
            amount=group["sum"],
            entries=group["rows"],
            **{name: group[name] for name in names},
        )


def write_monthly_totals(account: Account, days: Collection[date]) -> None:
    """Recompute the months of these days from their daily totals, which are up to date."""
    months = {day.replace(day=1) for day in days}
    MonthlyTotalByOperation.objects.filter(account=account, month__in=months).delete()
    for month in sorted(months):
        rows = DailyTotalByOperation.objects.filter(
            account=account, day__gte=month, day__lt=next_month(month)
        )
        sums = rows.order_by().values(*MONTHLY_GROUP_COLUMNS)
        MonthlyTotalByOperation.objects.bulk_create(
            MonthlyTotalByOperation(
                account=account,
                month=month,
                amount=group.pop("sum"),
                entries=group.pop("rows"),
                **group,
            )
            for group in sums.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
        )


def regroup_totals(table: type[DailyRollup], sums: Iterable[DailyBreakdown]) -> list[DailyRollup]:
    """Regroup the sums by the columns of a table."""
    table_columns = {*COMMON_COLUMNS, *table.GROUP_COLUMNS}
    names = [field.attname for field in table._meta.concrete_fields if field.name in table_columns]
    totals: dict[tuple[object, ...], DailyRollup] = {}
    for breakdown in sums:
        key = {name: getattr(breakdown, name) for name in names}
        row = totals.setdefault(tuple(key.values()), table(amount=ZERO_CREDITS, entries=0, **key))
        row.amount += breakdown.amount
        row.entries += breakdown.entries
    return list(totals.values())
