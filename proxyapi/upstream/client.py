"""The client: it sends what `envelope.build_request` makes, and `envelope.parse_response` reads the
answer.

Contract: one call, one request. Nothing is ever repeated here, not even a GET: a repeat would
exceed the token's rate limit, and the caller that repeats must know its cost. `retry_safe` of the
error says whether it may be repeated. Redirects are errors; cookies, proxies and `.netrc` are off;
the exceptions contain no text of the transport. Spec: "Authentication", "Limits".

A client may be shared between threads, not between processes: create it after the fork.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, Self, cast

import httpx

from proxyapi.upstream import envelope
from proxyapi.upstream.deadline import DeadlineTransport, call_deadline
from proxyapi.upstream.endpoint import MAX_UPLOAD_S, Endpoint, RetryPolicy
from proxyapi.upstream.envelope import FormFields, PathParams, QueryParams, UploadFiles
from proxyapi.upstream.reply import Reply
from proxyapi.upstream.secret import Secret
from proxyapi.upstream.tls import shared_ssl_context
from proxyapi.upstream.transport import DeadlineUploadStream, Exchange

CONNECT_TIMEOUT_S = POOL_TIMEOUT_S = 5.0  # seconds
WRITE_TIMEOUT_S = 60.0  # seconds for one piece of an upload; all: `MAX_UPLOAD_S`
# Servers close idle connections after 5 s or more; we close them before that.
# The number of connections has no limit of its own: each worker has as many calls as threads.
KEEPALIVE_LIMITS = httpx.Limits(max_keepalive_connections=10, keepalive_expiry=2.0)
# The server can close an idle connection at the moment we reuse it. A read is simply repeated; a
# charging call would end with an unknown outcome. So charging calls use new connections.
NO_KEEPALIVE_LIMITS = httpx.Limits(max_keepalive_connections=0)


EndpointTable = Mapping[str, Endpoint]  # by name


def override_methods(endpoints: EndpointTable, methods: Mapping[str, str]) -> dict[str, Endpoint]:
    """The rows with these methods, by name. Raises `ValueError` if the spec documents the method,
    or there is no such row."""
    return {name: _with_method(endpoints, name, method) for name, method in methods.items()}


def _with_method(endpoints: EndpointTable, name: str, method: str) -> Endpoint:
    row = endpoints.get(name)
    if row is None:
        raise ValueError(f"There is no operation {name}.")
    if row.method_documented or method not in {"POST", "PUT", "PATCH"}:
        raise ValueError(f"The method of {name} is {row.method}.")
    return replace(row, method=method)


class UpstreamClient:
    """`base_url` ends in /v2; only the rows of `endpoints` can be sent. `methods` overrides the
    method of the three rows whose method the spec does not document. `transport` replaces the
    network."""

    def __init__(
        self,
        base_url: str,
        endpoints: EndpointTable,
        *,
        transport: httpx.BaseTransport | None = None,
        methods: Mapping[str, str] | None = None,
    ) -> None:
        envelope.parse_base_url(base_url)
        self._base_url = base_url
        self._rows = {**endpoints, **override_methods(endpoints, methods or {})}
        self._kept, self._fresh = (
            _make_http_client(transport, KEEPALIVE_LIMITS),
            _make_http_client(transport, NO_KEEPALIVE_LIMITS),
        )

    def get_endpoint(self, name: str) -> Endpoint:
        """The row as this client sends it. Raises `KeyError` for an unknown name."""
        return self._rows[name]

    def call(
        self,
        name: str,
        token: Secret,
        *,
        path: PathParams | None = None,
        query: QueryParams | None = None,
        json: Any = None,
        data: FormFields | None = None,
        files: UploadFiles | None = None,
        on_sent: Callable[[], None] | None = None,
    ) -> Reply:
        """Send one request; `on_sent` is called after its last byte was sent.

        Raises `UpstreamError`, and `KeyError` for an unknown name.
        """
        row = self.get_endpoint(name)
        request = envelope.build_request(
            self._base_url,
            row,
            token,
            path=path,
            query=query,
            json=json,
            data=data,
            files=files,
        )
        request.extensions["timeout"] = _build_timeout(row)
        body = cast(httpx.SyncByteStream, request.stream)
        request.stream = DeadlineUploadStream(body, MAX_UPLOAD_S, on_sent or _noop)
        exchange = Exchange(row, token)
        self._execute(
            exchange, self._kept if row.retry is RetryPolicy.SAFE else self._fresh, request
        )
        return exchange.result()

    def _execute(self, exchange: Exchange, http: httpx.Client, request: httpx.Request) -> None:
        # A separate step, so that an error is raised where no variable holds a part of the answer.
        try:
            with call_deadline(exchange.until):
                response = http.send(request, stream=True)
                try:
                    exchange.on_response(response)
                    for chunk in cast(httpx.SyncByteStream, response.stream):
                        exchange.on_chunk(chunk)
                finally:
                    response.close()
        except Exception as error:
            exchange.on_error(error)

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


def _make_http_client(transport: httpx.BaseTransport | None, limits: httpx.Limits) -> httpx.Client:
    return httpx.Client(
        transport=transport or DeadlineTransport(shared_ssl_context(), limits),
        cookies=_no_cookies(),
        trust_env=False,
    )


def _no_cookies() -> CookieJar:
    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))


def _noop() -> None:
    return None


def _build_timeout(row: Endpoint) -> dict[str, float | None]:
    return httpx.Timeout(
        connect=CONNECT_TIMEOUT_S, read=row.timeout, write=WRITE_TIMEOUT_S, pool=POOL_TIMEOUT_S
    ).as_dict()
