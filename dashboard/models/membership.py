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
    second_person_above = models.DecimalField(
        max_digits=14,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="A charge above this amount needs a second person; null means none does.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(second_person_above=None) | Q(second_person_above__gt=0),
                name="team_second_person_above_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    TREASURER = "treasurer"
    PRODUCER = "producer"
    VIEWER = "viewer"


class ActiveMembershipManager(models.Manager["Membership"]):
    """Finds members who may enter the team. It is the default, also of `team.memberships`, so that
    nothing takes a deactivated person for a member by mistake."""

    def get_queryset(self) -> models.QuerySet[Membership]:
        return super().get_queryset().filter(deactivated_at=None)


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
    monthly_report_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The reports of months that end after this time are sent; null: none is.",
    )
    default_preset = models.ForeignKey(
        "dashboard.Preset",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="default_of",
        help_text="New drafts of the member start with it.",
    )
    favourite_voices = models.JSONField(
        default=dict,
        blank=True,
        help_text="Ids of voices with a star, by base URL of the upstream, which has its own ids.",
    )
    deactivated_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on the person may not enter the team."
    )
    charges_paused_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on nothing is charged for the person."
    )
    charges_paused_by = models.CharField(max_length=254, default="", db_default="", blank=True)
    charge_pause_reason = models.CharField(max_length=300, default="", db_default="", blank=True)

    objects = ActiveMembershipManager()
    with_deactivated = models.Manager["Membership"]()

    class Meta:
        ordering = ("joined_at", "pk")
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"

    def favourite_voices_of(self, environment: str) -> frozenset[str]:
        """Return the ids of the voices of an upstream that the member marked with a star."""
        return frozenset(self.favourite_voices.get(environment, ()))
