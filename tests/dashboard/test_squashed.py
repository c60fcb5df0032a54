"""The squashed migrations: a new database is as an old one, and each old one arrives there."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

Key = tuple[str, str]


def one_by_one() -> list[Key]:
    """All migrations in the order in which they were applied before any was squashed."""
    loader = MigrationLoader(None, replace_migrations=False)
    way: list[Key] = []
    for leaf in sorted(loader.graph.leaf_nodes()):
        if not loader.disk_migrations[leaf].replaces:
            way += [key for key in loader.graph.forwards_plan(leaf) if key not in way]
    return way


def test_squashed_they_leave_the_same_tables() -> None:
    loader = MigrationLoader(None)
    new = loader.project_state()
    unsquashed = MigrationLoader(None, replace_migrations=False).graph
    old = unsquashed.make_state(nodes=one_by_one(), at_end=True)
    for before, after in ((old, new), (new, old)):
        assert not MigrationAutodetector(before, after).changes(loader.graph)


def plan_after(applied: set[Key], monkeypatch: pytest.MonkeyPatch) -> list[Key]:
    """What is still to be applied, each squashed one as those that it replaces."""
    for key, migration in MigrationLoader(None).replacements.items():
        if applied.issuperset(migration.replaces):
            applied |= {key}  # so `migrate` notes it, whatever it does next
    monkeypatch.setattr(
        MigrationRecorder, "applied_migrations", lambda _: dict.fromkeys(applied, None)
    )
    executor = MigrationExecutor(connection)
    executor.loader.check_consistent_history(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [key for step, _ in plan for key in step.replaces or [(step.app_label, step.name)]]


def test_from_wherever_a_database_is_it_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    way = one_by_one()
    for done in range(len(way) + 1):
        assert sorted(plan_after({*way[:done]}, monkeypatch)) == sorted(way[done:]), way[:done]
