"""One request to the upstream, recorded without secrets and without bodies."""

from __future__ import annotations

from django.db import models

from proxyapi.models.tenant import Tenant
from proxyapi.models.token import Token

SERVER_ERROR_STATUS = 500


class CallOutcome(models.TextChoices):
    ANSWERED = "answered"
    NOT_SENT = "not_sent", "not sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class ApiCall(models.Model):
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="calls")
    token = models.ForeignKey(Token, models.CASCADE, related_name="calls")
    operation = models.CharField(max_length=60)
    outcome = models.CharField(max_length=8, choices=CallOutcome)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    code = models.CharField(max_length=60, blank=True)
    milliseconds = models.PositiveIntegerField()
    allowance_left = models.PositiveIntegerField(null=True, blank=True)
    sent_at = models.DateTimeField()
    priority = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="`rate_limiter.Priority` of its permit."
    )

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-sent_at"]),
            models.Index(fields=["token", "-sent_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.status or self.outcome}"

    @property
    def is_answered(self) -> bool:
        """Whether the upstream answered: a refusal is an answer, a server error is not."""
        return self.status is not None and self.status < SERVER_ERROR_STATUS
