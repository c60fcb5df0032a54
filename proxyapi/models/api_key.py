"""A key that the portal issues for its own gateway; only its hash is stored, and it is shown
once. A connected agent is a key, too: its OAuth client has the tokens, and nobody sees a value."""

from __future__ import annotations

import uuid
from datetime import datetime
from ipaddress import ip_address, ip_network
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.models.tenant import Tenant
from proxyapi.models.token import Token


class KeyScope(models.TextChoices):
    READ = "read"  # reads of everything but the account
    CREATE = "create"  # free changes: drafts, settings, uploads that cost nothing
    RENDER = "render"  # every operation that charges
    CREDITS = "credits"  # the account: profile, costs, history, automatic top-up
    REPORTS = "reports"  # the team's usage, ledger, budgets and audit log, as its owner reads them


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def active(self, now: datetime) -> Self:
        """Keys that are accepted: neither revoked nor expired. A paused key is accepted for
        reads."""
        return self.filter(
            Q(expires_at__isnull=True) | Q(expires_at__gt=now), revoked_at__isnull=True
        )


class ApiKey(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="keys")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    token = models.ForeignKey(
        Token,
        models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        help_text="The token it runs on; null for the best one of its owner.",
    )
    name = models.CharField(max_length=60)
    prefix = models.CharField(
        max_length=16, default="", db_default="", help_text="Its readable beginning, to find it."
    )
    digest = models.CharField(max_length=64, unique=True)
    last_four = models.CharField(max_length=4)
    previous_digest = models.CharField(
        max_length=64, null=True, blank=True, unique=True, help_text="Before its rotation."
    )
    previous_until = models.DateTimeField(
        null=True, blank=True, help_text="Until when the value before the rotation is accepted."
    )
    scopes = models.JSONField(default=list)
    daily_limit = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Credits a day."
    )
    monthly_limit = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Credits a month."
    )
    allowance = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Credits in all, until it expires."
    )
    charge_limit = models.DecimalField(
        **CREDIT_FIELD_OPTIONS,
        null=True,
        blank=True,
        help_text="Credits of one charge; a person is asked above it.",
    )
    job_label = models.CharField(
        max_length=40,
        blank=True,
        default="",
        db_default="",
        help_text="The name of the label that what it makes gets.",
    )
    client_id = models.CharField(
        max_length=500,
        blank=True,
        default="",
        db_default="",
        help_text="The OAuth client of an agent; empty for the key of a script.",
    )
    requests_per_minute = models.PositiveSmallIntegerField(null=True, blank=True)
    networks = models.JSONField(
        default=list, db_default=[], help_text="IP ranges it is accepted from; empty for all."
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on it charges and changes nothing."
    )
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(previous_digest=None) | Q(previous_until__isnull=False),
                name="key_rotation_has_end",
            ),
        ]
        indexes = [models.Index(fields=["tenant", "-created_at"], name="key_of_tenant")]

    def __str__(self) -> str:
        return f"key {self.name} …{self.last_four}"

    @property
    def noun(self) -> str:
        """What people call it."""
        return "agent" if self.client_id else "API key"

    def is_active(self, now: datetime) -> bool:
        """As `ApiKeyQuerySet.active`."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)

    def has_scope(self, scope: KeyScope) -> bool:
        return scope in self.scopes

    def accepts_address(self, client_ip: str) -> bool:
        """Whether a request from this address may use it."""
        if not self.networks:
            return True
        try:
            address = ip_address(client_ip)
        except ValueError:
            return False
        return any(address in ip_network(network) for network in self.networks)
