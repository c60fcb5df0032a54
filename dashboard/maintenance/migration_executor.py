"""Migrations of the database while the previous release still serves requests.

Only one process migrates at a time, and others do not wait long for it: in PostgreSQL every query
queues behind a statement that waits for a table lock, so that statement times out and is retried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

OUR_APPS = ("dashboard", "proxyapi")
ADVISORY_LOCK = 0x5245454C  # any number, the same in every release
TABLE_LOCK_TIMEOUT = "2s"  # other queries on the table wait that long too
LOCK_NOT_AVAILABLE = "55P03"  # SQLSTATE of PostgreSQL; psycopg is imported only where it is used
MIGRATION_RETRY_S = 3.0  # pause in which other queries catch up
MIGRATION_TIMEOUT_S = 600.0  # then the start fails, so that an operator notices


class MigrationBlockedError(Exception):
    """A table was in use for longer than the migration may wait."""


class UnreleasedSchemaError(Exception):
    """The database was made before the first release, whose migrations no longer exist."""


class AtomicMigrationExecutor(MigrationExecutor):
    """Records a migration in the transaction that applies it.

    Django records it afterwards if statements were deferred, as for every new table with an index.
    If the process is killed in between, the tables exist without a record, and no later run can
    proceed.
    """

    def apply_migration(
        self,
        state: ProjectState,
        migration: Migration,
        fake: bool = False,
        fake_initial: bool = False,
    ) -> ProjectState:
        if not migration.atomic:
            return super().apply_migration(state, migration, fake, fake_initial)
        with self.connection.schema_editor(atomic=True) as editor:
            state = migration.apply(state, editor)
            for statement in editor.deferred_sql:
                editor.execute(statement, None)
            editor.deferred_sql.clear()
            self.record_migration(migration)  # type: ignore[arg-type,call-arg]  # as of Django 5.2
        return state


def is_migrated() -> bool:
    """True if every migration of this release is applied; a later release may have more."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def check_released_schema() -> None:
    """Raise `UnreleasedSchemaError` if a table of an applied migration is missing.

    Migrations started again with the first release, under names that had been applied before.
    """
    loader = MigrationLoader(connection)
    applied = [key for key in loader.disk_migrations if key in loader.applied_migrations]
    state = loader.project_state([key for key in applied if key[0] in OUR_APPS])
    expected = {
        model.options.get("db_table") or f"{app}_{name}"
        for (app, name), model in state.models.items()
        if app in OUR_APPS
    }
    missing = expected - set(connection.introspection.table_names())
    if missing:
        raise UnreleasedSchemaError(", ".join(sorted(missing)))


def apply_migrations() -> None:
    """Those of other apps come first: while our models are in Django's state, each change of a
    table that refers to users renders all of them again."""
    for is_ours in (False, True):
        executor = AtomicMigrationExecutor(connection)
        executor.loader.check_consistent_history(connection)
        leaf_nodes = executor.loader.graph.leaf_nodes()
        executor.migrate([node for node in leaf_nodes if (node[0] in OUR_APPS) is is_ours])


def migrate_with_retries(timeout_s: float = MIGRATION_TIMEOUT_S) -> None:
    """Apply the migrations of this release; retry for at most `timeout_s` seconds while a table is
    in use.

    Raises `MigrationBlockedError`, `UnreleasedSchemaError`, and `OperationalError` if the database
    does not answer. Migrations applied until then stay, each complete.
    """
    deadline = time.monotonic() + timeout_s
    with migration_lock():
        check_released_schema()
        while not is_migrated():
            try:
                apply_migrations()
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", None) != LOCK_NOT_AVAILABLE:
                    raise
                if time.monotonic() + MIGRATION_RETRY_S > deadline:
                    raise MigrationBlockedError from error
                time.sleep(MIGRATION_RETRY_S)


@contextmanager
def migration_lock() -> Iterator[None]:
    """Wait until no other process migrates. SQLite needs no lock: one installation prepares
    once."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [TABLE_LOCK_TIMEOUT])
        try:
            yield
        finally:
            cursor.execute("RESET lock_timeout")
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])
