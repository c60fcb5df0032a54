"""The operations and content types of the entries of some days, read without scanning the entries.

From each name the index leads to the next one (a loose index scan): as many steps as there are
names, however many rows have them.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from proxyapi.models import Account, DailyTotalByContentType, DailyTotalByOperation

# Bounds the query for an account with a different content type on each row.
MAX_NAMES_PER_ACCOUNT = 1_000

LOOSE_INDEX_SCAN_SQL = """
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
NAMES_IN_PERIOD_SQL = """
    SELECT DISTINCT '{name}', name FROM {name}s AS one
    WHERE name <> '' AND EXISTS (
        SELECT 1 FROM {table}
        WHERE account_id = one.account_id AND {name} = one.name AND day BETWEEN %s AND %s
    )"""
NAME_TABLES = {"operation": DailyTotalByOperation, "content_type": DailyTotalByContentType}


class LedgerNames(NamedTuple):
    operations: frozenset[str]
    content_types: frozenset[str]


def load_ledger_names(accounts: Collection[UUID], first: date, last: date) -> LedgerNames:
    """The names in the days from `first` to `last`, both included. One query."""
    if not accounts:
        return LedgerNames(frozenset(), frozenset())
    key = Account._meta.pk
    ids = [key.get_db_prep_value(account_id, connection) for account_id in accounts]
    days = [connection.ops.adapt_datefield_value(day) for day in (first, last)]
    with connection.cursor() as cursor:
        cursor.execute(build_names_sql(len(ids)), [*ids, *ids, *days, *days])
        rows = cursor.fetchall()
    names = {
        name: frozenset(value for column, value in rows if column == name) for name in NAME_TABLES
    }
    return LedgerNames(names["operation"], names["content_type"])


def build_names_sql(accounts: int) -> str:
    parameters = [
        {
            "name": name,
            "table": table._meta.db_table,
            "accounts": Account._meta.db_table,
            "ids": ", ".join(["%s"] * accounts),
            "most": str(MAX_NAMES_PER_ACCOUNT),
        }
        for name, table in NAME_TABLES.items()
    ]
    steps = ",".join(LOOSE_INDEX_SCAN_SQL.format(**values) for values in parameters)
    names = " UNION ALL ".join(NAMES_IN_PERIOD_SQL.format(**values) for values in parameters)
    return f"WITH RECURSIVE {steps} {names}"
