"""An invitation: an address that may join a team with a role, by a link that works once.

Only the hash of the link's key is stored. The worker that mails the link makes the key, so it is in
no task argument; each mail has a new key, which ends the one before.
"""

from __future__ import annotations

import hashlib
import uuid
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Role, Team

INVITATION_LIFETIME = timedelta(days=7)
MAX_INVITATION_MESSAGE_CHARS = 500


class InvitationState(models.TextChoices):
    PENDING = "pending"
    ACCEPTED = "accepted"
    REVOKED = "revoked"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def pending(self) -> Self:
        """Return those that wait for an answer, expired ones too."""
        return self.filter(state=InvitationState.PENDING)

    def due(self, now: datetime) -> Self:
        """Return those whose mail is to be sent now."""
        return self.pending().filter(mail_due_at__lte=now, expires_at__gt=now)


class Invitation(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="invitations")
    address = models.EmailField(help_text="In lower case.")
    role = models.CharField(max_length=9, choices=Role)
    founds_team = models.BooleanField(
        default=False, help_text="Of the first owner of a team that an operator created."
    )
    message = models.CharField(max_length=MAX_INVITATION_MESSAGE_CHARS, blank=True)
    state = models.CharField(max_length=8, choices=InvitationState, default=InvitationState.PENDING)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    key_hash = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the link's key; empty until it is mailed."
    )
    opened_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    mail_due_at = models.DateTimeField(
        null=True, blank=True, help_text="When to send the mail; null if it is sent or given up."
    )
    mail_attempts = models.PositiveSmallIntegerField(default=0)
    mail_sent_at = models.DateTimeField(null=True, blank=True)
    mail_error = models.CharField(max_length=200, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "pk")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "address"],
                condition=Q(state="pending"),
                name="invitation_once_per_address",
            ),
            models.UniqueConstraint(
                fields=["key_hash"], condition=~Q(key_hash=""), name="invitation_key_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=InvitationState.values), name="invitation_state_known"
            ),
            models.CheckConstraint(
                # A team with members never gives its ownership by a link (ownership_transfer.py).
                condition=Q(role__in=[role.value for role in Role if role != Role.OWNER])
                | Q(role="owner", founds_team=True),
                name="invitation_role_known",
            ),
            models.CheckConstraint(
                condition=Q(state="pending", ended_at__isnull=True)
                | (~Q(state="pending") & Q(ended_at__isnull=False)),
                name="invitation_ended_has_time",
            ),
            models.CheckConstraint(
                condition=Q(state="accepted", accepted_by__isnull=False)
                | (~Q(state="accepted") & Q(accepted_by__isnull=True)),
                name="invitation_accepted_by_a_person",
            ),
        ]
        indexes = [
            models.Index(
                fields=["mail_due_at"],
                condition=Q(mail_due_at__isnull=False),
                name="invitation_mail_due",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation of {self.address}"

    @property
    def is_expired(self) -> bool:
        return self.state == InvitationState.PENDING and self.expires_at <= timezone.now()

    @property
    def is_open(self) -> bool:
        """Whether its link can be accepted."""
        return self.state == InvitationState.PENDING and not self.is_expired

    def end(self, state: InvitationState) -> None:
        """Save how it ended; its mail is not sent any more. The caller has locked the row."""
        self.state, self.ended_at, self.mail_due_at = state, timezone.now(), None
        self.save(update_fields=["state", "ended_at", "mail_due_at", "accepted_by"])


def hash_invitation_key(key: str) -> str:
    """Return the stored form of a key. The key is random, so one round of SHA-256 is enough."""
    return hashlib.sha256(key.encode()).hexdigest()
