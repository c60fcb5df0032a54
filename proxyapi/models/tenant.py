"""The tenant: the team as this package knows it. It owns accounts, tokens, charges and jobs."""

from __future__ import annotations

import uuid
from zoneinfo import ZoneInfo

from django.db import models
from django.db.models import Q


class Tenant(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    time_zone = models.CharField(
        max_length=64, default="UTC", help_text="IANA name; sums and budgets use its days."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    charges_stopped_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on nothing that charges is sent."
    )
    charges_stopped_by = models.CharField(max_length=254, blank=True, help_text="A name.")
    charge_stop_reason = models.CharField(max_length=300, blank=True)
    suspended_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on nothing is charged and no page is shown."
    )
    suspended_by = models.CharField(max_length=254, blank=True, help_text="A name.")
    suspension_reason = models.CharField(max_length=300, blank=True)

    last_event = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="The last position that an event of the API was given."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(suspended_at__isnull=True, suspension_reason="")
                | (Q(suspended_at__isnull=False) & ~Q(suspension_reason="")),
                name="tenant_suspension_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(charges_stopped_at__isnull=True, charge_stop_reason="")
                | (Q(charges_stopped_at__isnull=False) & ~Q(charge_stop_reason="")),
                name="tenant_charge_stop_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"tenant {self.pk}"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)
