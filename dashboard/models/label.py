"""Labels: names that a team gives its videos, to find them again."""

from __future__ import annotations

import unicodedata
import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Team
from proxyapi.models import Job

MAX_LABEL_NAME_CHARS = 40
MAX_LABELS_PER_TEAM = 100
MAX_LABELS_PER_VIDEO = 10


class JsonList(models.Aggregate):
    """The values of a group as one JSON list: labels are read as a column of another query."""

    function = "JSON_GROUP_ARRAY"
    output_field = models.JSONField()

    def as_postgresql(self, *args: Any, **kwargs: Any) -> Any:
        return self.as_sql(*args, function="JSONB_AGG", **kwargs)


class Label(models.Model):
    """A label. `key` is the name as it is compared: two names that differ only in case are one.

    The database does not compare: SQLite folds the case of ASCII letters only.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="labels")
    name = models.CharField(max_length=MAX_LABEL_NAME_CHARS)
    key = models.CharField(max_length=3 * MAX_LABEL_NAME_CHARS, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    jobs = models.ManyToManyField(Job, through="VideoLabel", related_name="labels")

    class Meta:
        ordering = ("key",)
        constraints = [
            models.UniqueConstraint(fields=["team", "key"], name="label_name_once_per_team"),
            models.CheckConstraint(condition=~Q(key=""), name="label_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.key = label_key(self.name)
        super().save(*args, **kwargs)


class VideoLabel(models.Model):
    """A video that has a label."""

    label = models.ForeignKey(Label, models.CASCADE, related_name="video_labels")
    job = models.ForeignKey(Job, models.CASCADE, related_name="video_labels")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label", "job"], name="label_once_per_video"),
        ]

    def __str__(self) -> str:
        return f"label {self.label_id} of {self.job_id}"


def label_key(name: str) -> str:
    """Return the name as it is compared, so that "Straße" and "STRASSE" are one."""
    return unicodedata.normalize("NFKC", name).casefold()
