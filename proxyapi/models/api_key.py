"""A key that the portal issues for its own gateway; only its hash is stored, and it is shown
once."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from proxyapi.models.tenant import Tenant


class ApiKey(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="keys")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    name = models.CharField(max_length=60)
    digest = models.CharField(max_length=64, unique=True)
    last_four = models.CharField(max_length=4)
    scopes = models.JSONField(default=list)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"key {self.name} …{self.last_four}"
