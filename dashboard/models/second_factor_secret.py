"""Secrets of second factors, encrypted: the key of an authenticator app, the seed of recovery
codes. The row of allauth (`Authenticator.data`) has the id of this one."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone


class SecondFactorSecret(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    ciphertext = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"second factor secret {self.pk}"

    def encryption_context(self) -> str:
        """Return the name that binds the encrypted secret to this row."""
        return f"second-factor:{self.pk}"
