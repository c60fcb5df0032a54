"""A migration hurts no release that still serves, by the SQL that PostgreSQL gets of it.

The one before its own reads and writes the same tables meanwhile
(docs/decisions/0014-releases-overlap.md).
"""

from __future__ import annotations

import pytest
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django_migration_linter import MigrationLinter

from tests.settings import ON_POSTGRES

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one house"),
]
# Up to these nobody served meanwhile.
FIRST_RELEASE = {"dashboard": "0006_audit_of_action", "proxyapi": "0033_filled_months"}
# They drop what the release before its own does not use any more; that is for a reader to see.
CONTRACTS: frozenset[tuple[str, str]] = frozenset()


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
            linter.lint_migration(migration)
            assert not linter.has_errors, f"{app} {name}; ask: manage.py sqlmigrate {app} {name}"


@pytest.mark.parametrize(
    "name", ["0005_top_up_changes", "0023_entry_indexes"], ids=["no default", "unique"]
)
def test_what_would_hurt_is_seen(
    name: str, linter: MigrationLinter, ours: dict[tuple[str, str], Migration]
) -> None:
    linter.lint_migration(ours["proxyapi", name])
    assert linter.has_errors
