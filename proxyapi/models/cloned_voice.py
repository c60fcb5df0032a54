"""Which voice of the account a clone became: its own id is not the voice's (pitfall 105)."""

from __future__ import annotations

from django.db import models

from proxyapi.models.job import Job


class ClonedVoice(models.Model):
    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="cloned_voice")
    known_voice_ids = models.JSONField(
        default=list,
        blank=True,
        help_text="Ids of the account's voices before it was created, as text.",
    )
    voice_id = models.CharField(
        max_length=64, blank=True, help_text="As its record names it; the spec shows no such field."
    )
    withdrawn_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on the voice is not offered."
    )

    def __str__(self) -> str:
        return f"voice {self.voice_id or '?'} of {self.job_id}"
