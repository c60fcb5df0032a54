"""The ASGI application at `/mcp`: who calls, and the SDK's transport without sessions."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response

from proxyapi.gateway import access, keys
from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.app import Gateway
from proxyapi.gateway.team_rules import team_rules
from proxyapi.gateway.threads import in_thread
from proxyapi.mcp_server import PATH
from proxyapi.mcp_server.server import CALLER, Caller, build_server
from proxyapi.models import ApiKey

METADATA_PATH = f"/.well-known/oauth-protected-resource{PATH}"
MAX_BODY_BYTES = 1024**2


def find_caller(value: str, now: datetime) -> ApiKey | None:
    """The key with this value, or of the agent with this OAuth access token."""
    return keys.find_key(value, now) or team_rules().find_agent_key(value)


def accepted_addresses() -> TransportSecuritySettings:
    """Hosts and origins that requests may name, against DNS rebinding: those of the site."""
    portal = urlsplit(settings.PORTAL_URL)
    named = [host for host in settings.ALLOWED_HOSTS if host != "*" and not host.startswith(".")]
    hosts = [portal.netloc, *named, *(f"{host}:*" for host in named)]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"{portal.scheme}://{portal.netloc}"]
    )


class McpApp:
    """`PATH` as an ASGI application. The SDK's task group starts with the first request, because
    the server runs without ASGI's lifespan."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway, self.server = gateway, build_server()
        self.manager: StreamableHTTPSessionManager | None = None
        self.running: asyncio.Task[None] | None = None
        self.is_ready = asyncio.Event()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        request = Request(scope)
        try:
            value = access.bearer_value(request)
            client_ip = team_rules().client_ip(scope)
            key = await in_thread(access.authenticate, value, client_ip, find_caller)
        except GatewayRefusal as refusal:
            await refuse(refusal)(scope, receive, send)
            return
        agent = request.headers.get("user-agent", "")
        manager = await self.start()
        await manager.handle_request(
            {**scope, CALLER: Caller(self.gateway, key, client_ip, agent)}, receive, send
        )

    async def start(self) -> StreamableHTTPSessionManager:
        if self.manager is None or self.running is None or self.running.done():
            self.is_ready = asyncio.Event()
            self.manager = StreamableHTTPSessionManager(
                self.server._lowlevel_server,
                json_response=True,
                stateless=True,
                security_settings=accepted_addresses(),
                max_request_body_size=MAX_BODY_BYTES,
            )
            self.running = asyncio.create_task(self.run(self.manager, self.is_ready))
        await self.is_ready.wait()
        return self.manager

    async def run(self, manager: StreamableHTTPSessionManager, is_ready: asyncio.Event) -> None:
        async with manager.run():
            is_ready.set()
            await asyncio.Event().wait()


def refuse(refusal: GatewayRefusal) -> Response:
    """401 leads a client to the authorization server (RFC 9728)."""
    headers = {"cache-control": "no-store"}
    if refusal.status == 401:
        url = f"{settings.PORTAL_URL}{METADATA_PATH}"
        headers["www-authenticate"] = f'Bearer resource_metadata="{url}"'
    body = {"error": refusal.code, "error_description": refusal.message}
    return Response(json.dumps(body), refusal.status, headers, media_type="application/json")
