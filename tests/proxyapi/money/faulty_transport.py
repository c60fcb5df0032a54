"""The wire between us and the sandbox, which can be made to fail before a request reaches it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase

import httpx
import pytest

from proxyapi.operations import Operation, table
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.tls import shared_ssl_context

Trouble = Callable[[httpx.Request], httpx.Response]
TIMEOUT = 0.8  # seconds to wait for an answer; the catalog's 30 to 150 would take days here


class OrderedFault(threading.local):
    """Each lane's own: the path, and what becomes of the next request to it."""

    trouble: tuple[str, Trouble] | None = None


class FaultyTransport(httpx.BaseTransport):
    """Sends what comes, but for the one request that its thread ordered trouble for."""

    def __init__(self) -> None:
        self.real = httpx.HTTPTransport(verify=shared_ssl_context())
        self._ordered = OrderedFault()

    @property
    def trouble(self) -> tuple[str, Trouble] | None:
        return self._ordered.trouble

    @trouble.setter
    def trouble(self, wanted: tuple[str, Trouble] | None) -> None:
        self._ordered.trouble = wanted

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.trouble and request.method != "GET":
            path, trouble = self.trouble
            if fnmatchcase(request.url.path, path):
                self.trouble = None
                return trouble(request)
        return self.real.handle_request(request)

    def close(self) -> None:
        self.real.close()

    def redirected(self, request: httpx.Request, **to: object) -> httpx.Response:
        request.url = request.url.copy_with(**to)
        request.extensions["timeout"] = {"connect": 0.3, "read": 1, "write": 1, "pool": 1}
        return self.real.handle_request(request)

    def refused(self, request: httpx.Request) -> httpx.Response:
        with socket.socket() as deaf:  # it has the port, so that no other lane listens there
            deaf.bind(("127.0.0.1", 0))
            return self.redirected(request, port=deaf.getsockname()[1])

    def unnamed(self, request: httpx.Request) -> httpx.Response:
        return self.redirected(request, host="nowhere.invalid")

    def unciphered(self, request: httpx.Request) -> httpx.Response:
        return self.redirected(request, scheme="https")

    def unaccepted(self, request: httpx.Request) -> httpx.Response:
        """A server whose queue of connections is full lets the next one wait."""
        with ExitStack() as stack:
            full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
            for _ in range(3):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(full.getsockname())
            return self.redirected(request, port=full.getsockname()[1])

    def crowded(self, request: httpx.Request) -> httpx.Response:
        """All connections are taken."""
        pool = httpx.HTTPTransport(shared_ssl_context(), limits=httpx.Limits(max_connections=1))
        root = request.url.copy_with(path="/openapi.json", query=None)
        kept = pool.handle_request(httpx.Request("GET", root))
        try:
            request.extensions["timeout"] = {"connect": 1, "read": 1, "write": 1, "pool": 0.1}
            return pool.handle_request(request)
        finally:
            kept.close()
            pool.close()


@contextmanager
def short_timeout_client(
    base_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[UpstreamClient, FaultyTransport]]:
    """A client whose time-outs are short, in the catalog too, and its wire."""
    rows = {name: shorten_timeout(row) for name, row in table.OPERATIONS.items()}
    monkeypatch.setattr(table, "OPERATIONS", rows)
    wire = FaultyTransport()
    with UpstreamClient(base_url, rows, transport=wire) as client:
        yield client, wire


def shorten_timeout(row: Operation) -> Operation:
    return replace(row, timeout=min(row.timeout, TIMEOUT)) if row.charging else row
