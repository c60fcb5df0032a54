"""What charges: one charge, sent at most once, and the truth about it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

import httpx
import pytest
from django.utils import timezone

from dashboard.budgets.actions import approve_request
from dashboard.members.actions.charge_pause import pause_member_charges
from dashboard.models import ApprovalRequest, BudgetPeriod, Label, Membership, Team
from proxyapi.gateway import keys
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    GatewayRequest,
    Job,
    JobOrigin,
    JobState,
    StoredAnswer,
    Tenant,
    Token,
)
from tests.factories import JobFactory
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

RENDER = ("POST", "/faceless/7/render")
SCRIPTS = ("PUT", "/faceless/7/scripts")
CLIP = {"model": "brook", "prompt": "a lighthouse in a storm at night"}
NO_WAIT = {"Prefer": "wait=0"}


def sent(upstream: ScriptedUpstream, method: str, path: str) -> int:
    return len(upstream.request_bodies(method, path))


def test_a_render_is_one_charge_and_the_service_s_answer(
    script: Script, upstream: ScriptedUpstream, priya: Membership
) -> None:
    upstream.respond(*RENDER, answer := charged_response({"id": 7}, 10))
    response = script.call(*RENDER)
    assert (response.status_code, response.content) == (202, answer.content)
    charge = Charge.objects.get()
    assert response.headers["reelroom-charge-id"] == str(charge.pk)
    assert (charge.state, charge.cost, charge.quote) == (ChargeState.CONFIRMED, 10, 10)
    assert (charge.api_key, charge.member) == (script.key, priya.user)
    job = Job.objects.get()
    assert (job.state, job.origin, job.remote_id) == (JobState.RUNNING, JobOrigin.GATEWAY, "7")
    assert sent(upstream, *RENDER) == 1
    row = GatewayRequest.objects.get()
    assert (row.charge, row.job, row.status) == (charge, job, 202)
    assert row.service_requests == 2  # the price, too


def test_the_body_of_a_charge_goes_on_as_it_is(script: Script, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRIPTS, charged_response({"id": 7, "script": "Tea."}, 4))
    body = {"topic": "tea", "deep": [{"a": 1.5}, None], "é": False}
    assert script.call(*SCRIPTS, json=body).status_code == 202
    assert upstream.request_bodies(*SCRIPTS) == [body]


def test_a_clip_is_a_job_with_the_price_of_its_settings(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/text-to-video/estimate", make_response({"credits": "5.44"}))
    asset = {"asset": {"id": 91, "status": "draft"}}
    upstream.respond("POST", "/text-to-video", charged_response(asset, "5.44"))
    assert script.call("POST", "/text-to-video", json=CLIP).status_code == 202
    job = Job.objects.get()
    assert (job.remote_id, job.state, job.title) == ("91", JobState.RUNNING, CLIP["prompt"])
    assert Charge.objects.get().cost == Decimal("5.44")
    estimate = upstream.requests[0].url
    assert dict(estimate.params) == {"model": "brook"}


def test_a_clip_with_a_file_is_a_form(script: Script, upstream: ScriptedUpstream) -> None:
    upstream.respond("GET", "/text-to-video/estimate", make_response({"credits": 5}))
    asset = {"asset": {"id": 91, "status": "draft"}}
    upstream.respond("POST", "/text-to-video", charged_response(asset, 5))
    files = {"image": ("frame.png", b"\x89PNG", "image/png")}
    assert script.call("POST", "/text-to-video", data=CLIP, files=files).status_code == 202
    (form,) = [request for request in upstream.requests if request.method == "POST"]
    assert form.headers["content-type"].startswith("multipart/form-data")
    assert b'filename="frame.png"' in form.content
    assert b"a lighthouse in a storm" in form.content
    assert not Charge.objects.get().uploads.exists()  # deleted when it was settled


@pytest.mark.parametrize("status", [403, 404, 422])
def test_a_refusal_is_the_service_s_own_and_charges_nothing(
    script: Script, upstream: ScriptedUpstream, status: int
) -> None:
    codes = {403: "FEATURE-NOT-ALLOWED", 404: "GEN-NOT-FOUND", 422: "INVALID"}
    upstream.respond(*RENDER, refusal := error_response(status, codes[status]))
    response = script.call(*RENDER)
    assert (response.status_code, response.content) == (status, refusal.content)
    assert Charge.objects.get().state == ChargeState.REFUSED


def test_a_refusal_before_the_charge_is_passed_on(
    script: Script, upstream: ScriptedUpstream
) -> None:
    missing = error_response(404, "GEN-NOT-FOUND")
    upstream.respond("GET", "/faceless/7/estimate", missing)
    response = script.call(*RENDER)
    assert (response.status_code, response.content) == (404, missing.content)
    assert not Charge.objects.exists()


@pytest.mark.parametrize(
    "lost", [httpx.ReadTimeout, httpx.Response(500), httpx.Response(200, content=b"<html>")]
)
def test_a_lost_answer_is_202_with_the_charge_and_is_never_sent_again(
    script: Script, upstream: ScriptedUpstream, lost: httpx.Response
) -> None:
    upstream.respond(*RENDER, lost)
    response = script.call(*RENDER, headers={"Idempotency-Key": "a"})
    assert response.status_code == 202
    told = response.json()["data"]
    assert (told["state"], told["cost"]) == ("unknown", None)
    again = script.call(*RENDER, headers={"Idempotency-Key": "a"})
    assert (again.status_code, again.json()["data"]["charge"]) == (202, told["charge"])
    assert again.headers["idempotent-replayed"] == "true"
    shown = script.call("GET", f"/_charges/{told['charge']}").json()["data"]
    assert shown["state"] == "unknown"
    assert sent(upstream, *RENDER) == 1
    Charge.objects.update(state=ChargeState.MATCHED, cost=10)
    shown = script.call("GET", f"/_charges/{told['charge']}").json()["data"]
    assert (shown["state"], Decimal(shown["cost"])) == ("matched", 10)


def test_the_same_idempotency_key_is_carried_out_once(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*SCRIPTS, answer := charged_response({"id": 7, "script": "Tea."}, 4))
    header = {"Idempotency-Key": "first"}
    first = script.call(*SCRIPTS, json={"topic": "tea"}, headers=header)
    again = script.call(*SCRIPTS, json={"topic": "tea"}, headers=header)
    assert first.content == again.content == answer.content
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    other = script.call(*SCRIPTS, json={"topic": "coffee"}, headers=header)
    assert other.status_code == 422
    assert other.json()["error"]["code"] == "IDEMPOTENCY-KEY-REUSED"
    assert sent(upstream, *SCRIPTS) == Charge.objects.count() == 1
    assert GatewayRequest.objects.filter(is_replayed=True).get().service_requests == 0


def test_an_idempotency_key_also_holds_for_what_is_free(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/faceless", make_response({"id": 41}, 201))
    header = {"Idempotency-Key": "draft 1"}
    answers = [
        script.call("POST", "/faceless", json={"type": "b-roll"}, headers=header) for _ in range(3)
    ]
    assert {answer.content for answer in answers} == {answers[0].content}
    assert sent(upstream, "POST", "/faceless") == Job.objects.count() == 1


@pytest.mark.parametrize("value", ["", "é".encode(), "a" * 256])
def test_an_idempotency_key_that_cannot_be_one_is_refused(
    script: Script, upstream: ScriptedUpstream, value: str | bytes
) -> None:
    answer = script.call(*RENDER, headers={"Idempotency-Key": value})
    assert answer.status_code == 400
    assert not Charge.objects.exists()


def test_of_many_equal_requests_at_once_one_is_sent(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 10))
    answers = script.at_once(25, *RENDER, headers={"Idempotency-Key": "once"})
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses[202] >= 1
    assert statuses[202] + statuses[409] == 25
    assert sent(upstream, *RENDER) == Charge.objects.count() == 1


def test_without_an_idempotency_key_one_video_is_still_rendered_once(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 10))

    def video(_: httpx.Request) -> httpx.Response:
        status = "rendering" if sent(upstream, *RENDER) else "draft"
        return make_response({"id": 7, "script": "Ice moves.", "video": {"status": status}})

    upstream.respond("GET", "/faceless/7", video)
    answers = script.at_once(8, *RENDER)
    assert sent(upstream, *RENDER) == 1
    assert {answer.status_code for answer in answers} <= {202, 403, 409}


def test_a_request_that_was_refused_here_may_use_its_idempotency_key_again(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 10))
    Account.objects.update(balance=5)
    header = {"Idempotency-Key": "later"}
    refused = script.call(*RENDER, headers=header)
    assert refused.status_code == 402
    error = refused.json()["error"]
    assert error["code"] == "INSUFFICIENT-CREDITS"
    assert Decimal(error["required"]) > Decimal(error["available"])
    assert not StoredAnswer.objects.exists()
    Account.objects.update(balance=500)
    assert script.call(*RENDER, headers=header).status_code == 202


def test_a_stop_of_all_charges_holds_for_scripts(
    script: Script, upstream: ScriptedUpstream
) -> None:
    Tenant.objects.update(charges_stopped_at=timezone.now(), charge_stop_reason="Audit")
    answer = script.call(*RENDER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "CHARGES-STOPPED")
    assert sent(upstream, *RENDER) == 0
    assert script.call("GET", "/faceless/7").status_code == 200


def test_a_pause_of_its_member_s_charges_holds_for_a_script(
    script: Script, upstream: ScriptedUpstream, mira: Membership, priya: Membership
) -> None:
    pause_member_charges(by=mira, member=priya, reason="Runaway script")
    answer = script.call(*RENDER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "CHARGES-STOPPED")
    assert "Mira Sandvik paused the charges of Priya Raman" in answer.json()["message"]
    read = script.call("GET", "/faceless/7")
    assert (sent(upstream, *RENDER), read.status_code) == (0, 200)


def test_a_budget_of_a_label_is_hard_for_scripts(
    script: Script, upstream: ScriptedUpstream, token: Token, priya: Membership
) -> None:
    label = Label.objects.create(team=priya.team, name="Acme", created_by=priya.user)
    priya.team.budgets.create(label=label, hard=Decimal(8))
    label.jobs.add(JobFactory.create(account=token.account, token=token, remote_id="7"))
    answer = script.call(*RENDER)
    assert (answer.status_code, Charge.objects.count()) == (402, 0)
    assert "8 of the label Acme’s 8 are left" in answer.json()["message"]


def test_a_hard_budget_is_hard(
    script: Script, upstream: ScriptedUpstream, priya: Membership
) -> None:
    priya.team.budgets.create(member=priya.user, period=BudgetPeriod.DAY, hard=Decimal(8))
    answer = script.call(*RENDER)
    assert (answer.status_code, answer.json()["error"]["code"]) == (402, "BUDGET-EXCEEDED")
    assert not Charge.objects.exists()


@pytest.mark.parametrize("limit", ["daily_limit", "monthly_limit", "second person"])
def test_above_a_limit_a_person_approves_and_then_it_is_sent(
    make_script: Callable[..., Script],
    upstream: ScriptedUpstream,
    northlight: Team,
    thea: Membership,
    limit: str,
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 10))
    if limit == "second person":
        Team.objects.update(second_person_above=5)
        script = make_script()
    else:
        script = make_script(**{limit: 5})
    answer = script.call(*RENDER, headers={"Idempotency-Key": "big"})
    told = answer.json()["data"]
    assert (answer.status_code, told["state"]) == (202, "approval_required")
    approval = ApprovalRequest.objects.get()
    assert told["approval_url"].endswith(f"{approval.pk}/")
    assert "nightly" in approval.note
    assert sent(upstream, *RENDER) == 0
    approve_request(by=thea, approval=approval)
    settled = wait_until_sent(script, told["charge"])
    assert settled["state"] == "confirmed"
    replayed = script.call(*RENDER, headers={"Idempotency-Key": "big"})
    assert replayed.json()["data"] == {"id": 7}
    assert sent(upstream, *RENDER) == 1


def test_nothing_is_approved_for_a_key_that_was_revoked(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, thea: Membership
) -> None:
    script = make_script(daily_limit=5)
    script.call(*RENDER)
    keys.revoke_keys([script.key], timezone.now())
    approve_request(by=thea, approval=ApprovalRequest.objects.get())
    assert Charge.objects.get().state == ChargeState.REFUSED
    assert sent(upstream, *RENDER) == 0


def wait_until_sent(script: Script, charge_id: str) -> dict[str, object]:
    for _ in range(200):
        told = dict(script.call("GET", f"/_charges/{charge_id}").json()["data"])
        if told["state"] not in ("held", "sending"):
            return told
        script.loop.run(asyncio.sleep(0.05))
    raise AssertionError("it was not sent")


def test_a_script_takes_its_request_for_approval_back(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, thea: Membership
) -> None:
    script = make_script(daily_limit=5)
    told = script.call(*RENDER).json()["data"]
    ended = script.call("DELETE", f"/_charges/{told['charge']}")
    assert (ended.status_code, ended.json()["data"]["state"]) == (200, "refused")
    assert ApprovalRequest.objects.get().decided_at is not None
    assert script.call("DELETE", f"/_charges/{told['charge']}").status_code == 409


def test_parallel_calls_never_exceed_the_limit_of_their_key(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, thea: Membership
) -> None:
    """Twelve drafts at 4 credits with 20 a day: five are sent, seven wait for a person."""
    script = make_script(daily_limit=20)
    for number in range(12):
        record = {"id": number, "script": "", "video": {"status": "draft"}}
        upstream.respond("GET", f"/faceless/{number}", make_response(record))
        done = charged_response({"id": number, "script": "Tea."}, 4)
        upstream.respond("PUT", f"/faceless/{number}/scripts", done)

    async def ask_all() -> list[httpx.Response]:
        sends = (script.send("PUT", f"/faceless/{n}/scripts", json={"a": n}) for n in range(12))
        return list(await asyncio.gather(*sends))

    answers = script.loop.run(ask_all())
    waiting = [answer for answer in answers if "approval_required" in answer.text]
    assert len(waiting) == 7
    charged = [request for request in upstream.requests if request.method == "PUT"]
    spent = Charge.objects.exclude(state=ChargeState.DRAFT)
    assert len(charged) <= spent.count() == 5


def test_a_charge_whose_turn_does_not_come_is_cancelled(
    script: Script, upstream: ScriptedUpstream, worker: Worker
) -> None:
    worker.is_busy = True
    answer = script.call(*SCRIPTS, json={}, headers=NO_WAIT)
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "RATE-LIMITED")
    assert int(answer.headers["retry-after"]) >= 1
    assert Charge.objects.get().state == ChargeState.REFUSED
    assert sent(upstream, *SCRIPTS) == 0


def test_a_charge_of_somebody_else_does_not_exist(
    script: Script, make_script: Callable[..., Script], upstream: ScriptedUpstream, luca: Membership
) -> None:
    upstream.respond(*SCRIPTS, charged_response({"id": 7, "script": "Tea."}, 4))
    id = script.call(*SCRIPTS, json={}).headers["reelroom-charge-id"]
    assert script.call("GET", f"/_charges/{id}").status_code == 200
    other = make_script(owner=luca)
    assert other.call("GET", f"/_charges/{id}").status_code == 404
    assert script.call("GET", f"/_charges/{UUID(int=1)}").status_code == 404
