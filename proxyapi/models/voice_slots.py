"""The slots of an account for cloned voices, as last read (spec, Voice clones)."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from proxyapi import upstream_address
from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account


class VoiceSlotsQuerySet(models.QuerySet["VoiceSlots"]):
    def due(self, now: datetime) -> Self:
        """Rows of the upstream in use whose read was requested."""
        current = upstream_address.current_upstream_filter("account__environment")
        return self.filter(current, due_at__lte=now)


class VoiceSlots(models.Model):
    account = models.OneToOneField(
        Account, models.CASCADE, primary_key=True, related_name="voice_slots"
    )
    available = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Free slots; a service that only says yes counts as 1."
    )
    can_buy = models.BooleanField(null=True, blank=True)
    cost = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Credits of another slot."
    )
    read_at = models.DateTimeField(null=True, blank=True)
    read_error = models.TextField(blank=True, help_text="Why the last read failed; for users.")
    due_at = models.DateTimeField(null=True, blank=True, help_text="When to read them again.")
    reads_voices = models.BooleanField(
        default=False, help_text="A clone was completed: the account's voices are read too."
    )

    objects = VoiceSlotsQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(due_at__isnull=False), name="voice_slots_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.available} slots of {self.account_id}"
