"""What each fault of the line proves, on a real socket, and what never leaves the portal."""

from __future__ import annotations

import socket
import ssl
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import httpx
import pytest

from proxyapi.operations import OPERATIONS
from proxyapi.upstream import client, errors, transport
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.errors import ErrorOutcome, UpstreamError
from proxyapi.upstream.reply import Reply
from proxyapi.upstream.secret import Secret
from tests.proxyapi.upstream.faulty_server import RESET, STALL, http_response, serve_answer

CANARY = "sbx_canary_0123456789abcdef"
TOKEN = Secret(CANARY)
RENDER: dict[str, Any] = {"name": "faceless.render", "path": {"faceless": 7}}
GOOD = http_response("202 Accepted", b'{"message": "ok", "status": 202, "data": {"id": 7}}')


@pytest.fixture
def call():
    def send(url: str, **parts: Any) -> Reply:
        with UpstreamClient(url, OPERATIONS) as client:
            return client.call(parts.pop("name"), TOKEN, **parts)

    return send


@pytest.fixture
def short_timeouts(monkeypatch):
    """Every time-out is a tenth of a second."""
    short = {name: replace(row, timeout=0.1) for name, row in OPERATIONS.items()}
    monkeypatch.setitem(globals(), "OPERATIONS", short)
    monkeypatch.setattr(client, "CONNECT_TIMEOUT_S", 0.1)
    monkeypatch.setattr(transport, "CONNECT_GRACE_S", 0.0)


def failure(call: Callable[..., Reply], url: str, **parts: Any) -> Any:
    with pytest.raises(UpstreamError) as caught:
        call(url, **(parts or RENDER))
    error = caught.value
    assert CANARY not in reported(error) + repr(vars(error)) + error.user_message
    assert error.__context__ is None
    assert error.__cause__ is None
    return error


