"""A database epoch: the time from one restoration of the database to the next.

The charge log, which lives outside the database, names the epoch of each record. A database with
another current epoch than the newest record went back in time.
"""

from __future__ import annotations

import uuid

from django.db import models, transaction
from django.db.utils import IntegrityError
from django.utils import timezone


class DatabaseEpochQuerySet(models.QuerySet["DatabaseEpoch"]):
    def get_or_create_current(self) -> DatabaseEpoch:
        """The newest epoch; a new database begins its first one."""
        found = self.order_by("-number").first()
        if found is not None:
            return found
        try:
            with transaction.atomic():
                return self.create(number=1)
        except IntegrityError:  # another process began it just now
            return self.get(number=1)


class DatabaseEpoch(models.Model):
    number = models.PositiveIntegerField(primary_key=True)
    id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    begun_at = models.DateTimeField(default=timezone.now)
    report = models.JSONField(
        default=dict, blank=True, help_text="What was recovered when it began, for people."
    )

    objects = DatabaseEpochQuerySet.as_manager()

    def __str__(self) -> str:
        return f"epoch {self.number}"
