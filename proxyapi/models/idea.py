"""Ideas that an account owns at the service, and the request to read their list again.

The list is free (`GET /ideas`) and only grows: an idea that a search found stays, and is searched
and filtered here without a request.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi import upstream_address
from proxyapi.models.account import Account, AccountPlan
from proxyapi.models.charge import Charge

MAX_IDEA_TITLE_CHARS = 500
MAX_KEYWORD_CHARS = 200
MAX_NETWORK_CHARS = 60
MIN_READ_INTERVAL = timedelta(seconds=5)  # rule 5


class Idea(models.Model):
    """`volume` and `rank` are the service's; null if it gives none. The rank is the place among the
    ideas of the same keyword and network."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="ideas")
    remote_id = models.CharField(max_length=64)
    keyword = models.CharField(max_length=MAX_KEYWORD_CHARS, blank=True)
    network = models.CharField(max_length=MAX_NETWORK_CHARS, blank=True)
    title = models.CharField(max_length=MAX_IDEA_TITLE_CHARS)
    volume = models.PositiveBigIntegerField(null=True, blank=True)
    rank = models.PositiveIntegerField(null=True, blank=True)
    charge = models.ForeignKey(
        Charge,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="ideas",
        help_text="The search that found it first, if the portal sent it.",
    )
    found_at = models.DateTimeField(
        default=timezone.now, help_text="By the service, else when it was first seen."
    )
    first_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "remote_id"], name="idea_once_per_account"),
            models.CheckConstraint(condition=~Q(title=""), name="idea_has_a_title"),
        ]

    def __str__(self) -> str:
        return self.title


class IdeaRefreshQuerySet(models.QuerySet["IdeaRefresh"]):
    def due(self, now: datetime) -> Self:
        return self.filter(
            upstream_address.current_upstream_filter("account__environment"), due_at__lte=now
        )

    def request(self, account_id: uuid.UUID) -> None:
        """Have the list read from its first page on at the next tick; a reading in progress starts
        again."""
        now = timezone.now()
        self.get_or_create(account_id=account_id)
        row = self.filter(account_id=account_id)
        row.update(requested_at=now, due_at=now, next_page=1)
        row.filter(read_at__gt=now - MIN_READ_INTERVAL).update(due_at=now + MIN_READ_INTERVAL)

    def schedule_first_reads(self) -> None:
        """Make paid accounts due whose list was never read."""
        unread = Account.objects.of_current_upstream().filter(
            idea_refresh=None, plan=AccountPlan.PAID
        )
        rows = [IdeaRefresh(account_id=pk) for pk in unread.values_list("pk", flat=True)]
        self.bulk_create(rows, ignore_conflicts=True)


class IdeaRefresh(models.Model):
    """The reading of an account's list of ideas: when it is due, and how far it has come."""

    account = models.OneToOneField(
        Account, models.CASCADE, primary_key=True, related_name="idea_refresh"
    )
    due_at = models.DateTimeField(default=timezone.now)
    requested_at = models.DateTimeField(
        null=True, blank=True, help_text="When a member or a search requested it; null once read."
    )
    next_page = models.PositiveSmallIntegerField(
        default=1, help_text="The page to read next; above 1 while a reading is in progress."
    )
    failures = models.PositiveSmallIntegerField(default=0, help_text="Reads in a row that failed.")
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="When the list was last read to its end."
    )
    error = models.TextField(blank=True, help_text="Why the last read failed; shown to users.")

    objects = IdeaRefreshQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="idea_refresh_due")]

    def __str__(self) -> str:
        return f"ideas of {self.account_id}, page {self.next_page}"
