"""Queries of the mirrored ledger: filters, totals, rows, charts, one entry, the export.

Totals come from the smallest table of daily sums that has the columns. They also locate the days of
the next rows, so that no page counts or skips rows, however many there are.
"""

from __future__ import annotations
