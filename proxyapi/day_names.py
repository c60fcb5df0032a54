"""Which features and which labels the entries of some days have, found without going through them.

From each name the index leads to the next one (a loose index scan): as many steps as there are
names, however many rows have them.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from proxyapi.models import Account, DayFeature, DayTotal

MOST = 1_000  # of each account; whoever labels each row by itself is not offered all of them

STEPS = """
    {name}s(account_id, name, nth) AS (
        SELECT id, (SELECT MIN({name}) FROM {table} WHERE account_id = one.id), 1
        FROM {accounts} AS one WHERE id IN ({ids})
        UNION ALL
        SELECT account_id, (
            SELECT MIN({name}) FROM {table}
            WHERE account_id = last.account_id AND {name} > last.name
        ), nth + 1
        FROM {name}s AS last WHERE name IS NOT NULL AND nth < {most}
    )"""
FOUND = """
    SELECT DISTINCT '{name}', name FROM {name}s AS one
    WHERE name <> '' AND EXISTS (
        SELECT 1 FROM {table}
        WHERE account_id = one.account_id AND {name} = one.name AND day BETWEEN %s AND %s
    )"""
TABLES = {"operation": DayFeature, "label": DayTotal}


class Names(NamedTuple):
    operations: frozenset[str]
    labels: frozenset[str]


def names_of(accounts: Collection[UUID], first: date, last: date) -> Names:
    """Of the days from the first to the last, both included. One query."""
    if not accounts:
        return Names(frozenset(), frozenset())
    key = Account._meta.pk
    ids = [key.get_db_prep_value(one, connection) for one in accounts]
    days = [connection.ops.adapt_datefield_value(day) for day in (first, last)]
    with connection.cursor() as cursor:
        cursor.execute(statement(len(ids)), [*ids, *ids, *days, *days])
        rows = cursor.fetchall()
    found = {name: frozenset(value for of, value in rows if of == name) for name in TABLES}
    return Names(found["operation"], found["label"])


def statement(accounts: int) -> str:
    given = [
        {
            "name": name,
            "table": table._meta.db_table,
            "accounts": Account._meta.db_table,
            "ids": ", ".join(["%s"] * accounts),
            "most": str(MOST),
        }
        for name, table in TABLES.items()
    ]
    steps = ",".join(STEPS.format(**one) for one in given)
    return f"WITH RECURSIVE {steps} {' UNION ALL '.join(FOUND.format(**one) for one in given)}"
