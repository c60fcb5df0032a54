"""A rotation of the encryption key, started on the operations page and carried out by workers.

Which secrets are left is read from their envelopes; the row says who began, how far it is, and
which secrets no key decrypts. A worker holds its lease while it works; when it expired, a sweep
gives the rest to another one.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Team


class KeyRotationState(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"  # a secret that no key decrypts, or workers with other keys


class KeyRotation(models.Model):
    team = models.ForeignKey(
        Team, models.PROTECT, related_name="+", help_text="Of the audit log that names it."
    )
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    started_at = models.DateTimeField(default=timezone.now)
    key_id = models.CharField(max_length=32, help_text="The key that encrypts from now on.")
    total = models.PositiveIntegerField(help_text="Secrets under another key at the start.")
    done = models.PositiveIntegerField(default=0)
    unreadable = models.JSONField(default=list, help_text="`[id, label]` of each.")
    state = models.CharField(
        max_length=7, choices=KeyRotationState, default=KeyRotationState.RUNNING
    )
    problem = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-started_at", "-pk")
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=KeyRotationState.values), name="key_rotation_state_known"
            ),
            models.UniqueConstraint(
                fields=["state"], condition=Q(state="running"), name="key_rotation_runs_once"
            ),
            models.CheckConstraint(
                condition=Q(state="running", ended_at__isnull=True)
                | (~Q(state="running") & Q(ended_at__isnull=False)),
                name="key_rotation_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"rotation to {self.key_id}: {self.done} of {self.total}"
