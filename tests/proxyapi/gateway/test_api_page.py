"""docs/api.md names every scope and error code of the gateway, and none that does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from proxyapi import calls
from proxyapi.models import KeyScope
from proxyapi.upstream import errors

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
CODE_RE = re.compile(r'"([A-Z]+(?:-[A-Z]+)+)"')


def own_codes() -> set[str]:
    """Codes in the source of the gateway, and those of requests without an answer."""
    sources = (ROOT / "proxyapi" / "gateway").glob("*.py")
    named = {code for file in sources for code in CODE_RE.findall(file.read_text())}
    kinds = (errors.NotSent, errors.OutcomeUnknown, calls.TokenUnusable)
    found = {error for kind in kinds for error in subclasses(kind)}
    # What a job's kind finds out before a charge is about drafts, which scripts have none of. A
    # request that cannot be sent is answered with a code of the gateway.
    here = (errors.__name__, calls.__name__)
    found = {error for error in found if error.__module__ in here} - {errors.UnsendableRequest}
    return named | {error.code for error in found}


def subclasses(kind: type[errors.UpstreamError]) -> Iterator[type[errors.UpstreamError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from subclasses(below)


def listed_codes() -> set[str]:
    table = PAGE[PAGE.index("## Errors") :]
    rows = [line.split("|")[2] for line in table.splitlines() if re.match(r"\| \d{3} ", line)]
    return {code for row in rows for code in re.findall(r"`([A-Z-]+)`", row)}


def test_the_table_of_errors_is_complete_and_has_no_other_code() -> None:
    assert listed_codes() == own_codes()


def test_each_scope_is_explained() -> None:
    assert set(re.findall(r"^\| `([a-z]+)` \|", PAGE, re.M)) == set(KeyScope)
