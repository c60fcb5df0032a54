"""What programs read and call: metadata (RFC 8414, RFC 9728), tokens, revocation, registration."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from allauth.idp.oidc.models import Client, Token
from allauth.idp.oidc.views import ClientRegistrationView, RevokeView, TokenView
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.agents.actions import end_tokens_of_replay
from dashboard.agents.authorization import CODE_MEMORY_S, code_key
from dashboard.agents.documents import check_document_again
from dashboard.agents.scopes import offered_scopes
from dashboard.api_keys.agent_tokens import (
    AGENT_FIELD,
    NO_AGENT,
    agent_resource,
    delete_tokens,
    end_tokens,
    find_agent_of,
)
from proxyapi.models import ApiKey
from proxyapi.pruning import delete_in_batches

USED = "used"  # of `Token.data`: a refresh token that was exchanged, kept to notice a second use
USED_TOKEN_MEMORY = timedelta(days=90)
GRANTS = [str(Client.GrantType.AUTHORIZATION_CODE), str(Client.GrantType.REFRESH_TOKEN)]


@login_not_required
@require_safe
def server_metadata(request: HttpRequest) -> HttpResponse:
    """RFC 8414 section 2."""
    metadata = {
        "issuer": settings.PORTAL_URL,
        "authorization_endpoint": absolute("agent-consent"),
        "token_endpoint": absolute("agent-tokens"),
        "revocation_endpoint": absolute("agent-token-ends"),
        "scopes_supported": offered_scopes(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": GRANTS,
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }
    if settings.IDP_OIDC_DCR_ENABLED:
        metadata["registration_endpoint"] = absolute("agent-clients")
    return answer_anyone(metadata)


@login_not_required
@require_safe
def resource_metadata(request: HttpRequest) -> HttpResponse:
    """RFC 9728 section 2."""
    return answer_anyone(
        {
            "resource": agent_resource(),
            "resource_name": "Reelroom",
            "authorization_servers": [settings.PORTAL_URL],
            "scopes_supported": offered_scopes(),
            "bearer_methods_supported": ["header"],
        }
    )


def answer_anyone(metadata: dict[str, Any]) -> HttpResponse:
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "max-age=3600"}
    return JsonResponse(metadata, headers=headers)


def absolute(name: str) -> str:
    return f"{settings.PORTAL_URL}{reverse(name)}"


class AgentTokens(TokenView):  # type: ignore[misc]
    """Tokens for a code or a refresh token, each of which counts once (RFC 9700 sections 2.1.1 and
    4.14.2): if one comes again, all tokens of its agent end."""

    def post(self, request: HttpRequest) -> HttpResponse:
        values = request.POST
        grant = values.get("grant_type", "")
        if grant not in GRANTS:
            return refuse_grant("unsupported_grant_type")
        if grant == Client.GrantType.REFRESH_TOKEN:
            check_document_again(values.get("client_id", ""))
        with transaction.atomic():
            agent = take_code(values) if grant == GRANTS[0] else take_refresh_token(values)
            if agent is None:
                return refuse_grant("invalid_grant")
            response: HttpResponse = super().post(request)
            if response.status_code == 200:
                bind_tokens(agent, response, values.get("refresh_token", ""))
        return response


def refuse_grant(error: str) -> HttpResponse:
    return JsonResponse({"error": error}, status=400, headers={"Cache-Control": "no-store"})


def take_code(values: QueryDict) -> ApiKey | None:
    """The active agent of a code that comes for the first time."""
    key = code_key(values.get("code", ""))
    agent_id, client_id = cache.get(key) or ("", "")
    if not agent_id or client_id != values.get("client_id"):
        return None
    agent = lock_active(agent_id)
    if not cache.add(f"{key}:used", True, timeout=CODE_MEMORY_S):
        if agent is not None:
            end_tokens_of_replay(agent, "code")
        return None
    return agent


def lock_active(agent_id: Any) -> ApiKey | None:
    """The agent, locked: the second of two at once reads, and ends, what the first has written."""
    active = ApiKey.objects.active(timezone.now()).select_for_update(no_key=True)
    return active.filter(pk=agent_id).first()


def take_refresh_token(values: QueryDict) -> ApiKey | None:
    """The active agent of a refresh token that was not used before."""
    rows = Token.objects.by_value(values.get("refresh_token", ""))
    rows = rows.filter(type=Token.Type.REFRESH_TOKEN, client=values.get("client_id"))
    token = rows.first()
    if token is None or lock_active((token.data or {}).get(AGENT_FIELD, NO_AGENT)) is None:
        return None
    token = rows.first()  # the one before the lock may have been used meanwhile
    agent = find_agent_of(token) if token else None
    if agent is not None and token is not None and (token.data or {}).get(USED):
        end_tokens_of_replay(agent, "refresh token")
        return None
    return agent


def bind_tokens(agent: ApiKey, response: HttpResponse, used: str) -> None:
    """Write the agent to the new tokens; only bound ones are accepted. The refresh token that was
    exchanged stays as used."""
    answer = json.loads(response.content)
    for name in ("access_token", "refresh_token"):
        token = Token.objects.by_value(answer[name]).get()
        token.data = {**(token.data or {}), AGENT_FIELD: str(agent.pk)}
        token.save(update_fields=["data"])
    if used:
        spent = Token(
            type=Token.Type.REFRESH_TOKEN,
            client_id=agent.client_id,
            user_id=agent.owner_id,
            data={AGENT_FIELD: str(agent.pk), USED: True},
            expires_at=timezone.now(),
        )
        spent.set_value(used)
        spent.save()


def prune_agent_tokens() -> None:
    """Delete tokens that expired; used refresh tokens are kept for `USED_TOKEN_MEMORY`."""
    now = timezone.now()
    access = Token.objects.filter(expires_at__lte=now, type=Token.Type.ACCESS_TOKEN)
    for old in (access, Token.objects.filter(expires_at__lte=now - USED_TOKEN_MEMORY)):
        delete_in_batches(old, delete=delete_tokens)


class AgentTokenEnds(RevokeView):  # type: ignore[misc]
    """RFC 7009: the end of a refresh token is that of the access tokens, too (section 2.1)."""

    def post(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        refresh = Token.objects.lookup(Token.Type.REFRESH_TOKEN, request.POST.get("token", ""))
        response: HttpResponse = super().post(request, *args, **options)
        if response.status_code == 200 and refresh and (agent := find_agent_of(refresh)):
            end_tokens(agent)
        return response


class AgentClients(ClientRegistrationView):  # type: ignore[misc]
    """RFC 7591, if the operator allows it (AGENT_REGISTRATION)."""

    def post(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        if not settings.IDP_OIDC_DCR_ENABLED:
            raise Http404
        response: HttpResponse = super().post(request, *args, **options)
        return response
