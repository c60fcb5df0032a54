"""What uses cost, counted by month and price while charges settle.

The costs page reads a few hundred counts instead of a month's tens of thousands of charges, and is
as exact: a charge is counted in the transaction that settles it, and taken out in the one that
finds its refund.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from typing import Any, Final

from django.db.models import CharField, Count, F, Max, Min, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from proxyapi.models import Account, Charge, MonthCost
from proxyapi.models.charge import SPENT
from proxyapi.upstream.catalog import CATALOG

# Their price hangs on the video's type.
BY_TYPE: Final = tuple(name for name in CATALOG if name.rpartition(".")[2] in ("render", "retry"))
PRICE: Final = ("operation", "type", "quote", "cost")
WANTED = KeyTextTransform("type", "job__wanted")
NOTHING = Cast(Value(None), CharField())
TYPE = MonthCost._meta.get_field("type").max_length or 0


def count(charge: Charge) -> None:
    """A settled charge, or one whose refund turned out to be none.

    In the caller's transaction, which has the account locked: two at once would miss each other.
    """
    price = price_of(charge)
    if not MonthCost.objects.filter(**price).update(times=F("times") + 1):
        MonthCost.objects.create(**price, times=1)


def uncount(charge: Charge) -> None:
    """A charge that was counted and is refunded now; the lock as in `count`."""
    MonthCost.objects.filter(**price_of(charge), times__gt=0).update(times=F("times") - 1)


def price_of(charge: Charge) -> dict[str, Any]:
    told = charge.job.wanted.get("type") if charge.job and charge.operation in BY_TYPE else None
    return {
        "account_id": charge.account_id,
        "month": month_of(charge.sent_at or charge.created_at),
        "operation": charge.operation,
        "type": named(told),
        "quote": charge.quote or 0,
        "cost": charge.cost or 0,
    }


def named(type_: object) -> str:
    """The type as it is counted; of a null in JSON SQLite says "null"."""
    return type_[:TYPE] if isinstance(type_, str) and type_ != "null" else ""


def month_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date().replace(day=1)


def before(month: date) -> date:
    """The month before, by its first day."""
    return date(month.year - (month.month == 1), (month.month - 2) % 12 + 1, 1)


def after(month: date) -> date:
    return date(month.year + (month.month == 12), month.month % 12 + 1, 1)


def recount(account: Account) -> None:
    """Make all counts of an account anew from its charges, in the caller's transaction."""
    MonthCost.objects.filter(account=account).delete()
    charges = Charge.objects.filter(
        account=account, state__in=SPENT, refunded_at__isnull=True, sent_at__isnull=False
    )
    span = charges.aggregate(first=Min("sent_at"), last=Max("sent_at"))
    if span["first"] is None:
        return
    month, last = month_of(span["first"]), month_of(span["last"])
    while month <= last:
        rows = [MonthCost(account=account, month=month, **row) for row in counted(charges, month)]
        MonthCost.objects.bulk_create(rows, batch_size=500)
        month = after(month)


def counted(charges: QuerySet[Charge], month: date) -> list[dict[str, Any]]:
    """A row for each price of the month; only renders are looked up with their jobs."""
    start, end = (datetime(day.year, day.month, 1, tzinfo=UTC) for day in (month, after(month)))
    sent = charges.filter(sent_at__gte=start, sent_at__lt=end).order_by()
    renders = sent.filter(operation__in=BY_TYPE).annotate(type=WANTED)
    others = sent.exclude(operation__in=BY_TYPE).annotate(type=NOTHING)
    found: Counter[tuple[Any, ...]] = Counter()
    for part in (renders, others):
        rows = part.values_list(*PRICE).annotate(times=Count("*"))
        for operation, told, quote, cost, times in rows:
            found[operation, named(told), quote or 0, cost] += times
    return [dict(zip(PRICE, price, strict=True), times=times) for price, times in found.items()]
