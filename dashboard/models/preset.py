"""Presets and the brand kit: chosen settings that a team keeps for its next videos.

Options of the service are kept by slug, never by id, so that they apply on another upstream. The
format of `options` and the meaning of a slug are in `dashboard/studio/kept_settings/`.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone

from dashboard.models.membership import Team
from proxyapi.models import Idea, Job

MAX_PRESET_NAME_CHARS = 60


class Preset(models.Model):
    """Settings of a video without its words: no title, script or images."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="presets")
    name = models.CharField(max_length=MAX_PRESET_NAME_CHARS)
    type = models.CharField(max_length=20, help_text="Video type, as the service names it.")
    options = models.JSONField(
        default=dict, blank=True, help_text="Kept options of the service by field name."
    )
    values = models.JSONField(
        default=dict, blank=True, help_text="Kept settings that are no options, by field name."
    )
    script_request = models.JSONField(
        default=dict, blank=True, help_text="Length, style, tone and language of a written script."
    )
    uses_brand_kit = models.BooleanField(
        default=False, help_text="Captions and watermark come from the kit as it is when used."
    )
    # Field name: the nearest option still offered, in the format of `options`, or null.
    missing = models.JSONField(default=dict, blank=True)
    compared_at = models.DateTimeField(
        default=timezone.now, help_text="When its options were last compared with the service's."
    )
    picture_of = models.ForeignKey(
        Job,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The video that it was saved from.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    used_count = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-used_count", F("last_used_at").desc(nulls_last=True), "name", "pk")
        constraints = [
            models.UniqueConstraint("team", Lower("name"), name="preset_name_once_per_team"),
            models.CheckConstraint(condition=~Q(name=""), name="preset_has_a_name"),
            models.CheckConstraint(condition=~Q(type=""), name="preset_has_a_type"),
        ]

    def __str__(self) -> str:
        return self.name


class BrandKit(models.Model):
    """A team's font, captions, overlay and watermark."""

    team = models.OneToOneField(Team, models.CASCADE, primary_key=True, related_name="brand_kit")
    options = models.JSONField(default=dict, blank=True, help_text="In the format of a preset's.")
    applies_to_new_drafts = models.BooleanField(default=True)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"brand kit of {self.team}"


class DraftOrigin(models.Model):
    """What a draft was started with, besides what its member typed: a preset, an idea, the brand
    kit.

    While the kit is switched on, `kit_values` has the values that it set and `replaced_values`
    those that it replaced, both in the upstream's field names; a field that has another value now
    was changed by hand.
    """

    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="draft_origin")
    preset = models.ForeignKey(
        Preset, models.SET_NULL, null=True, blank=True, related_name="origins"
    )
    idea = models.ForeignKey(
        Idea,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="origins",
        help_text="The idea whose title is the topic.",
    )
    script_request = models.JSONField(default=dict, blank=True)
    left_out = models.JSONField(
        default=dict, blank=True, help_text="Names of kept options that were not offered, by field."
    )
    uses_brand_kit = models.BooleanField(default=False)
    kit_values = models.JSONField(default=dict, blank=True)
    replaced_values = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"origin of {self.job_id}"
