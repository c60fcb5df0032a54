"""The gateway in front of the site: what is under `/api/` never reaches Django's middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
API_BEGINNING = "/api/"


class GatewayFirst:
    """An ASGI application that chooses by the path."""

    def __init__(self, gateway: Application, site: Application) -> None:
        self.gateway, self.site = gateway, site

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        is_api = scope["type"] == "http" and scope["path"].startswith(API_BEGINNING)
        await (self.gateway if is_api else self.site)(scope, receive, send)
