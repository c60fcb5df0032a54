"""What a failed exchange proves: an exception of the HTTP library, mapped to one of ours.

Contract: only what provably never reached the upstream becomes a `NotSent`; everything else is
`ResponseLost`. Nothing of the original exception is kept, because httpx and h11 can quote the
Authorization header (spec, "Authentication" 3).
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import httpx

from proxyapi.upstream import errors, response_parsing
from proxyapi.upstream.endpoint import Endpoint
from proxyapi.upstream.envelope import parse_response
from proxyapi.upstream.errors import ErrorDetails, ResponseLost, UpstreamError
from proxyapi.upstream.reply import Answer, Reply
from proxyapi.upstream.secret import Secret

# Seconds in addition to the documented time, for the connection
CONNECT_GRACE_S = 4.0


class Exchange:
    """One call in progress: collects the answer or the error, and then returns or raises it."""

    def __init__(self, operation: Endpoint, token: Secret) -> None:
        self._operation = operation
        self._token = token
        # The timeout for the answer begins after a form's files were sent, which may take long.
        self.until = time.monotonic() + operation.max_duration_s + CONNECT_GRACE_S
        self._status: int | None = None
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._broken: UpstreamError | None = None

    def on_response(self, response: httpx.Response) -> None:
        """Store the status and headers."""
        self._status = response.status_code
        # Redacts the token in case the answer quotes it in a header or in its body.
        self._headers = {
            name.lower(): self._token.scrub(value.encode()).decode()
            for name, value in response.headers.items()
        }

    def on_chunk(self, chunk: bytes) -> None:
        """Add a part of the body. The transport's timeout applies to each part; this bounds the
        total."""
        self._body += chunk
        if len(self._body) > response_parsing.MAX_BODY_BYTES or time.monotonic() > self.until:
            raise response_parsing.UnreadableBody

    def on_error(self, error: Exception) -> None:
        """Store an error from sending or reading."""
        self._broken = _to_upstream_error(self._operation, error, self._status)

    def result(self) -> Reply:
        """Return the reply, or raise the error without the exception that caused it."""
        if self._broken is not None:
            if self._status is None or 200 <= self._status < 300:
                raise self._broken
            self._body.clear()  # the status of a refusal is proof enough without the body
        if self._status is None:
            raise ResponseLost(self._operation)
        body = self._decode_and_scrub()
        answer = Answer(self._status, dict(self._headers), body)
        try:
            reply = parse_response(self._operation, self._status, self._headers, body)
        except UpstreamError as error:
            error.answer = None if self._broken else answer
            raise
        return replace(reply, answer=answer)

    def _decode_and_scrub(self) -> bytes:
        try:
            body = response_parsing.decode_body(self._headers, bytes(self._body))
        except response_parsing.UnreadableBody:
            return b""
        self._headers.pop("content-encoding", None)
        return self._token.scrub(body)


class DeadlineUploadStream(httpx.SyncByteStream):
    """The body of a request that is being sent: within a deadline, and with a callback after its
    end.

    Each part has its own timeout; without this bound an upload may take hours, and its outcome
    could not be settled at a known time.
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
