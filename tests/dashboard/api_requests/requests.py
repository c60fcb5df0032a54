"""Rows of the request log for tests."""

from __future__ import annotations

from typing import Any

from dashboard.models import Membership
from proxyapi.gateway.keys import create_key
from proxyapi.models import ApiKey, GatewayRequest, KeyScope


def make_key(member: Membership, name: str = "nightly-shorts") -> ApiKey:
    return create_key(member.team.tenant, member.user_id, name, list(KeyScope)).key


def log_request(key: ApiKey, **fields: Any) -> GatewayRequest:
    """A request of the key: a free read that the service answered, unless `fields` say else."""
    values: dict[str, Any] = {
        "operation": "faceless.get",
        "path": "/faceless/4802",
        "status": 200,
        "total_ms": 152,
        "service_ms": 148,
        "service_requests": 1,
    }
    return GatewayRequest.objects.create(tenant=key.tenant, key=key, **{**values, **fields})
