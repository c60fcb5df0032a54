"""The database's schema, changed while an earlier release still serves on it.

One changes it at a time, and nobody waits long for it: PostgreSQL lets no query pass a statement
that waits for a table, so that one gives up soon and is tried again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg.errors
from django.db import OperationalError, connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

OUR_APPS = ("dashboard", "proxyapi")
ADVISORY_LOCK = 0x5245454C  # any number, the same in every release
TABLE_LOCK_TIMEOUT = "2s"  # so long everybody else waits with it
MIGRATION_RETRY_S = 3.0  # seconds, in which those catch up
MIGRATION_TIMEOUT_S = 600.0  # seconds; then it is better that somebody knows


class MigrationBlockedError(Exception):
    """A table was in use for as long as anybody has patience."""


class UnreleasedSchemaError(Exception):
    """The database was made by a version before the first release, whose migrations are gone."""


class AtomicMigrationExecutor(MigrationExecutor):
    """Notes a migration in the transaction that applies it.

    Django does so after its end where statements were put off to that, as for every new table with
    an index: whoever is killed in between finds tables that nothing has noted, and cannot go on.
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
    """Whether every migration of this release is applied; a later release may have more."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def check_released_schema() -> None:
    """Raises `UnreleasedSchemaError` where a table is missing that an applied migration made.

    Migrations started anew with the first release, under names that were applied before.
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
    executor = AtomicMigrationExecutor(connection)
    executor.loader.check_consistent_history(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def migrate_with_retries(patience: float = MIGRATION_TIMEOUT_S) -> None:
    """Apply the migrations of this release, for at most `patience` seconds while a table is in use.

    Raises `MigrationBlockedError`, `UnreleasedSchemaError`, and `OperationalError` when the
    database does not answer. What was applied until then stays, each migration as a whole.
    """
    until = time.monotonic() + patience
    with migration_lock():
        check_released_schema()
        while not is_migrated():
            try:
                apply_migrations()
            except OperationalError as error:
                if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                    raise
                if time.monotonic() + MIGRATION_RETRY_S > until:
                    raise MigrationBlockedError from error
                time.sleep(MIGRATION_RETRY_S)


@contextmanager
def migration_lock() -> Iterator[None]:
    """Wait for whoever else changes the schema. SQLite has one house, which prepares once."""
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
