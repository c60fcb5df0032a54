"""A transfer of ownership: an owner asks a member to become owner in their place."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from dashboard.models.membership import Membership, Role, Team

OWNERSHIP_TRANSFER_LIFETIME = timedelta(days=7)


class TransferState(models.TextChoices):
    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    TAKEN_BACK = "taken_back"
    LAPSED = "lapsed"  # expired, or one of both left or lost the role before the answer


class OwnershipTransferQuerySet(models.QuerySet["OwnershipTransfer"]):
    def answerable(self, now: datetime) -> Self:
        """Return those that can be accepted: not expired, by an owner, to a member."""
        memberships = Membership.objects.filter(team=OuterRef("team"))
        giver = memberships.filter(user=OuterRef("from_user"), role=Role.OWNER)
        receiver = memberships.filter(user=OuterRef("to_user"))
        pending = self.filter(state=TransferState.PENDING, expires_at__gt=now)
        return pending.filter(Exists(giver), Exists(receiver))


class OwnershipTransfer(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="ownership_transfers")
    from_user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    to_user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=TransferState, default=TransferState.PENDING)
    requested_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = OwnershipTransferQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team"], condition=Q(state="pending"), name="ownership_transfer_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=TransferState.values), name="ownership_transfer_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(from_user=models.F("to_user")), name="ownership_transfer_to_another"
            ),
            models.CheckConstraint(
                condition=Q(state="pending", ended_at__isnull=True)
                | (~Q(state="pending") & Q(ended_at__isnull=False)),
                name="ownership_transfer_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"ownership of {self.team} to {self.to_user}"

    def end(self, state: TransferState) -> None:
        """Save the answer. The caller has locked the row."""
        self.state, self.ended_at = state, timezone.now()
        self.save(update_fields=["state", "ended_at"])
