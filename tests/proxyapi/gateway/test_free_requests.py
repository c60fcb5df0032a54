"""What does not charge: passed on as it is, by whoever may, when it is its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone
from starlette.requests import Request

from dashboard.models import Membership, Role
from proxyapi.gateway import access, keys, request_log
from proxyapi.gateway.call import Call
from proxyapi.gateway.request_log import RequestLog, build_row, write_rows
from proxyapi.models import GatewayRequest, Job, JobOrigin, KeyScope, Token
from proxyapi.operations import get_operation
from proxyapi.upstream.reply import Answer
from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    error_response,
    make_response,
    rate_limited_response,
)
from tests.sandbox.asgi_client import call_app

BYTES = b'{"message":"OK", "status":200,\n "data" : {"id": 7, "x": 1.50, "\\u00e9": "\xc3\xa9"}}'


def test_an_answer_is_passed_on_byte_for_byte(
    script: Script, upstream: ScriptedUpstream, token: Token
) -> None:
    headers = {"X-RateLimit-Limit": "30", "X-RateLimit-Remaining": "28", "Set-Cookie": "a=b"}
    headers |= {"Content-Type": "application/json", "Server": "theirs"}
    upstream.respond("GET", "/faceless/7", httpx.Response(200, content=BYTES, headers=headers))
    answer = script.call("GET", "/faceless/7", params={"include": ["a", "b"]})
    assert answer.status_code == 200
    assert answer.content == BYTES
    assert answer.headers["x-ratelimit-remaining"] == "28"
    assert answer.headers["x-reelroom-source"] == "service"
    assert not {"set-cookie", "server"} & set(answer.headers)
    (sent,) = upstream.requests
    assert sent.headers["authorization"] == f"Bearer sbx_{token.pk}"
    assert str(sent.url).endswith("/v2/faceless/7?include=a&include=b")


def test_two_queries_let_a_request_in(
    token: Token, priya: Membership, django_assert_num_queries: Any
) -> None:
    on_token = {"token": token, "last_used_at": timezone.now()}
    made = keys.create_key(token.tenant, priya.user_id, "n", [KeyScope.READ], **on_token)
    headers = [(b"authorization", f"Bearer {made.value}".encode())]
    request = Request({"type": "http", "headers": headers, "client": ("127.0.0.1", 4711)})
    with django_assert_num_queries(2):  # of the key with its token, and of the membership
        call, refusal = access.begin_operation(request, get_operation("faceless.get"))
    assert (call.key, call.token, refusal) == (made.key, token, None)


def test_a_refusal_of_the_service_is_passed_on(script: Script, upstream: ScriptedUpstream) -> None:
    refusal = error_response(404, "GEN-NOT-FOUND")
    upstream.respond("GET", "/faceless/7", refusal)
    answer = script.call("GET", "/faceless/7")
    assert (answer.status_code, answer.content) == (404, refusal.content)
    upstream.respond("GET", "/faceless/7", httpx.Response(500, json={"message": "Oops"}))
    assert script.call("GET", "/faceless/7").status_code == 500


def test_a_lost_answer_of_a_read_is_a_502_in_the_shape_of_the_spec(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", httpx.ReadTimeout)
    answer = script.call("GET", "/faceless/7")
    assert answer.status_code == 502
    assert answer.json()["status"] == 502
    assert answer.json()["error"] == {
        "code": "ANSWER-LOST",
        "request_id": answer.headers["reelroom-request-id"],
    }


def test_what_a_script_creates_is_a_job_without_a_draft(
    script: Script, upstream: ScriptedUpstream, priya: Membership
) -> None:
    upstream.respond("POST", "/faceless", make_response({"id": 41}, 201))
    answer = script.call("POST", "/faceless", json={"type": "b-roll", "title": "Tides"})
    assert answer.status_code == 201
    assert upstream.request_bodies("POST", "/faceless") == [{"type": "b-roll", "title": "Tides"}]
    job = Job.objects.get()
    assert (job.remote_id, job.title, job.origin) == ("41", "Tides", JobOrigin.GATEWAY)
    assert (job.member, job.draft_or_none) == (priya.user, None)


def test_without_a_valid_key_nothing_is_sent(script: Script, upstream: ScriptedUpstream) -> None:
    values = ["", "Basic abc", "Bearer", "Bearer rr_live_x", "Bearer  x y"]
    values += [f"Bearer {keys.new_value()}", f"Bearer {script.value}a", f"Bearer a{script.value}"]
    for value in values:
        answer = script.call("GET", "/me", headers={"Authorization": value})
        assert answer.status_code == 401, value
        assert answer.json()["error"]["code"] == "GEN-UNAUTHORIZED"
    assert upstream.requests == []


def test_a_key_that_was_ended_is_not_accepted(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    now = timezone.now()
    expired = make_script(expires_at=now - timedelta(seconds=1))
    revoked = make_script()
    keys.revoke_keys([revoked.key], now)
    assert [one.call("GET", "/me").status_code for one in (expired, revoked)] == [401, 401]
    assert upstream.requests == []


def test_a_rotated_key_has_both_values_until_its_grace_ends(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/me", make_response({"id": 1}))
    new = keys.rotate_key(script.key, timedelta(hours=1))
    assert script.call("GET", "/me").status_code == 200
    script.key.refresh_from_db()
    script.key.previous_until = timezone.now() - timedelta(seconds=1)
    script.key.save()
    assert script.call("GET", "/me").status_code == 401
    script.value = new.value
    assert script.call("GET", "/me").status_code == 200


def test_a_key_is_accepted_from_its_networks_alone(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/me", make_response({"id": 1}))
    script = make_script(networks=["10.1.0.0/16", "2001:db8::/32"])
    assert script.call("GET", "/me").json()["error"]["code"] == "IP-ADDRESS-REFUSED"
    script.peer = "10.1.2.3"
    assert script.call("GET", "/me").status_code == 200


SCOPE_CASES = [
    ([KeyScope.READ], "GET", "/faceless/7", 200),
    ([KeyScope.READ], "PATCH", "/faceless/7", 403),
    ([KeyScope.CREATE], "PATCH", "/faceless/7", 200),
    ([KeyScope.READ, KeyScope.CREATE], "POST", "/faceless/7/render", 403),
    ([KeyScope.READ], "GET", "/credits/history", 403),
    ([KeyScope.CREDITS], "GET", "/credits/history", 200),
]


def test_a_key_does_what_its_scopes_allow(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    for scopes, method, path, status in SCOPE_CASES:
        upstream.respond(method, path, make_response({"id": 7, "video": {"status": "draft"}}))
        answer = make_script(scopes=scopes).call(method, path)
        assert answer.status_code == status, (scopes, path)
        assert status == 200 or answer.json()["error"]["code"] == "SCOPE-MISSING"
    assert len(upstream.requests) == 3
    assert GatewayRequest.objects.filter(code="SCOPE-MISSING").count() == 3


def test_a_key_may_no_more_than_its_owner(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, priya: Membership
) -> None:
    upstream.respond("GET", "/me", make_response({"id": 1}))
    script = make_script()
    Membership.objects.filter(pk=priya.pk).update(role=Role.VIEWER)
    assert script.call("GET", "/me").status_code == 200
    assert script.call("POST", "/faceless/7/render").status_code == 409
    Membership.objects.filter(pk=priya.pk).update(role=Role.PRODUCER)
    body = {"enabled": True}
    assert script.call("PUT", "/account/auto-topup", json=body).status_code == 409
    Membership.objects.filter(pk=priya.pk).update(deactivated_at=timezone.now())
    assert script.call("GET", "/me").status_code == 409
    assert [request.url.path for request in upstream.requests] == ["/v2/me"]


def test_a_paused_key_reads_and_changes_nothing(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    script = make_script(paused_at=timezone.now())
    assert script.call("GET", "/faceless/7").status_code == 200
    assert script.call("PATCH", "/faceless/7", json={}).json()["error"]["code"] == "KEY-PAUSED"


PATHS = [
    ("GET", "/nothing", 404),
    ("GET", "/faceless/%2e%2e", 404),
    ("POST", "/faceless/7%2frender", 404),
    ("GET", "//me", 404),
    ("GET", "/me/", 404),
    ("GET", "/faceless/a.b", 404),
    ("GET", "/faceless/" + "9" * 200, 404),
    ("DELETE", "/faceless/7", 405),
    ("GET", "/faceless", 405),
]
UNRESOLVED_PATHS = ["/faceless/../me", "/faceless/..", "/./me", "/../v2/me"]


def test_only_operations_are_sent(script: Script, upstream: ScriptedUpstream) -> None:
    for method, path, status in PATHS:
        answer = script.call(method, path)
        assert (answer.status_code, answer.json()["status"]) == (status, status), path
    for path in UNRESOLVED_PATHS:  # as it arrives: a client library would resolve the dots itself
        called = call_app(script.app, "GET", f"/api/v2{path}", token=script.value)
        assert script.loop.run(called).status == 404, path
    assert upstream.requests == []


BODIES = {
    "broken": (b"{", "application/json", 400),
    "list": (b"[1]", "application/json", 400),
    "text": (b'"text"', "application/json", 400),
    "no number": (b'{"a": NaN}', "application/json", 400),
    "no text": (b"\xff\xfe", "application/json", 400),
    "deep": (b"[" * 100_000, "application/json", 400),
    "form": (b"a=b", "application/x-www-form-urlencoded", 400),
    "large": (b'{"a": "' + b"b" * 1024**2 + b'"}', "application/json", 413),
}


def test_a_body_that_cannot_be_passed_on_is_refused(
    script: Script, upstream: ScriptedUpstream
) -> None:
    for name, (content, kind, status) in BODIES.items():
        headers = {"Content-Type": kind}
        answer = script.call("PATCH", "/faceless/7", content=content, headers=headers)
        assert answer.status_code == status, name
        assert "Nothing was sent." in answer.json()["message"]
    assert upstream.requests == []


def test_a_request_whose_turn_does_not_come_is_told_when(
    script: Script, upstream: ScriptedUpstream
) -> None:
    answers = [script.call("GET", "/faceless/7", headers={"Prefer": "wait=0"}) for _ in range(20)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert len(upstream.requests) == 20 - len(refused)
    for answer in refused:
        assert 1 <= int(answer.headers["retry-after"]) <= 61
        assert answer.json()["error"]["code"] == "RATE-LIMITED"


def test_a_429_of_the_service_is_waited_for(script: Script, upstream: ScriptedUpstream) -> None:
    done = make_response({"id": 7})
    upstream.respond("GET", "/faceless/7", rate_limited_response(5, 1), done)
    assert script.call("GET", "/faceless/7").status_code == 200
    upstream.respond("GET", "/faceless/7", rate_limited_response(0, 50))
    answer = script.call("GET", "/faceless/7", headers={"Prefer": "wait=2"})
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 40


def test_the_requests_of_a_key_are_limited(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    script = make_script(requests_per_minute=2)
    answers = [script.call("GET", "/faceless/7", headers={"Prefer": "wait=0"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 50 <= int(answers[-1].headers["retry-after"]) <= 61
    assert len(upstream.requests) == 2


def test_the_log_has_what_was_asked_and_how_it_ended(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PATCH", "/faceless/7", error_response(422, "INVALID"))
    answer = script.call(
        "PATCH",
        "/faceless/7",
        params={"secret": "query"},
        json={"script": "secret body"},
        headers={"User-Agent": "nightly/1.0"},
    )
    row = GatewayRequest.objects.get()
    assert str(row.pk) == answer.headers["reelroom-request-id"]
    assert (row.operation, row.path, row.status) == ("faceless.patch", "/faceless/7", 422)
    assert (row.key, row.client_ip, row.user_agent) == (script.key, "127.0.0.1", "nightly/1.0")
    assert (row.service_requests, row.is_replayed, row.charge) == (1, False, None)
    assert row.total_ms >= row.service_ms
    script.key.refresh_from_db()
    assert script.key.last_used_at is not None


def test_rows_that_come_while_others_are_written_are_written_together(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    call = Call(script.key)
    answer = Answer(200, {}, b"")

    def count_and_write(rows: list[GatewayRequest]) -> None:
        written.append(len(rows))
        write_rows(rows)

    async def write() -> None:
        log = RequestLog()
        calls = [replace(call, id=uuid4()) for _ in range(9)]
        rows = [build_row(call, "me.get", "/me", "", answer) for call in calls]
        rows[4].key_id = uuid4()  # a key that was deleted meanwhile loses its own row only
        await asyncio.gather(*map(log.write, rows))

    monkeypatch.setattr(request_log, "write_rows", count_and_write)
    script.loop.run(write())
    assert written == [1, 8, *[1] * 8]  # the eight alone, as together they could not be
    assert GatewayRequest.objects.count() == 8
