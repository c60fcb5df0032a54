"""How names are chosen: classes and functions that can be searched for, in today's vocabulary.

The portal is `dashboard` and `proxyapi` without migrations; the sandbox has names of its own.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Django finds these by their name.
FRAMEWORK_CLASSES = {"Command", "Meta", "Media"}
# Participles without an ending in -ed; `read` and `sent` need an object, as in `read_status`.
IRREGULAR_PARTICIPLE = re.compile(
    r"begun|bound|broken|built|chosen|done|drawn|fallen|felt|forgotten|found|frozen|given|"
    r"gone|heard|held|hidden|kept|known|laid|left|lent|lost|made|meant|met|paid|put|read|said|"
    r"seen|sent|set|shown|shut|sold|spent|split|spoken|stolen|stood|taken|taught|thought|told|"
    r"torn|understood|woken|won|written"
)
VERBS_IN_ED = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"}
# Words of the private vocabulary that was given up. docs/glossary.md has what replaced them.
OLD_WORD = re.compile(
    r"allowance|ask|asker|asks|books|caps|deed|door|doorbell|doors|"
    r"experience|gate|glance|glances|heard|heir|heirs|house|laid|lane|lanes|"
    r"lay|look|looks|mend|news|noted|orphan|pace|parked|parking|patience|"
    r"patrol|pour|purse|sayings|seat|shelf|shelved|sight|spine|standing|"
    r"tell|tightest|told|unlaid|unseen|variety|waits|warden|watching|"
    r"weigh|weighed|weighing|weighs|wish|wishes"
)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Definition:
    """A class or function, by its name and where it is: `dashboard/tasks.py:12`."""

    name: str
    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def find_duplicate_classes(root: Path) -> Iterator[str]:
    places: dict[str, list[Definition]] = defaultdict(list)
    for path, tree in portal_modules(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in FRAMEWORK_CLASSES:
                places[node.name].append(Definition(node.name, path, node.lineno))
    for name, found in places.items():
        if len(found) > 1:
            yield f"{found[1]}: class {name} is also in {found[0]}; class names are unique"


def find_bare_participles(root: Path) -> Iterator[str]:
    for function in public_functions(root):
        if is_bare_participle(function.name):
            yield f"{function}: {function.name} is a participle; use a verb and its object, or is_"


def is_bare_participle(name: str) -> bool:
    regular = name.isalpha() and name.endswith("ed") and name not in VERBS_IN_ED
    return regular or IRREGULAR_PARTICIPLE.fullmatch(name) is not None


def find_old_words(root: Path) -> Iterator[str]:
    for path, tree in portal_modules(root):
        names = [Definition(part, path, 1) for part in path.with_suffix("").parts]
        names += [
            Definition(node.name, path, node.lineno)
            for node in ast.walk(tree)
            if isinstance(node, Function | ast.ClassDef)
        ]
        for definition in names:
            for word in sorted(filter(OLD_WORD.fullmatch, words_of(definition.name))):
                yield f"{definition}: “{word}” in {definition.name} is of the old vocabulary"


def words_of(name: str) -> set[str]:
    return {word.lower() for word in WORD.findall(name)}


def public_functions(root: Path) -> Iterator[Definition]:
    """Functions of a module that others may call; views, urls and commands are called by Django."""
    for path, tree in portal_modules(root):
        if {"urls", "views", "commands"} & set(path.with_suffix("").parts):
            continue
        for node in tree.body:
            if isinstance(node, Function) and not node.name.startswith("_"):
                yield Definition(node.name, path, node.lineno)


@cache
def portal_modules(root: Path) -> list[tuple[Path, ast.Module]]:
    return [
        (path.relative_to(root), ast.parse(path.read_text(encoding="utf-8")))
        for package in ("dashboard", "proxyapi")
        for path in sorted((root / package).rglob("*.py"))
        if "migrations" not in path.parts and not path.is_relative_to(root / "proxyapi" / "sandbox")
    ]
