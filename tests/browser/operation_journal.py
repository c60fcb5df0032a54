"""Which operations of the spec the portal sent, as the sandbox's journal shows them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import httpx

from proxyapi.operations import OPERATIONS, Operation

SEEN_FILE_VARIABLE = "REELROOM_OPERATIONS_SEEN"
BASE_PATH = "/v2"


def operation_pattern(operation: Operation) -> re.Pattern[str]:
    return re.compile(BASE_PATH + re.sub(r"{\w+}", "[^/]+", operation.path))


# A literal path before one with parameters: /faceless/options is no video.
PATTERNS = sorted(
    ((operation_pattern(row), row) for row in OPERATIONS.values()),
    key=lambda pair: pair[1].path.count("{"),
)


def find_operation(method: str, path: str) -> Operation | None:
    """The operation of a request; the tables' methods that the spec does not show count as any."""
    matches = (row for pattern, row in PATTERNS if pattern.fullmatch(path))
    return next((row for row in matches if row.method == method), None)


class OperationJournal:
    """Reads on from where it read last; a named file gets a line for each operation first seen."""

    def __init__(self, sandbox: str) -> None:
        self.url = f"{sandbox}/_sandbox/journal"
        self.last_number = 0
        self.seen: set[str] = set()

    def read_new_operations(self) -> set[str]:
        """Return the names of the operations sent since the last call."""
        answer = httpx.get(
            self.url, params={"since": self.last_number}, trust_env=False, timeout=30
        )
        visits = answer.raise_for_status().json()
        self.last_number = max((visit["number"] for visit in visits), default=self.last_number)
        found = {find_operation(visit["method"], visit["path"]) for visit in visits}
        rows = {row.name: row for row in found if row is not None}
        self.append_to_seen_file([row for name, row in rows.items() if name not in self.seen])
        self.seen |= rows.keys()
        return set(rows)

    def append_to_seen_file(self, rows: list[Operation]) -> None:
        path = os.environ.get(SEEN_FILE_VARIABLE)
        if path and rows:
            with Path(path).open("a", encoding="utf-8") as file:
                file.writelines(f"{row.method} {row.path}\n" for row in rows)
