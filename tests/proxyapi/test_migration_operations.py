"""`CreateModels`: the tables of one `CreateModel` after the other, and each model rendered once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection, models
from django.db.migrations import CreateModel, Migration
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from proxyapi.migration_operations import CreateModels

NAMES = ["Folder", "Paper", "Note"]
TABLES = {f"proxyapi_{name.lower()}" for name in NAMES}


def table_operations() -> list[CreateModel]:
    """Each table refers to the one before it, the last one to itself as well."""
    key = ("id", models.BigAutoField(primary_key=True))
    folder = models.ForeignKey("proxyapi.Folder", models.CASCADE)
    unique = models.UniqueConstraint(fields=["folder", "title"], name="paper_title_once")
    title = ("title", models.CharField(max_length=20))
    paper = models.ForeignKey("proxyapi.Paper", models.CASCADE)
    parent = models.ForeignKey("self", models.CASCADE, null=True)
    return [
        CreateModel("Folder", [key]),
        CreateModel("Paper", [key, title, ("folder", folder)], {"constraints": [unique]}),
        CreateModel("Note", [key, ("paper", paper), ("parent", parent)]),
    ]


def run(operations: Sequence[Operation], state: ProjectState) -> tuple[Migration, ProjectState]:
    """The migration, applied, and the state after it."""
    kind = type("PapersMigration", (Migration,), {"operations": list(operations)})
    migration: Migration = kind("9999_papers", "proxyapi")
    with connection.schema_editor(atomic=True) as editor:
        return migration, migration.apply(state, editor)


def undo(migration: Migration, state: ProjectState) -> None:
    with connection.schema_editor(atomic=True) as editor:
        migration.unapply(state, editor)


def described_tables() -> dict[str, list[str]]:
    """Columns and constraints of each of the tables that is there."""
    introspection, found = connection.introspection, dict[str, list[str]]()
    with connection.cursor() as cursor:
        for name in TABLES & set(introspection.table_names(cursor)):
            columns = introspection.get_table_description(cursor, name)
            constraints = introspection.get_constraints(cursor, name).values()
            kept = ((it["columns"], it["unique"], it["foreign_key"]) for it in constraints)
            found[name] = sorted(map(str, [*columns, *kept]))
    return found


@pytest.mark.django_db(transaction=True)
def test_it_creates_what_single_operations_create_and_removes_it_again() -> None:
    tables = []
    for operations in (table_operations(), [CreateModels(table_operations())]):
        migration, _ = run(operations, ProjectState())
        tables.append(described_tables())
        undo(migration, ProjectState())
        assert not described_tables()
    assert tables[0] == tables[1]
    assert tables[0].keys() == TABLES


@pytest.mark.django_db(transaction=True)
def test_it_renders_each_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []
    render = ModelState.render

    def note(model: ModelState, apps: Any) -> Any:
        rendered.append(model.name)
        return render(model, apps)

    state = ProjectState()
    state.apps  # noqa: B018 - as before every migration, Django renders what there is
    monkeypatch.setattr(ModelState, "render", note)
    migration, _ = run([CreateModels(table_operations())], state)
    monkeypatch.undo()
    undo(migration, ProjectState())
    assert sorted(rendered) == sorted(NAMES)


def test_the_state_is_that_of_the_single_operations() -> None:
    states = [ProjectState(), ProjectState()]
    for operation in table_operations():
        operation.state_forwards("proxyapi", states[0])
    CreateModels(table_operations()).state_forwards("proxyapi", states[1])
    assert states[0] == states[1]
