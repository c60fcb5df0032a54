"""A member's upstream API token, encrypted.

Only `proxyapi/credentials/token_vault.py` decrypts it.
"""

from __future__ import annotations

import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Case, Q, When

from proxyapi import upstream_address
from proxyapi.models.account import Account
from proxyapi.models.tenant import Tenant


class TokenState(models.TextChoices):
    WORKING = "working"
    REVOKED = "revoked"  # 401: the upstream no longer accepts it
    PAUSED = "paused", "paused (plan)"  # a subscription code: resumes by itself
    REMOVED = "removed"  # removed by its owner; the ciphertext is deleted


NOT_STOPPED_STATES = (TokenState.WORKING, TokenState.PAUSED)


class TokenQuerySet(models.QuerySet["Token"]):
    def of_current_upstream(self) -> Self:
        return self.filter(upstream_address.current_upstream_filter("account__environment"))

    def not_stopped(self) -> Self:
        return self.filter(state__in=NOT_STOPPED_STATES)

    def usable(self) -> Self:
        """Tokens that may be sent: not stopped, and of the upstream in use."""
        return self.not_stopped().of_current_upstream()

    def not_removed(self) -> Self:
        return self.exclude(state=TokenState.REMOVED)

    def best_first(self) -> Self:
        """The order in which new work chooses its token: working, then paused, then stopped; newest
        first."""
        rank = Case(
            *(When(state=state, then=index) for index, state in enumerate(NOT_STOPPED_STATES)),
            default=len(NOT_STOPPED_STATES),
        )
        return self.order_by(rank, "-created_at")


class Token(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="tokens")
    account = models.ForeignKey(Account, models.PROTECT, related_name="tokens")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="tokens")
    ciphertext = models.BinaryField(
        help_text="Bound to this row, see proxyapi/credentials/encryption.py."
    )
    fingerprint = models.CharField(max_length=16)
    last_four = models.CharField(max_length=4)
    name = models.CharField(max_length=60, blank=True, default="", db_default="")
    state = models.CharField(max_length=8, choices=TokenState, default=TokenState.WORKING)
    state_since = models.DateTimeField(auto_now_add=True)
    refused_at = models.DateTimeField(
        null=True, blank=True, help_text="When the upstream last answered 401 to it."
    )
    checked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "fingerprint"],
                condition=~Q(state="removed"),
                name="token_once_per_tenant",
            ),
            models.CheckConstraint(
                condition=Q(state__in=TokenState.values), name="token_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"token …{self.last_four}"

    @property
    def is_usable(self) -> bool:
        """Whether `TokenQuerySet.usable` has it."""
        return self.state in NOT_STOPPED_STATES and self.account.is_of_current_upstream

    @property
    def bucket(self) -> str:
        """Key of its rate limit: the service counts per token, in however many rows or teams it is
        stored (rule 5)."""
        return self.fingerprint

    @classmethod
    def sealed_rows(cls) -> TokenQuerySet:
        """Return the rows that hold a value: that of a removed one was deleted."""
        return cls.objects.not_removed()

    def encryption_context(self) -> str:
        """What the ciphertext is bound to: moved to another row it cannot be decrypted."""
        return f"proxyapi_token:{self.pk}"
