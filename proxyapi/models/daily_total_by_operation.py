"""What went out of an account and what came in on one day, by feature."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proxyapi.models.daily_rollup import DailyRollup, covering_index


class DailyTotalByOperation(DailyRollup):
    """As many rows a day as the service has operations, at most twice."""

    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("operation",)

    operation = models.CharField(max_length=60, blank=True)

    class Meta:
        indexes = [
            covering_index("day_feature_whole", "day", "operation"),
            covering_index("day_feature_by_name", "operation", "day"),
        ]
