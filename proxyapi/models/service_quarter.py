"""The calls of a quarter of an hour, summed: how the service answered a team."""

from __future__ import annotations

from django.db import models

from proxyapi.models.tenant import Tenant


class ServiceQuarter(models.Model):
    tenant = models.ForeignKey(
        Tenant,
        models.CASCADE,
        related_name="service_quarters",
        db_index=False,  # the constraint below starts with this column
    )
    starts_at = models.DateTimeField(help_text="On the quarter of an hour, UTC.")
    answered = models.PositiveIntegerField()
    unanswered = models.PositiveIntegerField(help_text="No answer, or an error of the server.")
    median_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of the answered calls that charge nothing."
    )
    codes = models.JSONField(default=dict, blank=True, help_text="Number of calls by error code.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "starts_at"], name="service_quarter_once_per_tenant"
            )
        ]

    def __str__(self) -> str:
        return f"{self.answered} answered, {self.unanswered} not, from {self.starts_at}"
