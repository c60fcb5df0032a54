"""Series: at fixed weekdays the next topics of a list become a batch, within credits a month."""

from __future__ import annotations

import hashlib
import uuid
from datetime import time
from typing import Self
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Team
from dashboard.models.planned_render import wall_clock_text
from dashboard.models.preset import Preset
from proxyapi.models.account import CREDIT_FIELD_OPTIONS

MAX_SERIES_NAME_CHARS = 60
MAX_SERIES_COUNT = 20
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class SeriesQuerySet(models.QuerySet["Series"]):
    def running(self) -> Self:
        return self.filter(paused_at=None)

    def due(self) -> Self:
        return self.running().filter(next_at__lte=timezone.now())

    def pause(self, reason: str = "") -> int:
        """Pause the running ones among these; return how many. With a reason they paused by
        themselves, and their members are notified."""
        return self.running().update(paused_at=timezone.now(), pause_reason=reason)


class Series(models.Model):
    """A series, paused until its member confirms it. Whoever changes it has locked its row."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="series")
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="+",
        help_text="Who made it, and whose token and budgets it uses.",
    )
    name = models.CharField(max_length=MAX_SERIES_NAME_CHARS)
    preset = models.ForeignKey(
        Preset, models.SET_NULL, null=True, related_name="series", help_text="None: deleted."
    )
    weekdays = models.JSONField(default=list, help_text="0 is Monday.")
    at = models.TimeField(default=time(9), help_text="A wall-clock time of `time_zone`.")
    time_zone = models.CharField(max_length=64)
    count = models.PositiveSmallIntegerField(default=1, help_text="Videos each time.")
    topics = models.TextField(blank=True, help_text="Those that wait, one a line.")
    monthly_credits = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, help_text="What batches that start in one month may cost."
    )
    next_at = models.DateTimeField()
    epoch = models.PositiveIntegerField(
        default=0, help_text="Number of the `DatabaseEpoch` in which it was confirmed."
    )
    paused_at = models.DateTimeField(null=True, blank=True, default=timezone.now)
    pause_reason = models.TextField(blank=True, help_text="Why it paused by itself.")
    created_at = models.DateTimeField(default=timezone.now)

    objects = SeriesQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "pk")
        verbose_name_plural = "series"
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="series_has_a_name"),
            models.CheckConstraint(
                condition=Q(count__gte=1, count__lte=MAX_SERIES_COUNT), name="series_count_legal"
            ),
            models.CheckConstraint(
                condition=Q(monthly_credits__gt=0), name="series_has_a_monthly_limit"
            ),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=False) | Q(pause_reason=""),
                name="series_runs_without_a_reason",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_at"], condition=Q(paused_at__isnull=True), name="series_running"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_running(self) -> bool:
        return self.paused_at is None

    @property
    def topic_lines(self) -> list[str]:
        return [line.strip() for line in self.topics.splitlines() if line.strip()]

    @property
    def rhythm_text(self) -> str:
        """Return `Every Monday and Thursday, 09:00 Europe/Berlin`."""
        *first, last = [WEEKDAYS[day] for day in self.weekdays]
        days = f"{', '.join(first)} and {last}" if first else last
        return f"Every {days}, {self.at:%H:%M} {self.time_zone}"

    @property
    def next_text(self) -> str:
        return wall_clock_text(self.next_at, self.zone)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def version(self) -> str:
        """Return what identifies the settings that a person confirms."""
        parts = (self.preset_id, self.weekdays, self.at, self.time_zone, self.count)
        text = repr((*map(str, parts), f"{self.monthly_credits:.4f}", self.topics))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
