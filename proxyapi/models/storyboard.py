"""A storyboard as the team edits it: engine, format and scenes.

The service shows no call that changes or deletes a scene, so the portal keeps the storyboard, and
sends it when clips, a price or a render are requested. What is sent is a copy: a job of kind
storyboard, whose draft holds what was sent. A change that a copy cannot take needs a new copy
(`proxyapi.kinds.storyboard_copy`); a copy whose film is finished takes no change.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models.account import Account
from proxyapi.models.job import Job
from proxyapi.models.tenant import Tenant
from proxyapi.models.token import Token

FRAME_FIELDS = ("first_frame", "last_frame")


class StoryboardMode(models.TextChoices):
    """Who writes the scenes (spec, Storyboard)."""

    WIZARD = "wizard"
    MANUAL = "manual"


class Storyboard(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="storyboards")
    account = models.ForeignKey(Account, models.PROTECT, related_name="storyboards")
    token = models.ForeignKey(Token, models.PROTECT, related_name="storyboards")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="storyboards")
    title = models.CharField(max_length=200)
    mode = models.CharField(max_length=6, choices=StoryboardMode, default=StoryboardMode.MANUAL)
    description = models.TextField(blank=True, help_text="What the service writes scenes from.")
    style = models.CharField(max_length=20, blank=True, help_text="Key of a style; empty if none.")
    scene_count = models.PositiveSmallIntegerField(
        default=0, help_text="Scenes the service is to write; 0 if it decides."
    )
    engine = models.CharField(max_length=100, blank=True, help_text="Slug of the clip engine.")
    aspect_ratio = models.CharField(max_length=20, blank=True)
    resolution = models.CharField(max_length=20, blank=True)
    audio = models.CharField(max_length=20, blank=True)
    copy = models.OneToOneField(
        Job,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="current_storyboard",
        help_text="The copy at the service that is worked on; null until one is needed.",
    )
    hidden_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    edited_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(mode__in=StoryboardMode.values), name="storyboard_mode_known"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "-edited_at"], name="storyboard_newest")]

    def __str__(self) -> str:
        return self.title


class StoryboardScene(models.Model):
    """A scene. `first_frame` and `last_frame` are references as in a clip's draft: `{"address"}` or
    `{"file", "name"}`, with `job` and `title` of the video it was taken from; empty without one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    storyboard = models.ForeignKey(Storyboard, models.CASCADE, related_name="scenes")
    position = models.PositiveSmallIntegerField(help_text="Place in the film, from 1.")
    prompt = models.TextField(blank=True)
    duration = models.PositiveSmallIntegerField(help_text="Seconds.")
    is_chained = models.BooleanField(
        default=False, help_text="Starts on the last frame of the scene before."
    )
    first_frame = models.JSONField(default=dict, blank=True)
    last_frame = models.JSONField(default=dict, blank=True)
    # When a member kept the clip although the scene changed after it; cleared by the next change.
    kept_at = models.DateTimeField(null=True, blank=True)
    kept_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    edited_at = models.DateTimeField(default=timezone.now)
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position", "created_at", "pk"]
        indexes = [models.Index(fields=["storyboard", "position"], name="scene_in_order")]

    def __str__(self) -> str:
        return f"scene {self.position} of {self.storyboard_id}"


class StoryboardCopy(models.Model):
    """Which storyboard a job is a copy of."""

    job = models.OneToOneField(
        Job, models.CASCADE, primary_key=True, related_name="storyboard_copy"
    )
    storyboard = models.ForeignKey(Storyboard, models.CASCADE, related_name="copies")

    def __str__(self) -> str:
        return f"copy {self.job_id} of {self.storyboard_id}"
