"""Requests go to no other host, no other path and with no other headers than the catalog's."""

from __future__ import annotations

import gzip
import json as json_module
from decimal import Decimal
from typing import Any

import httpx
import pytest

from proxyapi.operations import OPERATIONS, get_operation
from proxyapi.upstream import envelope
from proxyapi.upstream.endpoint import RequestBody
from proxyapi.upstream.errors import ErrorOutcome, ResponseLost, UnsendableRequest
from proxyapi.upstream.reply import RateLimitStatus, Reply, ReplyCredits
from proxyapi.upstream.secret import Secret
from tests.cases import each_case

BASE = "https://api.example.test/v2"
TOKEN = Secret("sbx_canary_0123456789")

HOSTILE = [
    "", ".", "..", "../me", "..//..//x", "/etc", "//evil.test", "\\\\evil.test", "a/b", "a\\b",
    "%2e%2e", "%2e%2e%2fme", "..%2f", "%252e%252e", "%00", "a\0b", "a;b", "a?x=1", "a#b", "a b",
    "https://evil.test/", "user@evil.test", "@evil.test", ":80", "ｅｖｉｌ", "é", "٣", "１",
    "a\r\nHost: evil.test", "a\n", "a\t", "{id}", "*", "~", "a" * 129, "a" * 8192, "\ud800",
]  # fmt: skip


def build(name: str, base: str = BASE, **parts: Any) -> httpx.Request:
    return envelope.build_request(base, get_operation(name), TOKEN, **parts)


def read(
    body: Any, name: str = "faceless.get", status: int = 200, headers: dict[str, str] | None = None
) -> Reply:
    raw = body if isinstance(body, bytes) else json_module.dumps(body).encode()
    return envelope.parse_response(get_operation(name), status, headers or {}, raw)


@each_case("row", OPERATIONS.values())
def test_every_row_makes_its_request(row):
    path = {name: f"{name}-1" for name in row.path_parameters}
    request = envelope.build_request(BASE, row, TOKEN, path=path)
    expected = row.path
    for name in row.path_parameters:
        expected = expected.replace(f"{{{name}}}", f"{name}-1")
    assert (request.method, str(request.url)) == (row.method, BASE + expected)


@each_case("value", HOSTILE)
def test_no_path_parameter_leads_anywhere_else(value):
    """Each hostile value as each parameter of each row."""
    for row in OPERATIONS.values():
        for hostile in row.path_parameters:
            path = dict.fromkeys(row.path_parameters, "1") | {hostile: value}
            with pytest.raises(UnsendableRequest) as caught:
                envelope.build_request(BASE, row, TOKEN, path=path)
            assert len(value) < 3 or value not in str(caught.value)


@pytest.mark.parametrize("path", [{}, {"id": 1, "more": 2}, {"faceless": 1}, {"id": True}])
def test_the_path_needs_exactly_its_parameters(path):
    with pytest.raises(UnsendableRequest):
        build("faceless.get", path=path)


@pytest.mark.parametrize("value", [7, "7", "0b9c7a52-30f1-4c4e-9f7e-3c2f8f5f1a11", "Abc_-9"])
def test_numbers_uuids_and_slugs_are_identifiers(value):
    assert build("faceless.get", path={"id": value}).url.path == f"/v2/faceless/{value}"


@pytest.mark.parametrize("base", [BASE, BASE + "/", " " + BASE + "/ ", "http://127.0.0.1:8001/v2"])
def test_the_version_stays_in_the_path(base):
    """pitfall_96."""
    assert build("me.get", base).url.path == "/v2/me"


@each_case(
    "base",
    [
        "",
        "api.example.test/v2",
        "ftp://api.example.test/v2",
        "https:///v2",
        "file:///v2",
        "https://api.example.test",
        "https://api.example.test/v1",
        "https://u:p@api.example.test/v2",
        "https://api.example.test/v2?x=1",
        "https://api.example.test/v2#x",
        "https://[bad/v2",
    ],
)
def test_a_base_address_that_could_mislead_is_refused(base):
    with pytest.raises(ValueError, match=r"^The address of the video service"):
        envelope.parse_base_url(base)


def test_only_our_own_headers_go_out():
    """pitfall_93."""
    headers = dict(build("ideas.discover", json={"keyword": "ü"}).headers)
    assert set(headers) == {
        "host", "authorization", "accept", "accept-encoding", "user-agent", "content-type",
        "content-length",
    }  # fmt: skip
    assert headers["authorization"] == f"Bearer {TOKEN.reveal()}"


@pytest.mark.parametrize("text", ["a\r\nX: y", "a\0", "tök", " a", "", "x" * 513])
def test_a_token_that_no_header_can_hold_is_never_sent_and_never_quoted(text):
    with pytest.raises(UnsendableRequest) as caught:
        envelope.build_request(BASE, get_operation("me.get"), Secret(text))
    assert caught.value.outcome is ErrorOutcome.NOT_SENT
    assert len(text) < 3 or text not in str(caught.value)


