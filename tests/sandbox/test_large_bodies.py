"""Token and rate limit are judged from the headers; a body that is too large is never kept."""

from __future__ import annotations

import asyncio
import json

import pytest

from proxyapi.sandbox.uploads import max_body_bytes

CHUNK = 64 * 1024


class CountingRequest:
    """One request to the application itself, which counts the bytes that were asked of its body."""

    def __init__(self, sandbox, size, *, token=None, told=True, path="/v2/characters"):
        self._app, self._left, self.read = sandbox.app, size, 0
        headers = [(b"authorization", f"Bearer {token or sandbox.token}".encode())]
        headers += [(b"content-type", b"multipart/form-data; boundary=x")]
        headers += [(b"content-length", str(size).encode())] if told else []
        self._scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
            "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"",
            "root_path": "", "headers": headers, "client": sandbox.peer,
            "server": ("sandbox", 80),
        }  # fmt: skip

    async def receive(self):
        part = min(CHUNK, self._left)
        self._left, self.read = self._left - part, self.read + part
        return {"type": "http.request", "body": b"x" * part, "more_body": self._left > 0}

    async def send(self, message):
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.body = json.loads(message["body"])

    def answered(self):
        asyncio.run(self._app(self._scope, self.receive, self.send))
        return self.status


@pytest.mark.parametrize("told", [True, False], ids=["by its length", "in chunks"])
def test_a_body_above_the_largest_upload_is_refused_without_being_kept(sandbox, told):
    largest = max_body_bytes(sandbox.world.settings)
    request = CountingRequest(sandbox, 50 * largest, told=told)
    assert request.answered() == 413
    assert request.read <= (0 if told else largest + CHUNK)
    assert request.body["message"] == "The request is too large."
    assert b"x-ratelimit-remaining" in request.headers
    assert sandbox.journal()[-1]["status"] == 413


def test_the_largest_upload_is_read(sandbox):
    request = CountingRequest(sandbox, max_body_bytes(sandbox.world.settings))
    assert request.answered() != 413
    assert request.read == max_body_bytes(sandbox.world.settings)


def test_a_wrong_token_is_refused_before_the_body_is_read(sandbox):
    request = CountingRequest(sandbox, 1_000_000, token="nobody-knows-it")
    assert (request.answered(), request.read) == (401, 0)


def test_the_31st_request_is_refused_before_its_body_is_read(sandbox):
    for _ in range(30):
        sandbox.get("/v2/me")
    request = CountingRequest(sandbox, 1_000_000)
    assert (request.answered(), request.read) == (429, 0)


def test_a_length_that_is_no_number_is_not_believed(sandbox):
    request = CountingRequest(sandbox, 10)
    request._scope["headers"][-1] = (b"content-length", b"many")
    assert request.answered() in (400, 422)
