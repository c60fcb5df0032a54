"""The mirrored ledger as pages show it: filters, totals, rows, charts, one entry, the export.

Totals come from the smallest table of sums of days that has the columns, and these tell in which
days the next rows lie: no page counts or skips rows, however many there are.
"""

from __future__ import annotations
