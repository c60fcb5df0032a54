"""What code cites by number is in docs/: rules and pitfalls, and nothing that is elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PAGES = {"rule": "rules.md", "pitfall": "pitfalls.md"}
CITED = re.compile(
    r"\b(?P<page>rule|pitfall)s?[ _](?P<numbers>\d+(?:(?:_to_|_| to | and |, )\d+)*)", re.IGNORECASE
)
# `PUT rule 2` is one of the specification.
NOT_OURS = re.compile(r"\bPUT rule \d")
ELSEWHERE = re.compile(r"\b(?:look|style|proof|repairs|architecture) §|\b[Pp]roof [A-H]\d|\blaw \d")
SUFFIXES = {".py", ".html", ".css", ".js", ".md"}
SKIPPED = {"citations.py", "test_names.py"}


def find_wrong_citations(root: Path) -> Iterator[str]:
    known = {word: numbers_of(root / "docs" / page) for word, page in PAGES.items()}
    for folder in ("dashboard", "proxyapi", "templates", "static", "tests", "docs"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.name not in SKIPPED and "spec" not in path.parts:
                for complaint in wrong_citations(path.read_text(encoding="utf-8"), known):
                    yield f"{path.relative_to(root)}:{complaint}"


def numbers_of(page: Path) -> set[int]:
    text = page.read_text(encoding="utf-8")
    return {int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)}


def wrong_citations(text: str, known: dict[str, set[int]]) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        for cited in CITED.finditer(NOT_OURS.sub("", line)):
            word = cited["page"].lower()
            for missing in sorted(
                set(map(int, re.findall(r"\d+", cited["numbers"]))) - known[word]
            ):
                yield f"{number}: {word} {missing} is not in docs/{PAGES[word]}"
        if found := ELSEWHERE.search(line):
            yield f"{number}: “{found[0]}” is not in the repository; say it in words"
