"""The sums of one day of an account's ledger without the members.

With hundreds of members a day of `DaySum` has nearly as many rows as the ledger; what a page asks
of the labels of the whole team is answered from here.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proxyapi.models.daily_rollup import DailyRollup, covering_index


class DailyTotalByLabel(DailyRollup):
    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("operation", "label")

    operation = models.CharField(max_length=60, blank=True)
    label = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [
            covering_index("day_total_by_day", "day", "operation", "label"),
            covering_index("day_total_by_label", "label", "day", "operation"),
        ]
