"""Adds up the months by feature from their days, which were there before them."""

from __future__ import annotations

from datetime import date
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

COLUMNS = ("operation", "is_credit", "is_matched")


def fill(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    days = apps.get_model("proxyapi", "DayFeature").objects.order_by("account_id", "day")
    months = apps.get_model("proxyapi", "MonthFeature").objects
    for of, rows in groupby(days.iterator(chunk_size=5_000), key=month_of):
        months.bulk_create(added_up(months.model, of, rows))


def month_of(row: Any) -> tuple[Any, date]:
    return row.account_id, row.day.replace(day=1)


def added_up(model: Any, of: tuple[Any, date], rows: Any) -> list[Any]:
    account, month = of
    found: dict[tuple[Any, ...], Any] = {}
    for one in rows:
        given = attrgetter(*COLUMNS)(one)
        row = found.setdefault(
            given,
            model(
                account_id=account,
                month=month,
                amount=0,
                entries=0,
                **dict(zip(COLUMNS, given, strict=True)),
            ),
        )
        row.amount += one.amount
        row.entries += one.entries
    return list(found.values())


class Migration(migrations.Migration):
    dependencies = [("proxyapi", "0032_month_features")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
