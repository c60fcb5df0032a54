"""What a search found: the names that rows may have, and the rows of videos."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Q

from proxyapi.rollups.ledger_names import LedgerNames


class FoundRow(NamedTuple):
    key: int
    at: datetime
    amount: Decimal
    is_matched: bool


class SearchGap(NamedTuple):
    """What was not looked for, and how to find it all the same."""

    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class LedgerSearchResult:
    """`rows` have none of the other names. `names`: all that the days have."""

    names: LedgerNames
    labels: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    members: frozenset[int] = frozenset()
    rows: tuple[FoundRow, ...] = ()
    gaps: tuple[SearchGap, ...] = ()

    @property
    def label_or_operation_q(self) -> Q:
        """Rows, or sums, with one of the labels or features."""
        return Q(label__in=self.labels) | Q(operation__in=self.operations)

    @property
    def any_name_q(self) -> Q:
        return self.label_or_operation_q | Q(member__in=self.members)

    def matches(self, label: str, operation: str, member: int | None) -> bool:
        """As `named`, of one row."""
        return label in self.labels or operation in self.operations or member in self.members

    def iter_indexed_conditions(self) -> Iterator[Q]:
        """Each names rows by another index; with `rows` they are all that was found."""
        names = {"label": self.labels, "operation": self.operations, "member": self.members}
        for name, values in names.items():
            if values:
                yield Q(**{f"{name}__in": values})
