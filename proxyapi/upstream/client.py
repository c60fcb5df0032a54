"""Two thin shells that send what `envelope.build` makes and hand `envelope.read` what comes.

Contract: one call, one request. Nothing is ever repeated here, GETs neither: a repeat would be
a request past the token's allowance, and who repeats must know what it costs. `retry_safe` of
the error says whether it may be. Redirects are errors; cookies, proxies and `.netrc` are off;
the exceptions hold no text of the transport's. Spec: "Authentication", "Limits".

A client is safe to share between threads, not between processes: make it after the fork. When a
task is cancelled while `AsyncClient.call` runs, the outcome of the call is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, Self, cast

import httpx

from proxyapi.upstream import envelope
from proxyapi.upstream.catalog import CATALOG, Operation, Retry
from proxyapi.upstream.envelope import Files, Form, Path, Query
from proxyapi.upstream.operation import LONGEST_UPLOAD
from proxyapi.upstream.reply import Reply
from proxyapi.upstream.secret import Secret
from proxyapi.upstream.transport import Exchange, Outgoing
from proxyapi.upstream.trust import trusted

CONNECT = POOL = 5.0  # seconds
WRITE = 60.0  # seconds for one piece of an upload; all: `LONGEST_UPLOAD`
# Servers close idle connections after 5 s and more; we let go of them before.
KEPT = httpx.Limits(max_connections=50, max_keepalive_connections=10, keepalive_expiry=2.0)
# A kept connection can be closed by the server in the moment we use it again. For a read that is
# a repeat; for what may charge it would be an unknown outcome for nothing. So those start anew.
FRESH = httpx.Limits(max_connections=50, max_keepalive_connections=0)


class _Shell:
    """What both clients have in common: the address, and the rows they may send."""

    def __init__(self, base_url: str, methods: Mapping[str, str]) -> None:
        envelope.base(base_url)
        self._base_url = base_url
        self._rows = {**CATALOG, **overridden(methods)}

    def row(self, name: str) -> Operation:
        """The catalog's row as this client sends it; KeyError outside the catalog."""
        return self._rows[name]


def overridden(methods: Mapping[str, str]) -> dict[str, Operation]:
    """The rows of the catalog with these methods, by name; `ValueError` where the spec shows the
    method, or there is no such row."""
    return {name: _guessed(name, method) for name, method in methods.items()}


def _guessed(name: str, method: str) -> Operation:
    row = CATALOG.get(name)
    if row is None:
        raise ValueError(f"There is no operation {name}.")
    if row.method_shown or method not in {"POST", "PUT", "PATCH"}:
        raise ValueError(f"The method of {name} is {row.method}.")
    return replace(row, method=method)


class Client(_Shell):
    """Calls the upstream from a worker or a thread.

    `base_url` ends in /v2. `methods` overrides the method of the three rows whose method the
    spec does not show. `transport` replaces the network in tests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        methods: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(base_url, methods or {})
        self._kept, self._fresh = _sync(transport, KEPT), _sync(transport, FRESH)

    def call(
        self,
        name: str,
        token: Secret,
        *,
        path: Path | None = None,
        query: Query | None = None,
        json: Any = None,
        data: Form | None = None,
        files: Files | None = None,
        on_sent: Callable[[], None] | None = None,
    ) -> Reply:
        """One request of that name; `on_sent` is called when its last byte is out.

        Raises UpstreamError; KeyError outside the catalog.
        """
        row = self.row(name)
        request = envelope.build(
            self._base_url,
            row,
            token,
            path=path,
            query=query,
            json=json,
            data=data,
            files=files,
        )
        request.extensions["timeout"] = _timeout(row)
        body = cast(httpx.SyncByteStream, request.stream)
        request.stream = Outgoing(body, LONGEST_UPLOAD, on_sent or _nothing)
        exchange = Exchange(row, token)
        self._carry_out(exchange, self._kept if row.retry is Retry.SAFE else self._fresh, request)
        return exchange.result()

    def _carry_out(self, exchange: Exchange, http: httpx.Client, request: httpx.Request) -> None:
        # On its own, so that an error is raised where no variable holds a piece of the answer.
        try:
            response = http.send(request, stream=True)
            try:
                exchange.answered(response)
                for chunk in cast(httpx.SyncByteStream, response.stream):
                    exchange.took(chunk)
            finally:
                response.close()
        except Exception as error:
            exchange.broke(error)

    def close(self) -> None:
        self._kept.close()
        self._fresh.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClient(_Shell):
    """Calls the upstream from the gateway; the same contract as `Client`."""

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        methods: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(base_url, methods or {})
        self._kept, self._fresh = _async(transport, KEPT), _async(transport, FRESH)

    async def call(
        self,
        name: str,
        token: Secret,
        *,
        path: Path | None = None,
        query: Query | None = None,
        json: Any = None,
        data: Form | None = None,
        files: Files | None = None,
    ) -> Reply:
        """One request of that name. Raises UpstreamError; KeyError outside the catalog."""
        row = self.row(name)
        request = envelope.build(
            self._base_url,
            row,
            token,
            path=path,
            query=query,
            json=json,
            data=data,
            files=files,
        )
        request.extensions["timeout"] = _timeout(row)
        exchange = Exchange(row, token)
        http = self._kept if row.retry is Retry.SAFE else self._fresh
        await self._carry_out(exchange, http, request)
        return exchange.result()

    async def _carry_out(
        self, exchange: Exchange, http: httpx.AsyncClient, request: httpx.Request
    ) -> None:
        try:
            response = await http.send(request, stream=True)
            try:
                exchange.answered(response)
                async for chunk in cast(httpx.AsyncByteStream, response.stream):
                    exchange.took(chunk)
            finally:
                await response.aclose()
        except Exception as error:
            exchange.broke(error)

    async def aclose(self) -> None:
        await self._kept.aclose()
        await self._fresh.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _sync(transport: httpx.BaseTransport | None, limits: httpx.Limits) -> httpx.Client:
    return httpx.Client(
        transport=transport,
        verify=trusted(),
        limits=limits,
        cookies=_no_cookies(),
        trust_env=False,
    )


def _async(transport: httpx.AsyncBaseTransport | None, limits: httpx.Limits) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=transport,
        verify=trusted(),
        limits=limits,
        cookies=_no_cookies(),
        trust_env=False,
        follow_redirects=False,
    )


def _no_cookies() -> CookieJar:
    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))


def _nothing() -> None:
    return None


def _timeout(row: Operation) -> dict[str, float | None]:
    return httpx.Timeout(connect=CONNECT, read=row.timeout, write=WRITE, pool=POOL).as_dict()
