"""A deadline over a whole call: the transport's own timeout applies to each read alone, so headers
that arrive one byte at a time would have none."""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import httpcore
import httpx
from httpcore import SOCKET_OPTION, NetworkStream, SyncBackend

# The time (`time.monotonic`) at which the call of this thread ends.
_ends_at: ContextVar[float] = ContextVar("ends_at", default=math.inf)


@contextmanager
def call_deadline(ends_at: float) -> Iterator[None]:
    """End every read and write of this thread at that time."""
    token = _ends_at.set(ends_at)
    try:
        yield
    finally:
        _ends_at.reset(token)


class DeadlineStream(NetworkStream):
    def __init__(self, stream: NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        seconds = _seconds_left(timeout)
        if seconds <= 0:
            raise httpcore.ReadTimeout
        return self._stream.read(max_bytes, seconds)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        seconds = _seconds_left(timeout)
        if seconds <= 0:
            raise httpcore.WriteTimeout
        self._stream.write(buffer, seconds)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> NetworkStream:
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class DeadlineBackend(SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        stream = super().connect_tcp(host, port, timeout, local_address, socket_options)
        return DeadlineStream(stream)


class DeadlineTransport(httpx.HTTPTransport):
    def __init__(self, context: ssl.SSLContext, limits: httpx.Limits) -> None:
        super().__init__(verify=context, trust_env=False)
        # httpx has no parameter for the backend of its pool.
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=DeadlineBackend(),
        )


def _seconds_left(timeout: float | None) -> float:
    left = _ends_at.get() - time.monotonic()
    return left if timeout is None else min(timeout, left)
