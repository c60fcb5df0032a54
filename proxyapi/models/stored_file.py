"""A member's file that waits, encrypted, until it is sent: a sample of a voice, a photo."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from proxyapi.models.job import Job


class StoredFile(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, models.CASCADE, related_name="stored_files")
    name = models.CharField(max_length=100, help_text="As the member's computer called it.")
    content_type = models.CharField(max_length=100)
    ciphertext = models.BinaryField(help_text="Opened by proxyapi.stored_files only.")
    size = models.PositiveIntegerField(help_text="Bytes, not encrypted.")
    sha256 = models.CharField(max_length=64, help_text="Checksum in hexadecimal, not encrypted.")
    seconds = models.FloatField(null=True, blank=True, help_text="Length of a recording.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"{self.name} ({self.content_type}, {self.size} bytes)"

    @property
    def encryption_context(self) -> str:
        """Return the name that binds the ciphertext to this row."""
        return f"stored file {self.pk}"
