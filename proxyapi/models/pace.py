"""How long renders of one kind, type and length take here: the last durations, in seconds."""

from __future__ import annotations

from django.db import models

from proxyapi.models.job import JobKind


class Pace(models.Model):
    environment = models.CharField(max_length=200, help_text="Base address of the upstream.")
    kind = models.CharField(max_length=10, choices=JobKind)
    variety = models.CharField(max_length=60, blank=True, help_text="Type or engine, as sent.")
    length = models.PositiveSmallIntegerField(
        default=0, help_text="Upper end of the class of asked lengths, in seconds; 0: unknown."
    )
    seconds = models.JSONField(default=list, help_text="The newest durations, oldest first.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["environment", "kind", "variety", "length"], name="pace_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.variety} up to {self.length} s"
