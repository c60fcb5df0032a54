"""The gateway and the MCP server in front of the site: what is under `/api/`, or is `/mcp`, never
reaches Django's middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from proxyapi import mcp_server

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
API_BEGINNING = "/api/"


class GatewayFirst:
    """An ASGI application that chooses by the path."""

    def __init__(self, gateway: Application, agents: Application, site: Application) -> None:
        self.gateway, self.agents, self.site = gateway, agents, site

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        chosen, path = self.site, scope["path"] if scope["type"] == "http" else ""
        if path.startswith(API_BEGINNING):
            chosen = self.gateway
        elif path == mcp_server.PATH:
            chosen = self.agents
        await chosen(scope, receive, send)
