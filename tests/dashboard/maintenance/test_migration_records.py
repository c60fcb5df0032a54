"""A migration is noted with what it does, or neither: whoever is killed can go on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection, models
from django.db.migrations import CreateModel, Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from dashboard.maintenance import migration_executor

pytestmark = pytest.mark.django_db(transaction=True)
TABLE, KEY = "dashboard_throwaway", ("dashboard", "9999_throwaway")


class Killed(BaseException):
    """The end of the process, in the middle of what it did."""


class ThrowawayMigration(Migration):
    """A new table, whose index and reference are made when it stands."""

    operations = [
        CreateModel(
            "Throwaway",
            [
                ("id", models.BigAutoField(primary_key=True)),
                ("team", models.ForeignKey("dashboard.Team", models.CASCADE)),
            ],
        )
    ]


@pytest.fixture
def migration() -> Iterator[Migration]:
    made = ThrowawayMigration(KEY[1], KEY[0])
    yield made
    if TABLE in connection.introspection.table_names():
        executor = MigrationExecutor(connection)
        executor.unapply_migration(executor.loader.project_state(), made)


def apply(migration: Migration) -> None:
    executor = migration_executor.AtomicMigrationExecutor(connection)
    executor.apply_migration(executor.loader.project_state(), migration)


def table_state() -> tuple[bool, bool]:
    """Whether the table is there, and whether it is noted."""
    noted = MigrationRecorder(connection).applied_migrations()
    return TABLE in connection.introspection.table_names(), KEY in noted


def test_who_is_killed_before_it_is_noted_finds_no_table(
    migration: Migration, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as killing, pytest.raises(Killed):
        killing.setattr(migration_executor.AtomicMigrationExecutor, "record_migration", kill)
        apply(migration)
    assert table_state() == (False, False)
    apply(migration)
    assert table_state() == (True, True)


def test_what_was_put_off_to_the_end_is_done(migration: Migration) -> None:
    apply(migration)
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, TABLE).values()
    on_team = [it for it in found if it["columns"] == ["team_id"]]
    assert any(it["index"] for it in on_team)
    assert [it["foreign_key"] for it in on_team if it["foreign_key"]] == [("dashboard_team", "id")]


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The migrations that would be applied, of which none is."""
    applied: list[tuple[str, str]] = []

    def note(
        _: migration_executor.AtomicMigrationExecutor,
        state: object,
        migration: Migration,
        **__: object,
    ) -> object:
        applied.append((migration.app_label, migration.name))
        return state

    monkeypatch.setattr(migration_executor.AtomicMigrationExecutor, "apply_migration", note)
    return applied


def test_only_what_is_missing_is_applied(applied: list[tuple[str, str]]) -> None:
    migration_executor.apply_migrations()
    assert applied == []
    missing = "sessions", "0001_initial"
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied(*missing)
    try:
        migration_executor.apply_migrations()
    finally:
        recorder.record_applied(*missing)
    assert applied == [missing]


def test_other_apps_are_migrated_before_there_are_models_of_ours_to_render(
    applied: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda _: {})
    migration_executor.apply_migrations()
    of_others = {key for key in applied if key[0] not in migration_executor.OUR_APPS}
    assert {"account", "mfa", "sessions", "usersessions"} <= {app for app, _ in of_others}
    before = set(applied[: applied.index(("proxyapi", "0001_initial"))])
    assert before == of_others | {("dashboard", "0001_initial")}
