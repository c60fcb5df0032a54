"""The last durations in seconds of a tenant's renders of one kind, type and length."""

from __future__ import annotations

from typing import Self

from django.db import models, transaction

from proxyapi.models.job import Job
from proxyapi.models.tenant import Tenant
from proxyapi.operations import JobKind

MAX_KEPT_DURATIONS = 64  # the newest; older durations say little about the present


class RenderDurationsQuerySet(models.QuerySet["RenderDurations"]):
    def for_job(self, job: Job) -> Self:
        return self.filter(
            tenant_id=job.tenant_id,
            environment=job.account.environment,
            kind=job.kind,
            subtype=job.subtype,
            length=job.length,
        )

    @transaction.atomic
    def add_duration(self, job: Job, seconds: float) -> None:
        """Add the duration of a run. Two workers that add one at once both succeed."""
        self.get_or_create(
            tenant_id=job.tenant_id,
            environment=job.account.environment,
            kind=job.kind,
            subtype=job.subtype,
            length=job.length,
        )
        row = self.for_job(job).select_for_update().get()
        row.seconds = [*row.seconds, round(seconds, 1)][-MAX_KEPT_DURATIONS:]
        row.save(update_fields=["seconds", "updated_at"])


class RenderDurations(models.Model):
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    environment = models.CharField(max_length=200, help_text="Base URL of the upstream.")
    kind = models.CharField(max_length=10, choices=JobKind)
    subtype = models.CharField(max_length=60, blank=True, help_text="Type or engine, as sent.")
    length = models.PositiveSmallIntegerField(
        default=0, help_text="Upper end of the requested-length class, in seconds; 0 if unknown."
    )
    seconds = models.JSONField(default=list, help_text="Most recent durations, oldest first.")
    updated_at = models.DateTimeField(auto_now=True)

    objects = RenderDurationsQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "environment", "kind", "subtype", "length"],
                name="render_durations_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subtype} up to {self.length} s"
