"""A script takes a job that exists at the service into the library, as the page does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from dashboard.library.actions import import_video
from dashboard.models import AuditAction, AuditEvent, Membership, Role
from proxyapi.models import GatewayRequest, Job, JobKind, JobOrigin, KeyScope, Token
from proxyapi.refusals import NotReady
from tests.factories import AccountFactory, TokenFactory, create_account_of_another_team
from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.gateway.test_reports import check_shape
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    error_response,
    make_response,
    rate_limited_response,
)

RENDERING = {"id": 41234, "title": "Tides", "video": {"id": 9, "status": "rendering"}}
ASKED = {"kind": "faceless", "id": "41234"}


def post(script: Script, **fields: Any) -> httpx.Response:
    return script.call("POST", "/_imports", json={**ASKED, **fields})


def test_it_is_in_the_library_once(
    script: Script, upstream: ScriptedUpstream, priya: Membership
) -> None:
    upstream.respond("GET", "/faceless/41234", make_response(RENDERING))
    first, again = post(script), post(script, id=41234)
    assert (first.status_code, again.status_code) == (201, 200)
    for answer in (first, again):
        check_shape("ImportedJob", answer.json())
    assert first.json()["data"] == again.json()["data"]
    job = Job.objects.get()
    assert (job.title, job.origin, job.member) == ("Tides", JobOrigin.IMPORT, priya.user)
    assert not job.charges.exists()
    assert len(upstream.requests) == 1
    event = AuditEvent.objects.get(action=AuditAction.VIDEO_IMPORT)
    assert (event.target, event.actor_name) == (str(job.pk), "Priya Raman")
    assert set(GatewayRequest.objects.values_list("operation", "job")) == {("_imports", job.pk)}


def test_the_same_id_at_once_is_one_job(script: Script, upstream: ScriptedUpstream) -> None:
    upstream.respond("GET", "/faceless/41234", make_response(RENDERING))
    answers = script.at_once(8, "POST", "/_imports", json=ASKED)
    statuses = {answer.status_code for answer in answers}
    assert statuses <= {200, 201}, [answer.text for answer in answers]
    assert Job.objects.count() == 1
    assert len({answer.json()["data"]["job"] for answer in answers}) == 1


REFUSALS = [
    (error_response(404, "GEN-NOT-FOUND"), 404, "GEN-NOT-FOUND"),
    (make_response({"id": 41234, "video": {"status": "draft"}}), 409, "NOT-POSSIBLE"),
    (make_response({"id": 41234}), 409, "NOT-POSSIBLE"),
    (rate_limited_response(0), 409, "NOT-POSSIBLE"),
    (error_response(500, "GEN-API-ERROR"), 409, "NOT-POSSIBLE"),
]


@pytest.mark.parametrize(("answer", "status", "code"), REFUSALS)
def test_it_is_refused_as_on_the_page(
    script: Script,
    upstream: ScriptedUpstream,
    priya: Membership,
    answer: httpx.Response,
    status: int,
    code: str,
) -> None:
    upstream.respond("GET", "/faceless/41234", answer)
    refused = post(script)
    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    if status != 409 or answer.status_code == 200:
        with pytest.raises(NotReady) as of_page:
            import_video(by=priya, kind=JobKind.FACELESS, upstream_id="41234")
        assert refused.json()["message"] == of_page.value.sentence
    assert not Job.objects.exists()


def test_what_another_team_has_is_not_taken(
    script: Script, upstream: ScriptedUpstream, token: Token
) -> None:
    theirs = create_account_of_another_team(token.account)
    owner = TokenFactory.create(account=theirs)
    Job.objects.create(
        tenant=theirs.tenant,
        account=theirs,
        token=owner,
        member=owner.owner,
        kind=JobKind.FACELESS,
        remote_id="41234",
        title="Theirs",
    )
    refused = post(script)
    assert refused.status_code == 409
    assert refused.json()["message"].startswith("Another team of this portal")
    assert "Theirs" not in refused.text


BAD_BODIES: list[Any] = [
    {},
    [],
    {"kind": "faceless"},
    {"kind": "voice", "id": "41234"},
    {"kind": ["faceless"], "id": "41234"},
    {"kind": "faceless", "id": "../41234"},
    {"kind": "faceless", "id": True},
    {"kind": "faceless", "id": ""},
    {"kind": "faceless", "id": "41234", "title": "Tides"},
]


@pytest.mark.parametrize("body", BAD_BODIES)
def test_a_body_that_says_no_job_is_refused(
    script: Script, upstream: ScriptedUpstream, body: Any
) -> None:
    answer = script.call("POST", "/_imports", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "GEN-WRONG-ARGS")
    assert upstream.requests == []


def test_it_needs_scope_and_role_and_a_key_that_is_not_paused(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, priya: Membership
) -> None:
    reads = make_script(scopes=[KeyScope.READ, KeyScope.REPORTS])
    assert post(reads).json()["error"]["code"] == "SCOPE-MISSING"
    paused = make_script(paused_at=priya.joined_at)
    assert post(paused).json()["error"]["code"] == "KEY-PAUSED"
    Membership.objects.filter(pk=priya.pk).update(role=Role.VIEWER)
    refused = post(make_script())
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "GEN-FORBIDDEN")
    assert upstream.requests == []


def test_a_key_of_one_token_asks_its_account_alone(
    make_script: Callable[..., Script],
    upstream: ScriptedUpstream,
    priya: Membership,
    token: Token,
) -> None:
    other = TokenFactory.create(account=AccountFactory(tenant=priya.team.tenant), owner=priya.user)
    upstream.respond("GET", "/faceless/41234", make_response(RENDERING))
    assert post(make_script(token=other)).status_code == 201
    assert Job.objects.get().account == other.account
    (sent,) = upstream.requests
    assert sent.headers["authorization"] == f"Bearer sbx_{other.pk}"


def test_without_a_request_left_it_is_told_when_to_try_again(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/41234", error_response(404, "GEN-NOT-FOUND"))
    no_waiting = {"Prefer": "wait=0"}
    answers = script.at_once(20, "POST", "/_imports", json=ASKED, headers=no_waiting)
    late = [answer for answer in answers if answer.status_code == 429]
    assert late
    assert {answer.status_code for answer in answers} == {404, 429}
    assert {answer.json()["error"]["code"] for answer in late} == {"RATE-LIMITED"}
    assert all(int(answer.headers["retry-after"]) > 0 for answer in late)
