"""What somebody did: appended in the transaction of the deed, never changed."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from dashboard.models.team import Team


class AuditEvent(models.Model):
    team = models.ForeignKey(Team, models.CASCADE, related_name="audit_events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=100)
    details = models.JSONField(default=dict, blank=True)
    happened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["team", "-happened_at"]),
            models.Index(fields=["team", "action", "-happened_at"], name="audit_of_action"),
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action} {self.target}"
