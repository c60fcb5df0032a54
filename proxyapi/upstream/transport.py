"""What a broken exchange proves: an exception of the HTTP library, turned into one of ours.

Contract: only what provably never reached the service becomes a NotSent; all else is
AnswerLost. Nothing of the original is kept, neither its text nor itself, since httpx and h11
can quote the Authorization header (spec, "Authentication" 3).
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator

import httpx

from proxyapi.upstream import errors, response_parsing
from proxyapi.upstream.endpoint import Endpoint
from proxyapi.upstream.envelope import parse_response
from proxyapi.upstream.errors import ErrorDetails, ResponseLost, UpstreamError
from proxyapi.upstream.reply import Reply
from proxyapi.upstream.secret import Secret

CONNECT_GRACE_S = (
    10.0  # seconds on top of the read time-out, for the pool (5) and the connection (5)
)


class Exchange:
    """One call under way: gathers the answer, or what went wrong, and then says which."""

    def __init__(self, operation: Endpoint, token: Secret) -> None:
        self._operation = operation
        self._token = token
        # The answer's own time begins when a form's files are out, which may take long itself.
        self._until = time.monotonic() + operation.max_duration_s + CONNECT_GRACE_S
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._broken: UpstreamError | None = None

    def on_response(self, response: httpx.Response) -> None:
        """Status and headers are in."""
        self._status = response.status_code
        # Should the answer quote the token, in a header or in its body, it ends here.
        self._headers = {
            name.lower(): self._token.scrub(value.encode()).decode()
            for name, value in response.headers.items()
        }

    def on_chunk(self, chunk: bytes) -> None:
        """A piece of the body is in. The time-out counts per piece; this bounds the sum."""
        self._body += chunk
        if len(self._body) > response_parsing.MAX_BODY_BYTES or time.monotonic() > self._until:
            raise response_parsing.UnreadableBody

    def on_error(self, error: Exception) -> None:
        """Sending or reading failed."""
        self._broken = _to_upstream_error(self._operation, error, self._status)

    def result(self) -> Reply:
        """The reply, or the error, raised free of the exception that led to it."""
        if self._broken is not None:
            if self._status is None or 200 <= self._status < 300:
                raise self._broken
            self._body.clear()  # a refusal's status proves enough without the rest
        if self._status is None:
            raise ResponseLost(self._operation)
        return parse_response(
            self._operation, self._status, self._headers, self._decode_and_scrub()
        )

    def _decode_and_scrub(self) -> bytes:
        try:
            body = response_parsing.decode_body(self._headers, bytes(self._body))
        except response_parsing.UnreadableBody:
            return b""
        self._headers.pop("content-encoding", None)
        return self._token.scrub(body)


class DeadlineUploadStream(httpx.SyncByteStream):
    """The body of a request on its way out: within a time, and with a word when all of it is out.

    Each piece has its own time-out; without this bound an upload may go on for hours, and nobody
    could say when its outcome is settled.
    """

    def __init__(
        self, body: httpx.SyncByteStream, seconds: float, done: Callable[[], None]
    ) -> None:
        self._body, self._until, self._done = body, time.monotonic() + seconds, done

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._body:
            if time.monotonic() > self._until:
                raise response_parsing.UnreadableBody
            yield chunk
        self._done()


def _to_upstream_error(operation: Endpoint, error: Exception, status: int | None) -> UpstreamError:
    if isinstance(error, httpx.PoolTimeout):
        return errors.PoolTimedOut(operation)
    if isinstance(error, httpx.ConnectTimeout):
        return errors.ConnectTimedOut(operation)
    if isinstance(error, httpx.ConnectError):
        return _connect_error_class(error)(operation)
    return ResponseLost(operation, ErrorDetails(status=status))


def _connect_error_class(error: BaseException) -> type[errors.NotSent]:
    cause: BaseException | None = error
    for _ in range(10):
        if isinstance(cause, ssl.SSLError):
            return errors.TlsFailed
        if isinstance(cause, socket.gaierror):
            return errors.DnsFailed
        if isinstance(cause, ConnectionRefusedError):
            return errors.ConnectionRefused
        if cause is None:
            break
        cause = cause.__cause__ or cause.__context__
    return errors.NotSent
