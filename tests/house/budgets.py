"""How long a file and a function may be: the "never above" column of the style."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PYTHON_FILE, TEMPLATE, SCRIPT = 400, 100, 50
FUNCTION, VIEW, TASK, MODEL_METHOD, TEST = 50, 40, 15, 35, 40
ROOMS = ("dashboard", "proxyapi", "tests")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def broken(root: Path) -> Iterator[str]:
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            if "migrations" not in path.parts:
                yield from of_python(path.relative_to(root), path.read_text())
    yield from of_lines(root, "templates", "*.html", TEMPLATE)
    yield from of_lines(root, "static", "*.js", SCRIPT)


def of_python(path: Path, source: str) -> Iterator[str]:
    lines = source.count("\n")
    if lines > PYTHON_FILE:
        yield f"{path}: {lines} lines, at most {PYTHON_FILE}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            length, limit = length_of(node), limit_of(path, node)
            if length > limit:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, at most {limit}"


def length_of(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def limit_of(path: Path, node: Function) -> int:
    if path.parts[0] == "tests":
        return TEST if node.name.startswith("test_") else FUNCTION
    if "views" in path.parts:
        return VIEW
    if path.stem == "tasks":
        return TASK
    return MODEL_METHOD if "models" in path.parts else FUNCTION


def of_lines(root: Path, folder: str, pattern: str, limit: int) -> Iterator[str]:
    for path in sorted((root / folder).rglob(pattern)):
        lines = path.read_text().count("\n")
        if lines > limit:
            yield f"{path.relative_to(root)}: {lines} lines, at most {limit}"
