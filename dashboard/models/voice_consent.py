"""The consent to clone a voice: written before anything is sent, and never deleted."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Team
from proxyapi.models import Charge, Job


class VoiceConsent(models.Model):
    """Whose voice it is, and who confirmed that its speaker agrees. A voice that is created again
    has another record: its samples may differ."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="voice_consents")
    job = models.ForeignKey(
        Job, models.SET_NULL, null=True, blank=True, related_name="voice_consents"
    )
    charge = models.OneToOneField(
        Charge,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="voice_consent",
        help_text="The request that it was given for.",
    )
    voice_name = models.CharField(max_length=60)
    is_own = models.BooleanField(help_text="The voice is that of the member who confirmed.")
    speaker = models.CharField(max_length=100, help_text="Full name.")
    agreed_on = models.DateField(
        null=True, blank=True, help_text="When the speaker agreed; null for the member's own voice."
    )
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField(default=timezone.now)
    samples = models.JSONField(help_text="Name, size in bytes, seconds and SHA-256 of each.")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ("-confirmed_at", "-pk")
        constraints = [
            models.CheckConstraint(condition=~Q(speaker=""), name="voice_consent_has_a_speaker"),
            models.CheckConstraint(
                condition=Q(is_own=True) | Q(agreed_on__isnull=False),
                name="voice_consent_of_another_has_a_date",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
                name="voice_consent_withdrawn_by_a_person",
            ),
        ]

    def __str__(self) -> str:
        return f"consent of {self.speaker} to {self.voice_name}"
