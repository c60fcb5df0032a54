"""A person's place in a team, and their role there."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from dashboard.models.team import Team


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
        null=True, blank=True, help_text="Alerts up to then were read."
    )

    class Meta:
        ordering = ("joined_at", "pk")
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"
