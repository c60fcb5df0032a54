"""Migrations while somebody works with the tables, on PostgreSQL: nobody waits long for one."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard.maintenance import migration_executor
from dashboard.monitoring import readiness
from tests.deadlocks import LOCK_WAITER_SQL
from tests.settings import ON_POSTGRES

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not ON_POSTGRES, reason="SQLite serves one machine"),
]
TABLE = "dashboard_team"


class LockingMigration:
    """In the place of `migrate`: it locks a table, and changes nothing."""

    def __init__(self) -> None:
        self.applied, self.attempts = False, 0
        self.tried = Event()

    def __call__(self, *_: object, **__: object) -> None:
        self.attempts += 1
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {TABLE}")  # as ALTER TABLE does
        finally:
            self.tried.set()
        self.applied = True


@pytest.fixture
def migration(monkeypatch: pytest.MonkeyPatch) -> LockingMigration:
    migration = LockingMigration()
    monkeypatch.setattr(migration_executor, "apply_migrations", migration)
    monkeypatch.setattr(migration_executor, "is_migrated", lambda: migration.applied)
    monkeypatch.setattr(migration_executor, "TABLE_LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(migration_executor, "MIGRATION_RETRY_S", 0.05)
    return migration


@pytest.fixture
def other_connection(transactional_db: None) -> Iterator[BaseDatabaseWrapper]:
    """Somebody else's connection, which reads the table in a transaction, as a backup does."""
    other = connection.copy()
    other.inc_thread_sharing()
    other.set_autocommit(False)
    try:
        command_output(other, f"TABLE {TABLE}")
        yield other
    finally:
        other.rollback()
        other.close()


def command_output(asked: BaseDatabaseWrapper, query: str) -> object:
    with asked.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()


def test_a_migration_gives_way_and_comes_again(
    migration: LockingMigration, other_connection: BaseDatabaseWrapper
) -> None:
    def read_and_go() -> None:
        migration.tried.wait()
        other_connection.rollback()

    with ThreadPoolExecutor(1) as pool:
        gone = pool.submit(read_and_go)
        migration_executor.migrate_with_retries(timeout_s=300)
        gone.result()

    assert migration.applied
    assert migration.attempts > 1


def test_a_table_that_is_always_in_use_is_reported(
    migration: LockingMigration, other_connection: BaseDatabaseWrapper
) -> None:
    with pytest.raises(migration_executor.MigrationBlockedError):
        migration_executor.migrate_with_retries(timeout_s=0.2)
    assert not migration.applied


def test_prepare_says_what_holds_it_up(
    migration: LockingMigration,
    other_connection: BaseDatabaseWrapper,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    settings.DEMO = "none"  # else it waits for a sandbox
    monkeypatch.setattr(
        migration_executor, "MIGRATION_RETRY_S", migration_executor.MIGRATION_TIMEOUT_S
    )
    with pytest.raises(CommandError, match="stayed locked, by a backup"):
        call_command("prepare")


def test_another_error_of_the_database_is_not_tried_again(
    migration: LockingMigration, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        migration.attempts += 1
        raise OperationalError("gone")

    monkeypatch.setattr(migration_executor, "apply_migrations", away)
    with pytest.raises(OperationalError, match="gone"):
        migration_executor.migrate_with_retries()
    assert migration.attempts == 1


def test_two_who_start_at_once_migrate_once(
    migration: LockingMigration, other_connection: BaseDatabaseWrapper
) -> None:
    command_output(other_connection, f"SELECT pg_advisory_lock({migration_executor.ADVISORY_LOCK})")

    def migrate_and_go() -> None:
        while command_output(other_connection, LOCK_WAITER_SQL) is None:
            Event().wait(0.02)
        migration.applied = True
        command_output(
            other_connection, f"SELECT pg_advisory_unlock({migration_executor.ADVISORY_LOCK})"
        )

    with ThreadPoolExecutor(1) as pool:
        gone = pool.submit(migrate_and_go)
        migration_executor.migrate_with_retries(timeout_s=300)
        gone.result()

    assert migration.attempts == 0


def test_afterwards_a_statement_waits_as_long_as_before(migration: LockingMigration) -> None:
    migration_executor.migrate_with_retries()
    assert command_output(connection, "SHOW lock_timeout") == ("0",)


def test_the_database_of_a_later_release_is_no_reason_not_to_be_ready() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('proxyapi', '9999', now())"
        )
    try:
        assert migration_executor.is_migrated()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM django_migrations WHERE name = '9999'")
    assert not readiness.check_database()
