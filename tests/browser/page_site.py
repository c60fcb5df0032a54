"""Pages of the demo team in a real browser, without the processes of the portal.

A Django test client answers what the browser sends for; static files are those that were collected.
Django runs in one thread of its own, because Playwright runs an event loop in that of the tests,
with a database of its own.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.test import Client, override_settings
from django.utils import timezone
from playwright.sync_api import Request, Route

from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.models import Membership
from dashboard.static_files.releases import collect_static_files
from proxyapi import calls
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient
from tests.migrated_database import copy_migrated_database
from tests.proxyapi.money.in_process_sandbox import ADDRESS, InProcessSandbox

# A name that browsers trust as they trust TLS; nothing listens there.
ORIGIN = "http://localhost"
BUNDLING_STORAGE = "dashboard.static_files.bundles.BundlingStorage"
MEDIA = ("/media/", "/poster/")  # films and pictures of the sandbox: the pages are seen without

Found = TypeVar("Found")


class PageSite:
    """The database, and a test client for each person who was asked for."""

    def __init__(self, thread: ThreadPoolExecutor, static_root: Path) -> None:
        self.thread, self.static_root = thread, static_root
        self.clients: dict[str, Client] = {}

    def run(self, function: Callable[..., Found], *args: Any) -> Found:
        """Run it where the database is."""
        return self.thread.submit(function, *args).result()

    def client(self, first_name: str) -> Client:
        """Somebody who has signed in; nobody with an empty name."""
        if first_name not in self.clients:
            client = self.clients[first_name] = Client(SERVER_NAME="localhost")
            if first_name:
                client.force_login(
                    Membership.objects.get(user__name__startswith=f"{first_name} ").user
                )
        return self.clients[first_name]

    def answer(self, route: Route, first_name: str) -> int:
        """Answer what a page of this person sent for. Returns the bytes that come over the wire,
        without those of films."""
        path = urlsplit(route.request.url).path
        if path.startswith(settings.STATIC_URL):
            return answer_static(route, self.static_root / path.removeprefix(settings.STATIC_URL))
        if path.endswith(MEDIA):
            route.fulfill(status=204)
            return 0
        response = self.run(self.send, route.request, first_name)
        body, headers = response.content, dict(response.headers)
        size = len(body) + sum(len(name) + len(value) + 4 for name, value in headers.items())
        if headers.pop("Content-Encoding", "") == "gzip":
            body = gzip.decompress(body)
            headers.pop("Content-Length")
        route.fulfill(status=response.status_code, headers=headers, body=body)
        return size

    def send(self, request: Request, first_name: str) -> Any:
        path = request.url.removeprefix(ORIGIN)
        headers = request.headers | {"Accept-Encoding": "gzip"}
        return self.client(first_name).generic(request.method, path, headers=headers)


def answer_static(route: Route, file: Path) -> int:
    """Returns its bytes as a browser gets them; fails if it was not collected."""
    route.fulfill(path=file)
    compressed = file.with_name(f"{file.name}.br")
    return (compressed if compressed.exists() else file).stat().st_size


@contextmanager
def demo_site(var: Path) -> Iterator[PageSite]:
    """The demo team with its past. Connections to databases must be allowed."""
    with ThreadPoolExecutor(1) as thread:
        site, stack = PageSite(thread, var / "static"), ExitStack()
        try:
            site.run(enter_demo, stack, var)
            yield site
        finally:
            site.run(stack.close)


def enter_demo(stack: ExitStack, var: Path) -> None:
    copy_migrated_database(var / "site.sqlite3")
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": var / "site.sqlite3"}
    connections["default"] = DatabaseWrapper(
        connections.configure_settings({"default": database})["default"]
    )
    stack.callback(connection.close)
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    stack.enter_context(
        override_settings(
            VAR=var,
            DEMO="full",
            STATIC_ROOT=var / "static",
            STORAGES={**settings.STORAGES, "staticfiles": {"BACKEND": BUNDLING_STORAGE}},
            VIDEO_API_BASE_URL=f"{ADDRESS}/v2",
            VIDEO_API_IS_SANDBOX=True,
        )
    )
    (var / "static").mkdir()
    collect_static_files()
    sandbox = InProcessSandbox(var / "media", stack.enter_context(asyncio.Runner()))
    sandbox.clock.set_mode("real", now=timezone.now().timestamp())
    control = stack.enter_context(httpx.Client(transport=sandbox, base_url=ADDRESS))

    def send(_: SandboxAdmin, method: str, path: str, body: Any = None) -> Any:
        return control.request(method, path, json=body).raise_for_status().json()

    patch.setattr(SandboxAdmin, "_request", send)
    client = stack.enter_context(UpstreamClient(f"{ADDRESS}/v2", OPERATIONS, transport=sandbox))
    patch.setattr(calls, "upstream_client", lambda: client)
    call_command("seed_demo", verbosity=0)
