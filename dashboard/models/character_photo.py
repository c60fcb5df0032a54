"""The photo that a character is made from, and who confirmed the right to use it.

The picture itself waits encrypted in `proxyapi.models.StoredFile` until the service has it; this
record stays.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from proxyapi.models import Job


class CharacterPhoto(models.Model):
    job = models.OneToOneField(
        Job, models.CASCADE, primary_key=True, related_name="character_photo"
    )
    name = models.CharField(max_length=100, help_text="As the member's computer called it.")
    sha256 = models.CharField(max_length=64, help_text="Checksum in hexadecimal, as sent.")
    size = models.PositiveIntegerField(help_text="Bytes, as sent.")
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="+",
        help_text="Who confirmed the right to use it.",
    )
    confirmed_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.name} of {self.job_id}"
