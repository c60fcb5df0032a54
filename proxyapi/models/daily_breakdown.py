"""What an account's ledger adds up to for one day, split by everything that pages filter by."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from proxyapi.models.daily_rollup import DailyRollup, covering_index


class DailyBreakdown(DailyRollup):
    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("member", "operation", "label")

    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    operation = models.CharField(max_length=60, blank=True)
    label = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["account", "day"], name="day_sum_by_day"),
            # The day next to the member: else SQLite takes the other one, and looks at every row.
            covering_index("day_sum_of_member", "member", "day", "operation", "label"),
        ]
