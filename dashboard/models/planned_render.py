"""A planned render: it starts by itself when the script that was confirmed with it is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models import Charge, Job
from proxyapi.models.account import CREDIT_FIELD_OPTIONS

PLAN_LIFETIME = timedelta(hours=24)


def settings_digest(chosen: Mapping[str, object]) -> str:
    """Return what identifies the settings of a draft, without its script, which is written
    meanwhile."""
    kept = {name: value for name, value in chosen.items() if name != "script"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()


class PlannedRenderQuerySet(models.QuerySet["PlannedRender"]):
    def active(self) -> Self:
        return self.filter(ended_at=None)

    def end(self, reason: str) -> bool:
        """End the active plans among these and keep why; return whether there was one."""
        return bool(self.active().update(ended_at=timezone.now(), reason=reason))

    def remove_active(self) -> bool:
        """Delete the active plans among these; return whether there was one."""
        return bool(self.active().delete()[0])


class PlannedRender(models.Model):
    """The plan of a draft, or why it ended without a render; its render, or a person, deletes it.

    It holds no credits: the render is admitted like any other when its price is known. Whoever
    changes a plan has locked its job, or the account of its job.
    """

    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="planned_render")
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", help_text="Who confirmed it."
    )
    script_charge = models.OneToOneField(Charge, models.CASCADE, related_name="planned_render")
    limit = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, help_text="Credits that the render may hold; above, it is asked."
    )
    settings_digest = models.CharField(
        max_length=64, help_text="Of the settings that were confirmed (`settings_digest`)."
    )
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(
        blank=True, help_text="Why it ended without a render, for its person."
    )

    objects = PlannedRenderQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(limit__gte=0), name="planned_render_limit_positive"),
            models.CheckConstraint(
                condition=Q(ended_at=None, reason="") | Q(ended_at__isnull=False) & ~Q(reason=""),
                name="planned_render_ended_with_reason",
            ),
        ]
        indexes = [
            models.Index(
                fields=["job"], condition=Q(ended_at__isnull=True), name="planned_render_active"
            ),
            models.Index(
                fields=["ended_at"],
                condition=Q(ended_at__isnull=False),
                name="planned_render_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"planned render of {self.job_id}"

    @property
    def is_active(self) -> bool:
        return self.ended_at is None
