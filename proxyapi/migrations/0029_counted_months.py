"""Counts what uses cost, of the charges that settled before anybody counted, and notes by how much
the debits that were matched so far are off."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count, F, Max, Min
from django.db.models.fields.json import KeyTextTransform

BY_TYPE = (
    *("faceless.render", "faceless.retry", "b_roll.render", "ai_visuals.render"),
    *("url_to_video.render", "text_to_scene.render"),
)
PRICE = ("account_id", "operation", "quote", "cost")


def count(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    charges = apps.get_model("proxyapi", "Charge").objects.filter(
        state__in=("confirmed", "matched"), refunded_at__isnull=True, sent_at__isnull=False
    )
    model = apps.get_model("proxyapi", "MonthCost")
    span = charges.aggregate(first=Min("sent_at"), last=Max("sent_at"))
    if span["first"] is None:
        return
    month, last = (span[name].astimezone(UTC).date().replace(day=1) for name in ("first", "last"))
    while month <= last:
        after = date(month.year + (month.month == 12), month.month % 12 + 1, 1)
        start, end = (datetime(day.year, day.month, 1, tzinfo=UTC) for day in (month, after))
        counts = counted(charges.filter(sent_at__gte=start, sent_at__lt=end).order_by())
        rows = (
            model(month=month, type=type_, times=times, **dict(zip(PRICE, price, strict=True)))
            for (*price, type_), times in counts.items()
        )
        model.objects.bulk_create(rows, batch_size=500)
        month = after


def counted(sent: Any) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    renders = sent.filter(operation__in=BY_TYPE)
    typed = renders.annotate(type=KeyTextTransform("type", "job__wanted"))
    for account, operation, quote, cost, told, times in typed.values_list(*PRICE, "type").annotate(
        times=Count("*")
    ):
        # Of a null in JSON SQLite says "null".
        type_ = "" if told in (None, "null") else told[:60]
        found[account, operation, quote or 0, cost, type_] += times
    others = sent.exclude(operation__in=BY_TYPE).values_list(*PRICE).annotate(times=Count("*"))
    for account, operation, quote, cost, times in others:
        found[account, operation, quote or 0, cost, ""] += times
    return found


def weigh(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    entries = apps.get_model("proxyapi", "Entry").objects
    weak = entries.filter(confidence="weak", amount__lt=0, charge__cost__isnull=False)
    differing = weak.exclude(charge__cost=-F("amount")).select_related("charge")
    rows = list(differing.only("amount", "charge__cost"))
    for row in rows:
        row.off = row.charge.cost + row.amount
    entries.bulk_update(rows, ["off"], batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("proxyapi", "0028_month_costs")]

    operations = [
        migrations.RunPython(count, migrations.RunPython.noop),
        migrations.RunPython(weigh, migrations.RunPython.noop),
    ]
