"""What went out of an account and what came in on one day, and how much of it was ours."""

from __future__ import annotations

from proxyapi.models.daily_rollup import DailyRollup, covering_index


class DailyTotal(DailyRollup):
    """A handful of rows a day, however many entries it has."""

    class Meta:
        indexes = [covering_index("day_flow_whole", "day")]
