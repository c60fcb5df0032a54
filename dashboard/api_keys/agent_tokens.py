"""Access tokens of agents: rows of allauth's provider, bound to the agent and to the address that
they are for (RFC 8707)."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from allauth.idp.oidc.models import Token
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from proxyapi import mcp_server
from proxyapi.models import ApiKey

NO_AGENT = UUID(int=0)
AGENT_FIELD = "agent"  # of `Token.data`: the id of the `ApiKey`


def agent_resource() -> str:
    """The address that access tokens are for: the resource of RFC 8707 and RFC 9728."""
    return f"{settings.PORTAL_URL}{mcp_server.PATH}"


def find_agent_by_token(value: str) -> ApiKey | None:
    """The active agent of an access token, with its tenant and owner; None if the token is unknown,
    expired or for another address, or the agent was ended or has expired. Two queries."""
    token = Token.objects.lookup(Token.Type.ACCESS_TOKEN, value)
    if token is None or agent_resource() not in token.get_resources():
        return None
    return find_agent_of(token)


def find_agent_of(token: Token) -> ApiKey | None:
    """The active agent that a token belongs to. One query."""
    agents = ApiKey.objects.active(timezone.now()).filter(
        pk=(token.data or {}).get(AGENT_FIELD, NO_AGENT),
        client_id=token.client_id,
        owner=token.user_id,
        owner__is_active=True,
    )
    return agents.select_related("tenant", "owner", "token__account").first()


def find_connected(agents: Collection[ApiKey]) -> set[UUID]:
    """The ids of those whose program can still go on: it has a refresh token. One query."""
    clients = {agent.client_id for agent in agents}
    rows = Token.objects.filter(
        type=Token.Type.REFRESH_TOKEN, client__in=clients, expires_at__gt=timezone.now()
    )
    bound = [(data or {}).get(AGENT_FIELD, "") for data in rows.values_list("data", flat=True)]
    return {agent.pk for agent in agents if str(agent.pk) in bound}


def end_tokens(agent: ApiKey) -> int:
    """Delete all tokens of an agent and return how many there were."""
    return delete_tokens(Token.objects.filter(client=agent.client_id, data__agent=str(agent.pk)))


@transaction.atomic
def delete_tokens(tokens: QuerySet[Token]) -> int:
    """Delete them and return how many there were. They are locked in the order of their ids, so
    that two transactions that delete the same ones never wait for each other."""
    ids = list(tokens.order_by("pk").select_for_update().values_list("pk", flat=True))
    return int(Token.objects.filter(pk__in=ids).delete()[0])
