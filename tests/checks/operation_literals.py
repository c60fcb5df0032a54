"""Names of operations are written in `proxyapi/operations`, `proxyapi/kinds` and the studio flows.

Elsewhere each one is a place that a new operation may have to touch. `MAX_LITERALS` may only fall.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MAX_LITERALS = 19
PACKAGES = ("proxyapi", "dashboard")
TABLES = ("proxyapi/operations", "proxyapi/kinds", "dashboard/studio/flows")
EXEMPT = (*TABLES, "proxyapi/sandbox", "proxyapi/migrations", "dashboard/migrations")


def find_operation_literals(root: Path) -> Iterator[str]:
    """Every literal when there are too many; a single line when the limit can be lowered."""
    names = operation_names(root)
    found = [hit for package in PACKAGES for hit in literals_below(root, root / package, names)]
    if len(found) > MAX_LITERALS:
        yield f"{len(found)} names of operations outside their table, {MAX_LITERALS} are allowed:"
        yield from found
    elif len(found) < MAX_LITERALS:
        yield f"tests/checks/operation_literals.py: lower MAX_LITERALS to {len(found)}"


def operation_names(root: Path) -> set[str]:
    """Every string in the table that reads `area.verb` and is the first argument of a row."""
    tree = ast.parse((root / "proxyapi/operations/table.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    first = [call.args[0] for call in calls if getattr(call.func, "id", "").endswith("_row")]
    return {str(node.value) for node in first if isinstance(node, ast.Constant)}


def literals_below(root: Path, package: Path, names: set[str]) -> Iterator[str]:
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if place.startswith(EXEMPT):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in names:
                yield f"{place}:{node.lineno}: {node.value}"
