"""`manage.py mcp`: the portal's MCP server over standard input and output, for agents on this
machine that take no address. It passes calls on to the portal, with the key in the environment."""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser
from typing import Any

import httpx2
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult

KEY_VARIABLE = "REELROOM_KEY"
TIMEOUT_S = 70.0  # longer than the longest tool
UNREACHABLE = "{url} does not answer, or does not accept the key."


class Command(BaseCommand):
    help = f"Serves the tools for agents over stdio, with the API key in {KEY_VARIABLE}."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default=f"{settings.PORTAL_URL}/mcp", help="of the server")

    def handle(self, *_: Any, url: str, **options: Any) -> None:
        key = os.environ.get(KEY_VARIABLE, "")
        if not key:
            raise CommandError(f"Put an API key of Reelroom into the variable {KEY_VARIABLE}.")
        try:
            asyncio.run(serve(url, key))
        except (OSError, httpx2.HTTPError, ExceptionGroup):
            raise CommandError(UNREACHABLE.format(url=url)) from None


async def serve(url: str, key: str) -> None:
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S) as http,
        Client(streamable_http_client(url, http_client=http)) as portal,
        stdio_server() as (reader, writer),
    ):
        server = build_proxy(portal)
        await server.run(reader, writer, server.create_initialization_options())


def build_proxy(portal: Client) -> Server[Any]:
    """A server whose tools are those of the portal."""

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return await portal.list_tools()

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        return await portal.call_tool(params.name, params.arguments)

    return Server(
        "reelroom",
        instructions=portal.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
