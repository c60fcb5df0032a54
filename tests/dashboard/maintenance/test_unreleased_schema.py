"""A database of a version before the first release ends a start with a sentence, unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from dashboard.maintenance import migration_executor

pytestmark = pytest.mark.django_db(transaction=True)
RENAMED = "ALTER TABLE {} RENAME TO {}"


@pytest.fixture
def unreleased_schema() -> Iterator[None]:
    """As it was then: another name of a table, and migrations that are gone."""
    recorder, gone = MigrationRecorder(connection), ("proxyapi", "0003_books")
    tables = "proxyapi_balancerebase", "proxyapi_vault"
    with connection.cursor() as cursor:
        cursor.execute(RENAMED.format(*tables))
        recorder.record_applied(*gone)
        yield
        recorder.record_unapplied(*gone)
        cursor.execute(RENAMED.format(*reversed(tables)))


def test_prepare_says_that_it_cannot_be_migrated(unreleased_schema: None, settings: Any) -> None:
    settings.DEMO = "none"  # else it waits for a sandbox
    before = MigrationRecorder(connection).applied_migrations().keys()
    with pytest.raises(CommandError, match=r"before its first release.*Nothing was changed"):
        call_command("prepare")
    assert MigrationRecorder(connection).applied_migrations().keys() == before


def test_this_version_and_a_later_one_are_no_reason_to_stop() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("proxyapi", "9999_later")
    try:
        migration_executor.check_released_schema()
    finally:
        recorder.record_unapplied("proxyapi", "9999_later")


def test_an_empty_database_is_one_to_begin_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda _: {})
    monkeypatch.setattr(connection.introspection, "table_names", list)
    migration_executor.check_released_schema()
