"""A planned render: it starts by itself when the script that was confirmed with it is written, at a
time, or when the credits are free."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models import ApiKey, Charge, Job
from proxyapi.models.account import CREDIT_FIELD_OPTIONS

PLAN_LIFETIME = timedelta(hours=24)


def settings_digest(chosen: Mapping[str, object], *, with_script: bool = False) -> str:
    """Return what identifies the settings of a draft; by default without its script, which is
    written meanwhile."""
    kept = {name: value for name, value in chosen.items() if with_script or name != "script"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()


def wall_clock_text(instant: datetime, zone: tzinfo) -> str:
    """Return a time such as `3 Dec 2026, 09:00 Europe/Berlin`."""
    local = instant.astimezone(zone)
    return f"{local.day} {local:%b} {local.year}, {local:%H:%M} {zone}"


class PlannedRenderQuerySet(models.QuerySet["PlannedRender"]):
    def active(self) -> Self:
        return self.filter(ended_at=None)

    def due(self) -> Self:
        """Active plans that a worker has to look at."""
        return self.active().filter(Q(starts_at=None) | Q(starts_at__lte=timezone.now()))

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
    script_charge = models.OneToOneField(
        Charge,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="planned_render",
        help_text="None if it was confirmed with its script, and starts at `starts_at`.",
    )
    limit = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, help_text="Credits that the render may hold; above, it is asked."
    )
    settings_digest = models.CharField(
        max_length=64, help_text="Of the settings that were confirmed (`settings_digest`)."
    )
    starts_at = models.DateTimeField(
        null=True, blank=True, help_text="Not before; None: when its script is written."
    )
    waits_for_credits = models.BooleanField(
        default=False, db_default=False, help_text="Until they are free, or it expires."
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
            models.CheckConstraint(
                condition=Q(script_charge=None, starts_at__isnull=False)
                | Q(script_charge__isnull=False, starts_at=None, waits_for_credits=False),
                name="planned_render_after_script_or_at_a_time",
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
    def key(self) -> ApiKey | None:
        """The API key that pays, if a script or an agent began it."""
        return self.script_charge.api_key if self.script_charge else None

    @property
    def is_scheduled(self) -> bool:
        """Whether it starts at a time or when the credits are free."""
        return self.is_active and self.starts_at is not None

    @property
    def start_text(self) -> str:
        if self.starts_at is None or self.waits_for_credits:
            return "Starts when the credits are free"
        return f"Starts on {wall_clock_text(self.starts_at, self.job.tenant.zone)}"

    @property
    def is_active(self) -> bool:
        return self.ended_at is None
