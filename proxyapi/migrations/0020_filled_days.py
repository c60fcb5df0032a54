"""Adds up the days of the narrower tables from those of the widest, which was there before them."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

COMMON = ("account_id", "day", "is_credit", "is_matched", "via_api")
SPLITS = {"DayFlow": (), "DayFeature": ("operation",), "DayMember": ("member_id",)}
DAYS = 200  # written at once


def fill(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    sums = apps.get_model("proxyapi", "DaySum").objects.order_by("account_id", "day")
    waiting: dict[str, list[Any]] = {name: [] for name in SPLITS}
    days = groupby(sums.iterator(chunk_size=5_000), key=attrgetter("account_id", "day"))
    for number, (_, rows) in enumerate(days, 1):
        day = list(rows)
        for name in SPLITS:
            waiting[name] += added_up(apps.get_model("proxyapi", name), SPLITS[name], day)
        if number % DAYS == 0:
            write(apps, waiting)
    write(apps, waiting)


def added_up(model: Any, split: tuple[str, ...], sums: list[Any]) -> list[Any]:
    found: dict[tuple[Any, ...], Any] = {}
    for one in sums:
        given = {name: getattr(one, name) for name in (*COMMON, *split)}
        row = found.setdefault(tuple(given.values()), model(amount=0, entries=0, **given))
        row.amount += one.amount
        row.entries += one.entries
    return list(found.values())


def write(apps: Apps, waiting: dict[str, list[Any]]) -> None:
    for name, rows in waiting.items():
        apps.get_model("proxyapi", name).objects.bulk_create(rows, batch_size=2_000)
        rows.clear()


class Migration(migrations.Migration):
    dependencies = [("proxyapi", "0019_days")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
