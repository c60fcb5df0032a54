"""The rules about names and citations catch a breach, and let good names pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks import citations, docstring_names, names


@pytest.fixture
def portal(tmp_path: Path):
    """Writes modules: `portal({"dashboard/tasks.py": "def f(): ..."})` returns their root."""

    def write(modules: dict[str, str]) -> Path:
        for name, source in modules.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("first", "second", "complaints"),
    [
        ("class Row: ...", "class Row: ...", 1),
        ("class Row: ...", "def f():\n    class Row: ...", 1),
        ("class Row: ...", "class LedgerRow: ...", 0),
        ("class Row:\n    class Meta: ...", "class Card:\n    class Meta: ...", 0),
    ],
)
def test_a_class_name_stands_once_in_the_portal(portal, first, second, complaints):
    root = portal({"dashboard/library/queries.py": first, "proxyapi/ledger/rows.py": second})
    assert len(list(names.find_duplicate_classes(root))) == complaints


@pytest.mark.parametrize("path", ["proxyapi/sandbox/rows.py", "dashboard/migrations/0001_rows.py"])
def test_the_sandbox_and_migrations_have_names_of_their_own(portal, path):
    root = portal({"dashboard/rows.py": "class Row: ...", path: "class Row: ...\ndef told(): ..."})
    assert list(names.find_duplicate_classes(root)) == []
    assert list(names.find_bare_participles(root)) == []
    assert list(names.find_old_words(root)) == []


@pytest.mark.parametrize(
    ("name", "is_broken"),
    [
        *[(name, True) for name in ("told", "opened", "counted", "kept", "sent", "read", "ended")],
        *[(name, False) for name in ("read_status", "is_open", "seed", "decrypt", "percent")],
        ("_opened", False),
    ],
)
def test_a_public_function_is_no_bare_participle(portal, name, is_broken):
    root = portal({"proxyapi/charges/dispatch.py": f"def {name}(): ..."})
    assert bool(list(names.find_bare_participles(root))) is is_broken


@pytest.mark.parametrize(
    ("path", "source", "is_broken"),
    [
        ("dashboard/doorbell.py", "", True),
        ("proxyapi/watching/due.py", "", True),
        ("proxyapi/rate_limiter.py", "class LaneRow: ...", True),
        ("proxyapi/ledger/sync.py", "def f():\n    def take_weighing(): ...", True),
        ("proxyapi/ledger/sync.py", "def take_checkpoint(): ...", False),
        ("dashboard/library/task_lookup.py", "class OutlookCard: ...", False),
    ],
)
def test_the_old_vocabulary_does_not_come_back(portal, path, source, is_broken):
    assert bool(list(names.find_old_words(portal({path: source})))) is is_broken


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        ("Sent at most once (rule 2).", 0),
        ("As rule 11 says.", 1),
        ("def test_pitfall_33_ideas(): ...", 0),
        ("(pitfalls 5 to 12, 60 and 123)", 1),
        ("Spec, PUT rule 40.", 0),
        ("It is shown as said (look " + "§10.4).", 1),
        ("The one place (law " + "1).", 1),
    ],
)
def test_only_what_is_in_docs_is_cited(text, complaints):
    known = {"rule": set(range(1, 11)), "pitfall": set(range(1, 123))}
    assert len(list(citations.wrong_citations(text, known))) == complaints


def test_the_numbers_of_rules_and_pitfalls_have_no_gap():
    docs = Path(__file__).resolve().parents[2] / "docs"
    assert citations.numbers_of(docs / "rules.md") == set(range(1, 11))
    assert citations.numbers_of(docs / "pitfalls.md") == set(range(1, 123))


@pytest.mark.parametrize(
    ("docstring", "complaints"),
    [
        ("Raises `StaleData`.", 0),
        ("Raises `Stale`.", 1),
        ("As `tokens.store_token` does.", 0),
        ("As `tokens.ask_who` does.", 1),
        ("The header `retry`, or `StaleData` twice: `StaleData`.", 0),
    ],
)
def test_a_name_that_a_docstring_quotes_exists(portal, docstring, complaints):
    code = "class StaleData(Exception): ...\ndef store_token(): ...\n"
    root = portal({"proxyapi/tokens.py": f'"""{docstring}"""\n{code}', "dashboard/x.py": ""})
    assert len(list(docstring_names.find_unknown_names(root))) == complaints
