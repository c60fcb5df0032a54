"""The mirrored ledger as pages show it: filters, totals, rows, charts, one entry, the export.

Totals come from the sums of days (`DayTotal`, and `DaySum` where a member is asked for), and these
tell in which days the next rows lie: no page counts or skips rows, however many there are.
"""

from __future__ import annotations
