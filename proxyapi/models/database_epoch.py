"""A database epoch: the time from one restoration of the database to the next.

The charge log, which is stored outside the database, records the epoch of each record. If the
database's current epoch differs from the newest record's, the database was restored to an earlier
time.
"""

from __future__ import annotations

import uuid

from django.db import models, transaction
from django.db.utils import IntegrityError
from django.utils import timezone


class DatabaseEpochQuerySet(models.QuerySet["DatabaseEpoch"]):
    def get_or_create_current(self) -> DatabaseEpoch:
        """The newest epoch; a new database begins its first one."""
        epoch = self.order_by("-number").first()
        if epoch is not None:
            return epoch
        try:
            with transaction.atomic():
                return self.create(number=1)
        except IntegrityError:  # another process has just begun it
            return self.get(number=1)


class DatabaseEpoch(models.Model):
    number = models.PositiveIntegerField(primary_key=True)
    id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    begun_at = models.DateTimeField(default=timezone.now)
    report = models.JSONField(
        default=dict, blank=True, help_text="Report of the recovery at its start, for the operator."
    )

    objects = DatabaseEpochQuerySet.as_manager()

    def __str__(self) -> str:
        return f"epoch {self.number}"
