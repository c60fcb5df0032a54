"""A migration hurts no release that still serves, by the SQL that PostgreSQL gets of it.

The one before its own reads and writes the same tables meanwhile
(docs/decisions/0014-releases-overlap.md).
"""

from __future__ import annotations

import pytest
from django.db import connection, models
from django.db.migrations import AddConstraint, AddField, Migration
from django.db.migrations.loader import MigrationLoader
from django_migration_linter import MigrationLinter
from django_migration_linter.sql_analyser.analyser import analyse_sql_statements

from tests.settings import ON_POSTGRES

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not ON_POSTGRES, reason="SQLite serves one machine"),
]
# Up to these nobody served meanwhile.
FIRST_RELEASE = {"dashboard": "0002_initial", "proxyapi": "0002_title_statistics"}
# They drop what the release before its own does not use any more; that is for a reader to see.
CONTRACTS: frozenset[tuple[str, str]] = frozenset()
# Unique indexes that the release before cannot break: of rows that it does not write, or that were
# unique before.
UNIQUE_ALREADY = {
    ("dashboard", "0006_several_webhooks"),
    ("dashboard", "0012_narrow_budgets"),
    ("proxyapi", "0005_gateway"),
}


@pytest.fixture
def linter() -> MigrationLinter:
    return MigrationLinter(no_cache=True, no_output=True)


@pytest.fixture
def ours() -> dict[tuple[str, str], Migration]:
    migrations = MigrationLoader(None).disk_migrations
    return {key: migrations[key] for key in migrations if key[0] in FIRST_RELEASE}


def test_later_migrations_take_nothing_away(
    linter: MigrationLinter, ours: dict[tuple[str, str], Migration]
) -> None:
    for (app, name), migration in ours.items():
        if name > FIRST_RELEASE[app] and (app, name) not in CONTRACTS:
            linter.exclude_migration_tests = (
                {"ADD_UNIQUE"} if (app, name) in UNIQUE_ALREADY else set()
            )
            linter.lint_migration(migration)
            assert not linter.has_errors, f"{app} {name}; ask: manage.py sqlmigrate {app} {name}"


class MandatoryColumn(Migration):
    """The release before it inserts teams without this column."""

    operations = [AddField("team", "slogan", models.CharField(max_length=10, default=""))]


class UniqueName(Migration):
    """The release before it writes the same name twice."""

    operations = [
        AddConstraint("team", models.UniqueConstraint(fields=["name"], name="team_name_unique"))
    ]


@pytest.mark.parametrize("migration", [MandatoryColumn, UniqueName])
def test_what_would_hurt_is_seen(migration: type[Migration], linter: MigrationLinter) -> None:
    state = MigrationLoader(connection).project_state()
    with connection.schema_editor(collect_sql=True) as editor:
        migration("9999", "dashboard").apply(state, editor, collect_sql=True)
    errors, _, _ = analyse_sql_statements(linter.sql_analyser_class, editor.collected_sql, set())
    assert errors
