"""A part of a job: one item of a list in its upstream record, such as a scene image or an export.

The record is the only source: parts are stored whenever it is read (`proxyapi.kinds.job_parts`),
and one that the record no longer has is deleted.
"""

from __future__ import annotations

import hashlib
import uuid
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models.charge import Charge
from proxyapi.models.job import Job
from proxyapi.upstream.status_words import says_failure

ASSETS, EXPORTS = "assets", "exports"  # lists of a faceless record, as `Operation.part_list`
PREVIEWS = "previews"  # of a character's record
SCENE_CLIPS = "scenes"  # of a storyboard's record; each item is the clip of the scene with its id
EARLIER_CLIPS = "earlier clips"  # kept here: what a storyboard's record does not show any more
FILM_LISTS = (EXPORTS, SCENE_CLIPS, EARLIER_CLIPS)
MEDIA_VERSION_LENGTH = 10  # characters
COMPLETED_WORDS = frozenset({"completed", "success", "ready"})


class PartSource(models.TextChoices):
    """Where a picture comes from; empty if the record does not say."""

    SCRAPED = "scraped"
    UPLOADED = "uploaded"
    GENERATED = "generated"


class PartState(models.TextChoices):
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class JobPart(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, models.CASCADE, related_name="parts")
    list_name = models.CharField(max_length=30, help_text="As in `Operation.part_list`.")
    remote_id = models.CharField(max_length=64, help_text="Upstream id within its job.")
    position = models.PositiveSmallIntegerField(help_text="Place in the list, from 1.")
    status = models.CharField(max_length=60, blank=True, help_text="Upstream status, as last read.")
    media_url = models.TextField(blank=True)
    source = models.CharField(max_length=9, blank=True, choices=PartSource)
    text = models.TextField(blank=True, help_text="Words of a scene, or what a picture shows.")
    failure_message = models.TextField(blank=True)
    details = models.JSONField(
        default=dict, blank=True, help_text="What else the record says of it."
    )
    charge = models.ForeignKey(
        Charge,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="parts",
        help_text="The charge that added it, if the portal sent one.",
    )
    created_at = models.DateTimeField(default=timezone.now, help_text="When it was first read.")
    finished_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was first read as finished."
    )
    read_at = models.DateTimeField(help_text="When the record was requested.")

    class Meta:
        ordering = ["list_name", "position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["job", "list_name", "remote_id"], name="job_part_once_per_item"
            ),
            models.CheckConstraint(
                condition=Q(source__in=["", *PartSource.values]), name="job_part_source_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.list_name} {self.remote_id}"

    @property
    def state(self) -> PartState:
        """An unknown word is in progress, and so is a finished part without its file (rule 6).
        Without a status, the file decides."""
        if says_failure(self.status) or self.failure_message:
            return PartState.FAILED
        is_complete = self.media_url and (not self.status or self.status in COMPLETED_WORDS)
        return PartState.COMPLETED if is_complete else PartState.RUNNING

    @property
    def upstream_id(self) -> int | str:
        """Its id as the service sent it: a number or a text."""
        id = self.remote_id
        return int(id) if id.isdecimal() and str(int(id)) == id else id

    @property
    def media_version(self) -> str:
        """Differs for another file; equal for a new signature of the same one."""
        path = urlsplit(self.media_url).path.encode()
        return hashlib.sha256(path).hexdigest()[:MEDIA_VERSION_LENGTH]
