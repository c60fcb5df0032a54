"""What went out of an account and what came in on one day, by feature."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from proxyapi.models.day_row import DayRow, whole


class DayFeature(DayRow):
    """As many rows a day as the service has operations, at most twice."""

    SPLIT: ClassVar[tuple[str, ...]] = ("operation",)

    operation = models.CharField(max_length=60, blank=True)

    class Meta:
        indexes = [
            whole("day_feature_whole", "day", "operation"),
            whole("day_feature_by_name", "operation", "day"),
        ]