def test_the_query_is_encoded_and_leaves_out_none():
    query = {"only": ["voices", "genres"], "q": "a&b=c/../", "page": 2, "source": None}
    url = build("faceless.options", query=query).url
    assert url.query == b"only=voices&only=genres&q=a%26b%3Dc%2F..%2F&page=2"
    assert url.path == "/v2/faceless/options"


def test_a_query_beyond_all_measure_is_not_sent():
    with pytest.raises(UnsendableRequest):
        build("ideas.list", query={"keyword": "x" * 5000})


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("me.get", {"json": {}}),
        ("faceless.create", {"data": {"a": "b"}}),
        ("faceless.create", {"json": {"a": float("nan")}}),
        ("faceless.create", {"json": {"a": object()}}),
        ("voice_clones.create", {"data": {"name": "Mira"}}),
    ],
)
def test_a_body_that_does_not_fit_is_not_sent(name, parts):
    with pytest.raises(UnsendableRequest):
        build(name, **parts)


def test_samples_go_as_a_form_with_booleans_as_digits():
    """pitfall_115: no JSON, the field is called samples[], true is 1, and false is left out."""
    wav = ("a\r\n.wav", b"RIFF", "audio/wav")
    request = build(
        "voice_clones.create",
        data={"terms": True, "name": "Mira", "purchase_addon": False, "gender": None},
        files=[("samples[]", wav), ("samples[]", wav)],
    )
    body = request.read()
    assert request.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert body.count(b'name="samples[]"') == 2
    assert b'name="terms"\r\n\r\n1\r\n' in body
    assert b"purchase_addon" not in body
    assert b"gender" not in body
    assert b"a\r\n.wav" not in body


def test_an_upload_may_name_a_url_instead_of_a_file():
    parts: dict[str, Any] = {"path": {"faceless": 1}, "json": {"url": "https://example.test/a.png"}}
    assert build("ai_visuals.upload", **parts).headers["content-type"] == "application/json"
    assert get_operation("ai_visuals.upload").body is RequestBody.MULTIPART


def test_an_answer_becomes_a_reply():
    headers = {"X-RateLimit-Limit": "30", "x-ratelimit-remaining": "28", "Set-Cookie": "a=b"}
    body = {
        "message": "Render started", "status": 202, "data": {"id": 7, "rate": 0.68},
        "meta": {"credits": {"cost": "42.50", "remaining": 1000}}, "links": {"next": "https://x"},
        "new": 1,
    }  # fmt: skip
    reply = read(body, "faceless.render", 202, headers)
    assert reply.data == {"id": 7, "rate": Decimal("0.68")}
    assert reply.credits == ReplyCredits(Decimal("42.50"), Decimal(1000))
    assert reply.rate_limit == RateLimitStatus(30, 28)
    assert reply.status == 202


@pytest.mark.parametrize(
    "meta", [None, {}, [], {"credits": None}, {"credits": {}}, {"credits": {"cost": "many"}}, 7]
)
def test_credits_that_are_not_there_are_none(meta):
    assert read({"data": {}, "meta": meta}).credits is None


@pytest.mark.parametrize("body", [{}, {"data": None}, {"message": None, "meta": None, "links": 3}])
def test_a_bare_envelope_is_a_reply(body):
    assert read(body).data is None


def test_no_content_is_a_reply_too():
    assert read(b"", status=204).data is None


@each_case(
    "body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b'{"data": {"id"',
        b"[]",
        b"null",
        b"7",
        b"\xff\xfe",
        b"[" * 1_000_000,
        b'{"a":' * 60 + b"1" + b"}" * 60,
        b'{"a": ' + b"9" * 5000 + b"}",
        b" " * (10 * 1024 * 1024 + 1) + b"{}",
    ],
)
def test_a_2xx_that_cannot_be_read_is_a_lost_answer(body):
    """Not a refusal: what it answers was probably done."""
    with pytest.raises(ResponseLost) as caught:
        read(body, "faceless.render", 202)
    assert (caught.value.outcome, caught.value.status) == (ErrorOutcome.UNKNOWN, 202)
    assert not caught.value.retry_safe


def test_numbers_that_would_ruin_us_are_nothing():
    reply = read(b'{"data": [1e999999999, NaN, -Infinity, 1e-99999999999999999999, 0.5]}')
    assert reply.data == [None, None, None, None, Decimal("0.5")]


def test_an_answer_packed_by_a_proxy_is_unpacked_and_a_bomb_is_not():
    packed = {"Content-Encoding": "gzip"}
    assert read(gzip.compress(b'{"data": 1}'), headers=packed).data == 1
    with pytest.raises(ResponseLost):
        read(gzip.compress(b" " * 50_000_000 + b"{}"), headers=packed)
    with pytest.raises(ResponseLost):
        read(b"no gzip", headers=packed)
    with pytest.raises(ResponseLost):
        read(b"{}", headers={"Content-Encoding": "br"})


def test_the_request_is_one_that_httpx_sends_as_it_is():
    request = build("faceless.get", path={"id": 1})
    assert isinstance(request, httpx.Request)
    assert request.url.raw_path == b"/v2/faceless/1"
