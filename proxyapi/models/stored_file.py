"""A member's file that waits, encrypted, until it is sent: a sample of a voice, a photo. A frame of
a storyboard waits with the storyboard, since each copy of it needs the frame again."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models.job import Job
from proxyapi.models.storyboard import Storyboard


class StoredFile(models.Model):
    SEALED_ROWS_READ_AT_ONCE: ClassVar[int] = 1  # a file has up to 20 MB

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, models.CASCADE, related_name="stored_files", null=True, blank=True)
    storyboard = models.ForeignKey(
        Storyboard, models.CASCADE, related_name="stored_files", null=True, blank=True
    )
    name = models.CharField(max_length=100, help_text="As the member's computer called it.")
    content_type = models.CharField(max_length=100)
    ciphertext = models.BinaryField(help_text="Opened by proxyapi.stored_files only.")
    size = models.PositiveIntegerField(help_text="Bytes, not encrypted.")
    sha256 = models.CharField(max_length=64, help_text="Checksum in hexadecimal, not encrypted.")
    seconds = models.FloatField(null=True, blank=True, help_text="Length of a recording.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(job__isnull=False, storyboard__isnull=True)
                | Q(job__isnull=True, storyboard__isnull=False),
                name="stored_file_of_job_or_storyboard",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.content_type}, {self.size} bytes)"

    def encryption_context(self) -> str:
        """Return the name that binds the ciphertext to this row."""
        return f"stored file {self.pk}"
