"""A name in backticks in a docstring exists, so that renaming code cannot leave an old name
there."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

QUOTED_NAME = re.compile(r"`([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?`")
# A lower-case word alone may be an HTTP header, a command or a value; these are Python's.
PYTHON_NAME = re.compile(r"[A-Z]|\w+[._]\w+")


def find_unknown_names(root: Path) -> Iterator[str]:
    paths = [
        path
        for folder in ("dashboard", "proxyapi")
        for path in sorted((root / folder).rglob("*.py"))
        if "migrations" not in path.parts
    ]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    known = {part for path in paths for part in path.relative_to(root).with_suffix("").parts}
    for source in sources.values():
        known |= names_in_code(source)
    for path, source in sources.items():
        for line, name in quoted_names(source):
            if PYTHON_NAME.match(name) and not known.issuperset(name.split(".")):
                yield f"{path.relative_to(root)}:{line}: no code has `{name}`"


def names_in_code(source: str) -> set[str]:
    """Identifiers, and the words of short strings such as field and setting names."""
    names = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            names.add(token.string)
        elif token.type == tokenize.STRING and '"""' not in token.string:
            names.update(re.findall(r"\w+", token.string))
    return names


def quoted_names(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            line = getattr(node, "lineno", 1)
            for name in QUOTED_NAME.findall(ast.get_docstring(node) or ""):
                yield line, name
