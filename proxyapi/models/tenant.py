"""The tenant: the team as this package knows it. It owns accounts, tokens, charges and jobs."""

from __future__ import annotations

import uuid
from zoneinfo import ZoneInfo

from django.db import models


class Tenant(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    time_zone = models.CharField(
        max_length=64, default="UTC", help_text="IANA name; sums and budgets use its days."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"tenant {self.pk}"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)
