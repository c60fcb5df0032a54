"""The table of endpoints in docs/sandbox.md holds the rows of the specification's tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.contract import spec
from tests.contract.spec import NOT_SHOWN, Endpoint

ROW = re.compile(r"^\| ([A-Z]+)( \(`scene_edit_method`\))? `(/[^`]*)` \|", re.MULTILINE)


def find_endpoint_differences(root: Path) -> Iterator[str]:
    yield from compare_endpoint_table((root / "docs" / "sandbox.md").read_text(encoding="utf-8"))


def compare_endpoint_table(page: str) -> Iterator[str]:
    listed = {Endpoint(NOT_SHOWN if row[2] else row[1], row[3]) for row in ROW.finditer(page)}
    for endpoint in sorted(spec.endpoints() - listed):
        yield f"docs/sandbox.md: {endpoint} is missing"
    for endpoint in sorted(listed - spec.endpoints()):
        yield f"docs/sandbox.md: {endpoint} is not in the specification"
