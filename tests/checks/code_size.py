"""How long a file and a function may be (docs/contributing.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MAX_PYTHON_FILE_LINES, MAX_TEMPLATE_LINES, MAX_SCRIPT_LINES = 400, 100, 50
MAX_FUNCTION_LINES, MAX_VIEW_LINES, MAX_TASK_LINES, MAX_MODEL_METHOD_LINES, MAX_TEST_LINES = (
    50,
    40,
    15,
    35,
    40,
)
MAX_TEMPLATE_LINE_CHARACTERS, MAX_STYLE_SHEET_LINE_CHARACTERS = 140, 120
CHECKED_PACKAGES = ("dashboard", "proxyapi", "tests")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_long_code(root: Path) -> Iterator[str]:
    for package in CHECKED_PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield from find_long_python(path.relative_to(root), path.read_text())
    yield from find_long_files(root, "templates", "*.html", MAX_TEMPLATE_LINES)
    yield from find_long_files(root, "static", "*.js", MAX_SCRIPT_LINES)
    yield from find_long_lines(root, "templates", "*.html", MAX_TEMPLATE_LINE_CHARACTERS)
    yield from find_long_lines(root, "static", "*.css", MAX_STYLE_SHEET_LINE_CHARACTERS)


def find_long_python(path: Path, source: str) -> Iterator[str]:
    lines = source.count("\n")
    if lines > MAX_PYTHON_FILE_LINES:
        yield f"{path}: {lines} lines, at most {MAX_PYTHON_FILE_LINES}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            length, limit = function_length(node), function_limit(path, node)
            if length > limit:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, at most {limit}"


def function_length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def function_limit(path: Path, node: Function) -> int:
    if path.parts[0] == "tests":
        return MAX_TEST_LINES if node.name.startswith("test_") else MAX_FUNCTION_LINES
    if "views" in path.with_suffix("").parts:
        return MAX_VIEW_LINES
    if path.stem == "tasks":
        return MAX_TASK_LINES
    return MAX_MODEL_METHOD_LINES if "models" in path.parts else MAX_FUNCTION_LINES


def find_long_files(root: Path, folder: str, pattern: str, limit: int) -> Iterator[str]:
    for path in sorted((root / folder).rglob(pattern)):
        lines = path.read_text().count("\n")
        if lines > limit:
            yield f"{path.relative_to(root)}: {lines} lines, at most {limit}"


def find_long_lines(root: Path, folder: str, pattern: str, limit: int) -> Iterator[str]:
    for path in sorted((root / folder).rglob(pattern)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if len(line) > limit:
                yield f"{path.relative_to(root)}:{number}: {len(line)} characters, at most {limit}"
