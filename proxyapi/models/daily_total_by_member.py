"""What went out of an account and what came in on one day, by member."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from proxyapi.models.daily_rollup import DailyRollup, covering_index


class DailyTotalByMember(DailyRollup):
    """Without a member: what nobody of ours is known to have spent."""

    GROUP_COLUMNS: ClassVar[tuple[str, ...]] = ("member",)

    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        indexes = [
            covering_index("day_member_whole", "day", "member"),
            covering_index("day_member_by_member", "member", "day"),
        ]
