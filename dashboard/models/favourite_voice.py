"""A voice that a member marked with a star; it comes first where they choose one."""

from __future__ import annotations

from django.db import models

from dashboard.models.membership import Membership


class FavouriteVoice(models.Model):
    membership = models.ForeignKey(Membership, models.CASCADE, related_name="favourite_voices")
    environment = models.CharField(
        max_length=200, help_text="Base URL of the upstream; ids differ between upstreams."
    )
    voice_id = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["membership", "environment", "voice_id"], name="favourite_voice_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.voice_id} of {self.membership_id}"
