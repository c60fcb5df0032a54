"""The end of a test whose transactions were committed: its rows are deleted, nothing else."""

from __future__ import annotations

from django.db import connection, transaction
from django.test import TransactionTestCase

# What `migrate` has written. Django's own flush empties these too, then writes them again.
WRITTEN_BY_MIGRATE = {"django_content_type", "auth_permission"}


def delete_rows_instead_of_flush() -> None:
    """A flush takes 0.1 s of Python and, on PostgreSQL, 0.2 s: new files for every table and index.

    Rows that few tests wrote are deleted in a twentieth of that.
    """
    TransactionTestCase._fixture_teardown = lambda _: delete_all_rows()  # type: ignore[attr-defined]


def delete_all_rows() -> None:
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Else each foreign key is looked up, and the audit log refuses (migration 0003).
            cursor.execute("SET LOCAL session_replication_role = replica")
        for table in sorted(set(tables) - WRITTEN_BY_MIGRATE):
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")  # noqa: S608
