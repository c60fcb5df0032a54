"""The reading of a web page for a draft: its address, the request in progress, and its images.

The row is the request (rule 7): it stays due until the service has answered, the attempts are used
up, or a member stops it. Reading is free.
"""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi import upstream_address
from proxyapi.models.job import Job


class PageReadState(models.TextChoices):
    READING = "reading"
    WAITING = "waiting"  # not sent yet; `message` says why
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


ACTIVE_PAGE_READS = (PageReadState.READING, PageReadState.WAITING)


class PageReadQuerySet(models.QuerySet["PageRead"]):
    def due(self, now: datetime) -> Self:
        return self.filter(
            upstream_address.current_upstream_filter("job__account__environment"), due_at__lte=now
        )

    def in_progress(self, now: datetime) -> Self:
        """Requests that are to be sent, or to which the service may still answer: it then replaces
        the draft's images, also after a stop."""
        return self.filter(Q(state__in=ACTIVE_PAGE_READS) | Q(answer_due_at__gt=now))


class PageRead(models.Model):
    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="page_read")
    url = models.TextField(help_text="The address that was requested last.")
    state = models.CharField(max_length=7, choices=PageReadState, default=PageReadState.READING)
    requested_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="When to send the request; null if none is to be sent."
    )
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="Attempts that the service could not serve."
    )
    answer_due_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Until when the service may answer the request that was sent; null if it has.",
    )
    message = models.TextField(blank=True, help_text="Why it waits or failed; shown to users.")
    ended_at = models.DateTimeField(null=True, blank=True)
    # Of the last reading that succeeded
    read_url = models.TextField(blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    image_ids = models.JSONField(
        default=list, blank=True, help_text="Upstream ids in the order of the page."
    )
    takes_order = models.BooleanField(
        default=False, help_text="Whether the service shows which images it uses."
    )

    objects = PageReadQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=PageReadState.values), name="page_read_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=ACTIVE_PAGE_READS, due_at__isnull=False)
                | Q(~Q(state__in=ACTIVE_PAGE_READS), due_at__isnull=True),
                name="page_read_active_is_due",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(due_at__isnull=False), name="page_read_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.url} for {self.job_id}"

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE_PAGE_READS
