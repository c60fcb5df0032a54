"""Versions: two to four videos that are made from one draft, to choose the best."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Team
from proxyapi.models import Job

MIN_VERSIONS, MAX_VERSIONS = 2, 4


class VersionDifference(models.TextChoices):
    """The setting in which the versions differ, by the service's field name."""

    NONE = "none", "Nothing"
    GENRE = "genre_id", "Genre"
    VOICE = "voice_id", "Voice"
    FORMAT = "aspect_ratio", "Format"


class VersionGroup(models.Model):
    """The versions of one draft; `size` is their number."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="version_groups")
    difference = models.CharField(max_length=20, choices=VersionDifference)
    size = models.PositiveSmallIntegerField()
    nonce = models.UUIDField(help_text="Of the form that created it: sent twice, it creates one.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "nonce"], name="version_group_once_per_form"),
            models.CheckConstraint(
                condition=Q(difference__in=VersionDifference.values),
                name="version_difference_known",
            ),
            models.CheckConstraint(
                condition=Q(size__gte=MIN_VERSIONS, size__lte=MAX_VERSIONS),
                name="version_group_size_limited",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.size} versions"


class VideoVersion(models.Model):
    """A video as one of the versions of its group; a video is in one group at most."""

    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="version")
    group = models.ForeignKey(VersionGroup, models.CASCADE, related_name="versions")
    number = models.PositiveSmallIntegerField(help_text="From 1.")

    class Meta:
        ordering = ("number",)
        constraints = [
            models.UniqueConstraint(fields=["group", "number"], name="version_number_once"),
            models.CheckConstraint(
                condition=Q(number__gte=1, number__lte=MAX_VERSIONS), name="version_number_limited"
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"
