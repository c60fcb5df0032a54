"""The tables of the specification, read out of the copy in docs/spec."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

SPEC = Path(__file__).parents[2] / "docs" / "spec" / "video-generation-api-v2.md"
METHODS = "GET|POST|PUT|PATCH|DELETE"
NOT_SHOWN = "not shown"

Row = tuple[str, ...]


class Endpoint(NamedTuple):
    """`method` is `not shown` for the rows whose method stands in brackets."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@cache
def spec_text() -> str:
    return SPEC.read_text(encoding="utf-8")


def read_table(before: str, *, nth: int = 0) -> list[Row]:
    """The cells of the nth table after a line that begins so, without its head."""
    after = spec_text()[spec_text().index(f"\n{before}") :]
    found = re.findall(r"(?:^\|.*\n?)+", after, re.MULTILINE)[nth]
    rows = [tuple(cell.strip() for cell in line[1:-1].split("|")) for line in found.splitlines()]
    return rows[2:]


def read_bullets(before: str) -> list[str]:
    """The points of the list after a line that begins so."""
    lines = spec_text()[spec_text().index(f"\n{before}") :].splitlines()[2:]
    points = []
    for line in lines:
        if not line.startswith("- "):
            break
        points.append(line.removeprefix("- "))
    return points


def read_numbered_list(before: str) -> list[str]:
    """The sentences of the numbered list after a line that begins so."""
    lines = spec_text()[spec_text().index(f"\n{before}") :].splitlines()[2:]
    sentences = []
    for line in lines:
        found = re.match(r"\d+\. (.*)", line)
        if found is None:
            break
        sentences.append(found[1])
    return sentences


def endpoints() -> set[Endpoint]:
    """Every endpoint of the endpoint tables and of the table of typed shortcuts."""
    listed = _section("\n## Endpoints", "\n### Gaps in this part")
    found = {
        Endpoint(NOT_SHOWN if row[1].startswith("(") else row[1], row[2])
        for row in re.finditer(rf"^\| ({METHODS}|\(\w+\)) \| (/\S+) \|", listed, re.MULTILINE)
    }
    for module in re.finditer(r"^\| (/[\w-]+) \(type [\w-]+\) \| (.+) \|", listed, re.MULTILINE):
        own = {Endpoint(*it) for it in re.findall(rf"({METHODS}) (/[\w{{}}/-]+)", module[2])}
        if "same set" in module[2]:
            own |= {
                Endpoint(it.method, it.path.replace("/b-roll", module[1]))
                for it in found
                if it.path.startswith("/b-roll")
            }
        found |= own
    return found


def error_codes() -> dict[str, str]:
    """The status of every error code, `5xx` for GEN-API-ERROR."""
    return {
        code: row[1]
        for row in read_table("## Errors")
        for code in re.findall(r"[A-Z][A-Z-]+", row[0])
    }


def gate_codes() -> dict[str, str]:
    """The error codes of authentication and plan, with who gets them (Authentication 5)."""
    return {row[0]: row[1] for row in read_table("5. Rejections are 403")}


def preconditions() -> dict[str, str]:
    return {row[0]: row[1] for row in read_table("### Faceless render preconditions")}


def other_cases() -> list[str]:
    return read_bullets("Other cases:")


def limits() -> dict[str, str]:
    return {row[0]: row[1] for row in read_table("## Limits")}


def charges() -> dict[str, str]:
    return {row[0]: row[1] for row in read_table("Credit charges:")}


def top_up_body() -> dict[str, str]:
    return {row[0]: row[2] for row in read_table("PUT /account/auto-topup body:")}


def top_up_rules() -> list[str]:
    return read_numbered_list("Rules for PUT /account/auto-topup:")


def states() -> list[Row]:
    """Resource, state, moved by, condition, next state, other effects."""
    return read_table("## States and transitions")


def _section(start: str, end: str) -> str:
    return spec_text()[spec_text().index(start) : spec_text().index(end)]
