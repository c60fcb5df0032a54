"""What went out of an account and what came in on one day, and how much of it was ours."""

from __future__ import annotations

from proxyapi.models.day_row import DayRow, whole


class DayFlow(DayRow):
    """A handful of rows a day, however many entries it has."""

    class Meta:
        indexes = [whole("day_flow_whole", "day")]
