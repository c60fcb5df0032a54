"""Agents of a member in each state, and the request of a program for the consent page."""

from __future__ import annotations

import base64
import hashlib
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token as OAuthToken
from django.utils import timezone

from dashboard.agents.documents import offer_usual_grants
from dashboard.api_keys.agent_approvals import request_items
from dashboard.api_keys.agent_tokens import agent_resource
from proxyapi.gateway.keys import create_key
from proxyapi.models import ApiKey, ChargeState, KeyScope, Token
from tests.factories import ChargeFactory, JobFactory

PROGRAM = "film-helper"  # the id of a program that registered itself
SCOPES = (KeyScope.READ, KeyScope.CREATE, KeyScope.RENDER)
# Credits spent and held of 50, and fields: active, near its limit, used up, paused, not connected,
# ended, expired.
AGENTS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "Claude Code": (12, 8, {"charge_limit": Decimal(25)}),
    "Cursor, in the studio": (42, 0, {}),
    "Codex CLI": (46, 4, {}),
    "Gemini CLI": (5, 0, {"paused_at": timedelta(hours=-2)}),
    "ChatGPT": (0, 0, {"is_connected": False}),
    "Reader of costs": (0, 0, {"scopes": (KeyScope.READ,), "allowance": Decimal(0)}),
    "Last week’s helper": (31, 0, {"revoked_at": timedelta(days=-3)}),
    "Of October": (50, 0, {"expires_at": timedelta(days=-30)}),
}


def add_agents(token: Token) -> dict[str, ApiKey]:
    """The owner of the token has all `AGENTS`; returns them by name."""
    now, made = timezone.now(), {}
    client, _ = OAuthClient.objects.get_or_create(pk="https://helper.example/client.json")
    for name, (spent, held, given) in AGENTS.items():
        fields: dict[str, Any] = {"allowance": Decimal(50), "expires_at": timedelta(days=7)}
        fields |= given
        is_connected = fields.pop("is_connected", True)
        fields = {k: now + v if isinstance(v, timedelta) else v for k, v in fields.items()}
        scopes = fields.pop("scopes", SCOPES)
        fields["client_id"] = client.pk
        key = create_key(token.tenant, token.owner_id, name, scopes, **fields).key
        key.created_at, key.prefix, key.last_four = now - timedelta(days=40), "", ""
        key.last_used_at = now - timedelta(minutes=9)
        key.save()
        for credits, state in ((spent, ChargeState.CONFIRMED), (held, ChargeState.HELD)):
            if credits:
                add_charge(token, key, Decimal(credits), state)
        if is_connected:
            OAuthToken.objects.create(
                type=OAuthToken.Type.REFRESH_TOKEN,
                hash=str(key.pk),
                client=client,
                data={"agent": str(key.pk)},
                expires_at=now + timedelta(days=90),
            )
        made[name] = key
    return made


def add_charge(token: Token, key: ApiKey, credits: Decimal, state: ChargeState) -> None:
    now = timezone.now()
    is_paid = state == ChargeState.CONFIRMED
    settled = {"cost": credits, "sent_at": now, "settled_at": now} if is_paid else {}
    job = JobFactory.create(account=token.account, token=token, draft=None)
    ChargeFactory.create(job=job, api_key=key, hold=credits, state=state, **settled)


def ask_for_items(key: ApiKey) -> UUID:
    words = "Five teasers for the series, one a day"
    wish: dict[str, Any] = {"items": 5, "credits": Decimal(120), "hours": 24, "reason": words}
    return request_items(key, **wish).pk


def consent_query() -> str:
    """The request of a program that registered itself."""
    client = OAuthClient(id=PROGRAM, name="Film helper", type=OAuthClient.Type.PUBLIC)
    offer_usual_grants(client)
    client.set_redirect_uris(["http://127.0.0.1/callback"])
    client.save()
    digest = hashlib.sha256(b"a-verifier-of-at-least-forty-three-characters-0123").digest()
    return urlencode(
        {
            "response_type": "code",
            "client_id": PROGRAM,
            "redirect_uri": "http://127.0.0.1:54321/callback",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "state": "of-this-sign-in",
            "scope": "read create render",
            "resource": agent_resource(),
        }
    )
