"""URLs of agents: the pages, and what OAuth clients read and call."""

from __future__ import annotations

from django.urls import path

from dashboard.agents import endpoints, views
from proxyapi import mcp_server

RESOURCE_METADATA = ".well-known/oauth-protected-resource"

urlpatterns = [
    path("agents/", views.agents, name="agents"),
    path("agents/consent/", views.Consent.as_view(), name="agent-consent"),
    path("agents/approvals/<uuid:items_id>/", views.AgentItems.as_view(), name="agent-approval"),
    path("agents/<uuid:agent_id>/credits/", views.AgentCredits.as_view(), name="agent-credits"),
    path("agents/<uuid:agent_id>/ends/", views.AgentEnd.as_view(), name="agent-ends"),
    path("oauth/tokens/", endpoints.AgentTokens.as_view(), name="agent-tokens"),
    path("oauth/token-ends/", endpoints.AgentTokenEnds.as_view(), name="agent-token-ends"),
    path("oauth/clients/", endpoints.AgentClients.as_view(), name="agent-clients"),
    path(
        ".well-known/oauth-authorization-server",
        endpoints.server_metadata,
        name="oauth-server-metadata",
    ),
    path(
        f"{RESOURCE_METADATA}{mcp_server.PATH}",
        endpoints.resource_metadata,
        name="oauth-resource-metadata",
    ),
]
