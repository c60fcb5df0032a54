"""Teams, and the memberships of users with their roles."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from proxyapi.models import Tenant


class Team(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=60)
    tenant = models.OneToOneField(Tenant, models.PROTECT, related_name="team")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    TREASURER = "treasurer"
    PRODUCER = "producer"
    VIEWER = "viewer"


class Membership(models.Model):
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=9, choices=Role)
    joined_at = models.DateTimeField(auto_now_add=True)
    alerts_read_at = models.DateTimeField(
        null=True, blank=True, help_text="Alerts up to this time are read."
    )
    ideas_seen_at = models.DateTimeField(
        null=True, blank=True, help_text="Ideas that came after this time are marked as new."
    )
    getting_started_hidden_at = models.DateTimeField(
        null=True, blank=True, help_text="The card of the first steps is shown no more."
    )
    default_preset = models.ForeignKey(
        "dashboard.Preset",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="default_of",
        help_text="New drafts of the member start with it.",
    )

    class Meta:
        ordering = ("joined_at", "pk")
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"
