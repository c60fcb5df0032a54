"""Order of ledger rows of one second, which a service may show differently at each reading."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from itertools import chain, groupby

from proxyapi.ledger.page_reader import UpstreamLedgerPage
from proxyapi.ledger.row_parser import RowValues, UpstreamLedgerRow, entry_raw_values
from proxyapi.models import LedgerEntry, LedgerMirror


def order_ties_as_mirrored(ledger: LedgerMirror, page: UpstreamLedgerPage) -> UpstreamLedgerPage:
    """The page with the rows of one second in the order of the mirror: the service may order by
    time alone, so each reading may have another order. Rows that are not mirrored yet come last.
    """
    seconds = [list(rows) for _, rows in groupby(page.rows, key=lambda row: row.happened_at)]
    several = (rows for rows in seconds if len({row.raw_values for row in rows}) > 1)
    tied = [moment for rows in several if (moment := rows[0].happened_at)]
    if not tied:
        return page
    positions = defaultdict[RowValues, list[int]](list)
    entries = LedgerEntry.objects.filter(account_id=ledger.pk, happened_at__in=tied)
    for entry in entries.order_by("-position"):
        positions[entry_raw_values(entry)].append(entry.position)

    def next_position(row: UpstreamLedgerRow) -> int:
        """Of equal rows the first has the lowest."""
        left = positions[row.raw_values]
        return left.pop() if left else sys.maxsize

    ordered = (sorted(rows, key=next_position) for rows in seconds)
    return replace(page, rows=tuple(chain.from_iterable(ordered)))
