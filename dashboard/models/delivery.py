"""Deliveries: one alert to one address, tried until it arrives or is given up; the webhook secret.

due → delivered
    → failed     after the last try, or when the address is one that is not connected to
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Self
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.alert import AlertEvent
from dashboard.models.team import Team


class DeliveryChannel(models.TextChoices):
    EMAIL = "email", "e-mail"
    WEBHOOK = "webhook"


class DeliveryState(models.TextChoices):
    DUE = "due"
    DELIVERED = "delivered"
    FAILED = "failed"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self, now: datetime) -> Self:
        return self.filter(state=DeliveryState.DUE, due_at__lte=now).order_by("due_at")


class Delivery(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    event = models.ForeignKey(AlertEvent, models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=7, choices=DeliveryChannel)
    address = models.CharField(max_length=254, help_text="Of a person, or the host of a webhook.")
    state = models.CharField(max_length=9, choices=DeliveryState, default=DeliveryState.DUE)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="The last answer's.")
    error = models.CharField(max_length=200, blank=True, help_text="Why the last try failed.")
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["event", "channel", "address"], name="delivery_once_per_address"
            ),
            models.CheckConstraint(
                condition=Q(channel__in=DeliveryChannel.values), name="delivery_channel_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DeliveryState.values), name="delivery_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="delivered") | Q(delivered_at__isnull=False),
                name="delivery_delivered_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="due"), name="delivery_due"),
            models.Index(fields=["event", "created_at"], name="delivery_of_event"),
        ]

    def __str__(self) -> str:
        return f"{self.channel} to {self.address}, {self.state}"


class AlertWebhook(models.Model):
    """Where a team's alerts are posted to, and the sealed secret that signs them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.OneToOneField(Team, models.CASCADE, related_name="webhook")
    url = models.URLField(max_length=500)
    ciphertext = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def host(self) -> str:
        """What of the address pages and logs show: the rest may be a secret."""
        return urlsplit(self.url).hostname or ""

    def encryption_context(self) -> str:
        """The name that binds the sealed secret to this row."""
        return f"webhook:{self.pk}"
