"""A team: the people who share one tenant."""

from __future__ import annotations

import uuid

from django.db import models

from proxyapi.models import Tenant


class Team(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=60)
    tenant = models.OneToOneField(Tenant, models.PROTECT, related_name="team")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name
