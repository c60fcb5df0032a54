"""Price counts: settled charges by month and price.

The costs page reads a few hundred counts instead of a month's tens of thousands of charges, and is
as exact: a charge is counted in the transaction that settles it, and uncounted in the one that
matches its refund.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from typing import Any, Final

from django.db.models import CharField, Count, F, Max, Min, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from proxyapi.models import Account, Charge, MonthlyPriceCount
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import FACELESS_RENDER_OPERATIONS

PRICE_COLUMNS: Final = ("operation", "type", "quote", "cost")
CHOSEN_TYPE = KeyTextTransform("type", "job__draft__settings")
NULL_TYPE = Cast(Value(None), CharField())
MAX_TYPE_LENGTH = MonthlyPriceCount._meta.get_field("type").max_length or 0


def count_charge(charge: Charge) -> None:
    """Count a settled charge, or one whose refund was detached again.

    In the caller's transaction, which has the account locked: two at once would lose a count.
    """
    price = price_key_of(charge)
    if not MonthlyPriceCount.objects.filter(**price).update(times=F("times") + 1):
        MonthlyPriceCount.objects.create(**price, times=1)


def uncount_charge(charge: Charge) -> None:
    """Uncount a charge that was refunded, with the account locked as for `count_charge`."""
    MonthlyPriceCount.objects.filter(**price_key_of(charge), times__gt=0).update(
        times=F("times") - 1
    )


def price_key_of(charge: Charge) -> dict[str, Any]:
    chosen_type = (
        charge.job.chosen_settings.get("type")
        if charge.job and charge.operation in FACELESS_RENDER_OPERATIONS
        else None
    )
    return {
        "account_id": charge.account_id,
        "month": utc_month_of(charge.sent_at or charge.created_at),
        "operation": charge.operation,
        "type": normalize_type(chosen_type),
        "quote": charge.quote or 0,
        "cost": charge.cost or 0,
    }


def normalize_type(type_: object) -> str:
    """The type as it is counted; SQLite returns "null" for a JSON null."""
    return type_[:MAX_TYPE_LENGTH] if isinstance(type_, str) and type_ != "null" else ""


def utc_month_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)


def previous_month(month: date) -> date:
    """The first day of the month before."""
    return date(month.year - (month.month == 1), (month.month - 2) % 12 + 1, 1)


def next_month(month: date) -> date:
    return date(month.year + (month.month == 12), month.month % 12 + 1, 1)


def rebuild_price_counts(account: Account) -> None:
    """Recompute all counts of an account from its charges, in the caller's transaction."""
    MonthlyPriceCount.objects.filter(account=account).delete()
    charges = Charge.objects.filter(
        account=account, state__in=CHARGED_STATES, refunded_at__isnull=True, sent_at__isnull=False
    )
    span = charges.aggregate(first=Min("sent_at"), last=Max("sent_at"))
    if span["first"] is None:
        return
    month, last = utc_month_of(span["first"]), utc_month_of(span["last"])
    while month <= last:
        rows = [
            MonthlyPriceCount(account=account, month=month, **row)
            for row in count_prices_in_month(charges, month)
        ]
        MonthlyPriceCount.objects.bulk_create(rows, batch_size=500)
        month = next_month(month)


def count_prices_in_month(charges: QuerySet[Charge], month: date) -> list[dict[str, Any]]:
    """A row for each price of the month; only renders are joined with their jobs."""
    start, end = (
        datetime(day.year, day.month, 1, tzinfo=UTC) for day in (month, next_month(month))
    )
    sent = charges.filter(sent_at__gte=start, sent_at__lt=end).order_by()
    renders = sent.filter(operation__in=FACELESS_RENDER_OPERATIONS).annotate(type=CHOSEN_TYPE)
    other_charges = sent.exclude(operation__in=FACELESS_RENDER_OPERATIONS).annotate(type=NULL_TYPE)
    counts: Counter[tuple[Any, ...]] = Counter()
    for queryset in (renders, other_charges):
        rows = queryset.values_list(*PRICE_COLUMNS).annotate(times=Count("*"))
        for operation, type_, quote, cost, times in rows:
            counts[operation, normalize_type(type_), quote or 0, cost] += times
    return [
        dict(zip(PRICE_COLUMNS, price, strict=True), times=times) for price, times in counts.items()
    ]
