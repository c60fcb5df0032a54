"""One requested change of an account's automatic top-up, and its outcome (rule 7).

    asked → sending → saved | refused
                    → unknown → saved | refused
                    → asked, when the request provably did not start

A change that was not sent yet may be refused too.

The row is the job that a worker claims. `unknown` means that the answer was lost: the PUT is
idempotent, so reading the preference back shows the outcome; it is not sent a second time.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models.account import Account
from proxyapi.models.token import Token


class TopUpChangeState(models.TextChoices):
    ASKED = "asked"
    SENDING = "sending"
    UNKNOWN = "unknown"
    SAVED = "saved"
    REFUSED = "refused"


OPEN_CHANGE_STATES = (TopUpChangeState.ASKED, TopUpChangeState.SENDING, TopUpChangeState.UNKNOWN)


class TopUpChangeQuerySet(models.QuerySet["TopUpChange"]):
    def open(self) -> Self:
        return self.filter(state__in=OPEN_CHANGE_STATES)

    def due(self, now: datetime) -> Self:
        """Changes for a worker: new, abandoned and unknown ones whose due time has come."""
        return self.open().filter(due_at__lte=now).order_by("due_at")

    def transition(self, change: TopUpChange, to: TopUpChangeState, **fields: object) -> bool:
        """Conditional update; return False if another worker was faster."""
        moved = self.filter(pk=change.pk, state=change.state).update(state=to, **fields)
        if moved:
            change.refresh_from_db()
        return bool(moved)


class TopUpChange(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="top_up_changes")
    token = models.ForeignKey(Token, models.PROTECT, related_name="+")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    # The nonce of the form: submitting it twice creates one change.
    nonce = models.UUIDField()
    seen = models.JSONField(help_text="The preference that the form showed.")
    wanted = models.JSONField(help_text="The requested preference.")
    state = models.CharField(max_length=7, choices=TopUpChangeState, default=TopUpChangeState.ASKED)
    reason = models.TextField(blank=True, help_text="Result; shown to users.")
    requested_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(
        null=True, blank=True, help_text="When the PUT was sent, or was about to be."
    )
    settled_at = models.DateTimeField(null=True, blank=True)

    objects = TopUpChangeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account"],
                condition=Q(state__in=["asked", "sending", "unknown"]),
                name="top_up_change_one_at_a_time",
            ),
            models.UniqueConstraint(fields=["account", "nonce"], name="top_up_change_once"),
            models.CheckConstraint(
                condition=Q(state__in=TopUpChangeState.values), name="top_up_change_state_known"
            ),
        ]
        indexes = [models.Index(fields=["account", "-requested_at"], name="top_up_change_newest")]

    def __str__(self) -> str:
        return f"{self.state} change of {self.account_id}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_CHANGE_STATES
