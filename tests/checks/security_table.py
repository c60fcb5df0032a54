"""docs/security.md: each requirement has a state, and each test that it names exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROW = re.compile(r"^\| (?P<ids>\d[\d., –]*) \| (?P<what>[^|]+) \| (?P<state>[^|]+) \|$")
STATES = ("met by ", "not applicable: ", "open: ")
TEST_NAME = re.compile(r"`(test_\w+)`")
RULE_NAME = re.compile(r"“([^”]+)”")
DEFINED_TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)
DEFINED_RULE = re.compile(r'^    \(\s*"([\w, ’\']+)",', re.MULTILINE)


def find_security_table_problems(root: Path) -> Iterator[str]:
    tests = {
        name
        for path in (root / "tests").rglob("test_*.py")
        for name in DEFINED_TEST.findall(path.read_text(encoding="utf-8"))
    }
    rules = set(DEFINED_RULE.findall((root / "tests/checks/__main__.py").read_text()))
    table = (root / "docs" / "security.md").read_text(encoding="utf-8")
    yield from (f"docs/security.md:{text}" for text in table_problems(table, tests, rules))


def table_problems(table: str, tests: set[str], rules: set[str]) -> Iterator[str]:
    seen: set[str] = set()
    for number, line in enumerate(table.splitlines(), start=1):
        if line.startswith("## "):  # each standard counts its own requirements
            seen.clear()
        if (row := ROW.match(line)) is None:
            continue
        ids, state = row["ids"], row["state"]
        if ids in seen:
            yield f"{number}: {ids} has two rows"
        seen.add(ids)
        if not state.startswith(STATES):
            yield f"{number}: {ids} has none of the states {', '.join(map(repr, STATES))}"
        for name in set(TEST_NAME.findall(state)) - tests:
            yield f"{number}: {ids} names the test {name}, which does not exist"
        for name in set(RULE_NAME.findall(state)) - rules:
            yield f"{number}: {ids} names “{name}”, which make check does not have"
        if state.startswith("met") and not (TEST_NAME.search(state) or RULE_NAME.search(state)):
            yield f"{number}: {ids} is met by nothing that is run"