def reported(error: UpstreamError) -> str:
    """As a report of errors tells it: with the variables of each frame, but for the test's own."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    told.stack[:] = [frame for frame in told.stack if frame.filename != __file__]
    return "".join(told.format())


def test_an_answer_comes_back_as_a_reply(call):
    with serve_answer(GOOD) as line:
        assert call(line.url, **RENDER).data == {"id": 7}
    assert len(line.requests) == 1
    assert line.requests[0].startswith(b"POST /v2/faceless/7/render HTTP/1.1\r\n")


LOST = {
    "closed without a word": b"",
    "reset without a word": RESET,
    "reset in the headers": b"HTTP/1.1 202 Acc" + RESET,
    "half a body": http_response("202 Accepted", b'{"data": {"id"', length=500),
    "reset in the body": http_response("202 Accepted", b'{"data": {"id"', length=500) + RESET,
    "half a chunk": b"HTTP/1.1 202 A\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
    "malformed JSON": http_response("202 Accepted", b'{"data": '),
    "HTML after the work": http_response("200 OK", b"<html>All fine</html>"),
    "no HTTP at all": b"SSH-2.0-OpenSSH_9.6\r\n",
    "a bad length": b"HTTP/1.1 202 Accepted\r\nContent-Length: many\r\n\r\n{}",
    "500": http_response("500 Internal Server Error", b"<html>"),
    "502": http_response("502 Bad Gateway", b"<html>"),
    "504 and half a body": http_response("504 Gateway Timeout", b"<ht", length=99),
}


@pytest.mark.parametrize("answer", LOST.values(), ids=LOST.keys())
def test_once_the_request_is_out_the_outcome_is_unknown(call, answer):
    with serve_answer(answer) as line:
        error = failure(call, line.url)
    assert error.outcome is ErrorOutcome.UNKNOWN
    assert not error.retry_safe
    assert len(line.requests) == 1


@pytest.mark.parametrize("answer", LOST.values(), ids=LOST.keys())
def test_a_read_that_went_wrong_may_be_repeated(call, answer):
    with serve_answer(answer) as line:
        error = failure(call, line.url, name="faceless.get", path={"id": 7})
    assert error.retry_safe
    assert "Nothing was charged" in error.user_message
    assert len(line.requests) == 1


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 202 A\r\n", http_response("202 A", b"{", length=9)]
)
@pytest.mark.usefixtures("short_timeouts")
def test_an_answer_that_does_not_come_in_time_is_lost(call, start):
    with serve_answer(start + STALL) as line:
        error = failure(call, line.url)
    assert type(error) is errors.ResponseLost


@pytest.mark.usefixtures("short_timeouts")
def test_an_answer_that_drips_is_lost_when_its_time_is_over():
    class Drip(httpx.SyncByteStream):
        def __iter__(self):
            while True:
                yield b" "

    drip = httpx.MockTransport(lambda request: httpx.Response(200, stream=Drip()))
    with (
        UpstreamClient("http://upstream.test/v2", OPERATIONS, transport=drip) as door,
        pytest.raises(errors.ResponseLost),
    ):
        door.call("me.get", TOKEN)


def test_an_answer_without_end_is_cut_off_at_ten_megabytes():
    class Flood(httpx.SyncByteStream):
        given = 0

        def __iter__(self):
            while True:
                Flood.given += 1
                yield b"x" * 1024 * 1024

    flood = httpx.MockTransport(lambda request: httpx.Response(200, stream=Flood()))
    with (
        UpstreamClient("http://upstream.test/v2", OPERATIONS, transport=flood) as door,
        pytest.raises(errors.ResponseLost),
    ):
        door.call("me.get", TOKEN)
    assert Flood.given == 11


@pytest.mark.parametrize("status", [b"402", b"403", b"404", b"422", b"429"])
def test_a_refusal_stays_one_even_when_its_body_breaks_off(call, status):
    with serve_answer(http_response(f"{status.decode()} No", b'{"err', length=99)) as line:
        assert failure(call, line.url).status == int(status)


def test_a_refused_connection_is_not_sent(call):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = failure(call, f"http://127.0.0.1:{port}/v2")
    assert (error.outcome, error.retry_safe) == (ErrorOutcome.NOT_SENT, True)
    assert isinstance(error, errors.NotSent)


def test_speaking_tls_to_what_speaks_none_is_not_sent(call):
    with serve_answer(b"HTTP/1.1 400 Bad Request\r\n\r\n") as line:
        error = failure(call, line.url.replace("http:", "https:"))
    assert type(error) is errors.TlsFailed
    assert CANARY.encode() not in b"".join(line.requests)


def raising(error: Exception) -> httpx.MockTransport:
    def handler(request: httpx.Request) -> httpx.Response:
        raise error

    return httpx.MockTransport(handler)


def chained(cause: Exception | None) -> Exception:
    error = httpx.ConnectError(f"illegal header value b'Bearer {CANARY}'")
    error.__cause__ = OSError()
    error.__cause__.__context__ = cause
    return error


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (chained(ConnectionRefusedError()), errors.ConnectionRefused),
        (chained(socket.gaierror(-2, "x")), errors.DnsFailed),
        (chained(ssl.SSLCertVerificationError()), errors.TlsFailed),
        (chained(None), errors.NotSent),
        (httpx.ConnectTimeout(CANARY), errors.ConnectTimedOut),
        (httpx.PoolTimeout(CANARY), errors.PoolTimedOut),
        (httpx.ReadTimeout(CANARY), errors.ResponseLost),
        (httpx.WriteTimeout(CANARY), errors.ResponseLost),
        (httpx.WriteError(CANARY), errors.ResponseLost),
        (httpx.ReadError(CANARY), errors.ResponseLost),
        (httpx.RemoteProtocolError(CANARY), errors.ResponseLost),
        (httpx.LocalProtocolError(f"Illegal header value b'Bearer {CANARY}'"), errors.ResponseLost),
        (RuntimeError(CANARY), errors.ResponseLost),
    ],
)
def test_only_what_provably_did_not_start_is_not_sent(raised, kind):
    def through(url, name, **parts):
        with UpstreamClient(url, OPERATIONS, transport=raising(raised)) as door:
            return door.call(name, TOKEN, **parts)

    error = failure(through, "http://upstream.test/v2")
    assert type(error) is kind
    not_sent = isinstance(error, errors.NotSent)
    assert error.outcome is (ErrorOutcome.NOT_SENT if not_sent else ErrorOutcome.UNKNOWN)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 T", "308 P"])
def test_a_redirect_is_never_followed(call, status):
    with serve_answer(GOOD) as other:
        moved = http_response(status, b"", f"Location: {other.url}/me")
        with serve_answer(moved) as line:
            assert type(failure(call, line.url)) is errors.UnexpectedRedirect
    assert other.requests == []


def test_cookies_are_not_kept_and_not_sent(call):
    """pitfall_93."""
    with serve_answer(
        http_response("200 OK", b"{}", "Set-Cookie: session=1; Path=/", "Connection: close")
    ) as line:
        with UpstreamClient(line.url, OPERATIONS) as door:
            for _ in range(2):
                door.call("me.get", TOKEN)
            assert len(door._kept.cookies) == 0
        call(line.url, name="me.get")
    assert len(line.requests) == 3
    assert not any(b"cookie" in request.lower() for request in line.requests)


def test_a_paid_call_never_meets_a_connection_that_is_being_closed():
    """The server here hangs up after each answer and does not announce it."""
    with serve_answer(GOOD) as line, UpstreamClient(line.url, OPERATIONS) as door:
        assert [door.call(token=TOKEN, **RENDER).status for _ in range(50)] == [202] * 50


def test_proxies_and_netrc_of_the_environment_have_no_say(call, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login eve password eve")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve_answer(GOOD) as line:
        call(line.url, **RENDER)
    assert f"authorization: bearer {CANARY}".encode() in line.requests[0].lower()


def test_a_token_quoted_by_the_answer_goes_no_further(call):
    body = b'{"message": "No such token: %s", "error": {}}' % CANARY.encode()
    with serve_answer(http_response("401 Unauthorized", body)) as line:
        error = failure(call, line.url)
    assert error.detail == "No such token: " + "*" * len(CANARY)
    assert CANARY not in repr(vars(error))


@pytest.mark.parametrize("name", ["Retry-After", "Content-Type", "Location", "X-RateLimit-Reset"])
def test_pitfall_92_a_token_quoted_by_a_header_goes_no_further(call, name):
    with serve_answer(http_response("429 Too Many", b"{}", f"{name}: for {CANARY}")) as line:
        error = failure(call, line.url)
    assert CANARY not in repr(vars(error))


def test_pitfall_92_json_in_another_encoding_is_not_read_and_so_hides_no_token(call):
    body = f'{{"message": "No such token: {CANARY}"}}'.encode("utf-16")
    with serve_answer(http_response("401 Unauthorized", body)) as line:
        assert failure(call, line.url).detail == ""


def test_pitfall_92_a_call_that_cannot_be_made_keeps_the_token_out_of_every_variable(call):
    for wrong in ({"json": {"title": object()}}, {"path": {"faceless": "../me"}}):
        with pytest.raises(errors.UnsendableRequest) as caught:
            call("http://127.0.0.1:9/v2", **{**RENDER, **wrong})
        assert "build" in reported(caught.value)
        assert CANARY not in reported(caught.value)


@pytest.mark.parametrize("name", ["faceless.delete", "GET /me", "../me"])
def test_nothing_outside_the_catalog_is_sent(call, name):
    with serve_answer(GOOD) as line, pytest.raises(KeyError):
        call(line.url, name=name)
    assert line.requests == []


def test_a_method_that_the_spec_does_not_show_can_be_set_and_no_other():
    seen = []

    def handler(request):
        seen.append(request.method)
        return httpx.Response(200, json={})

    methods = {"text_to_scene.sort": "PATCH"}
    mock = httpx.MockTransport(handler)
    with UpstreamClient(
        "http://upstream.test/v2", OPERATIONS, transport=mock, methods=methods
    ) as door:
        door.call("text_to_scene.sort", TOKEN, path={"storyboard": 1}, json={})
    assert seen == ["PATCH"]
    for wrong in ({"faceless.scripts": "POST"}, {"text_to_scene.sort": "DELETE"}):
        with pytest.raises(ValueError, match="The method of"):
            UpstreamClient("http://upstream.test/v2", OPERATIONS, methods=wrong)


def test_a_client_refuses_a_bad_address_when_it_is_made():
    with pytest.raises(ValueError, match="ends in /v2"):
        UpstreamClient("http://upstream.test/", OPERATIONS)


class SlowLine(httpx.BaseTransport):
    """Samples take 100 s to send and a minute to be answered, by a clock of its own."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for number, _ in enumerate(cast(httpx.SyncByteStream, request.stream)):
            self.now += 0 if number else 100
        self.now += 60
        return httpx.Response(201, json={"data": {"id": 5}})


def test_what_an_upload_takes_is_not_taken_off_its_answers_time(monkeypatch):
    line = SlowLine()
    monkeypatch.setattr(transport, "time", line)
    sample = ("samples[]", ("a.wav", b"RIFF", "audio/wav"))
    with UpstreamClient("http://127.0.0.1:8001/v2", OPERATIONS, transport=line) as door:
        reply = door.call("voice_clones.create", TOKEN, data={"name": "Thea"}, files=[sample])
    assert line.now == 1160
    assert reply.data == {"id": 5}
