"""Faults: which request suffers, and what becomes of its answer and of its charge."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proxyapi.sandbox.faults import ACTIONS, ConnectionLost
from tests.sandbox.asgi_client import call_app
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

PUT_SCRIPT = {"topic": "tides", "duration": 30}


def fault(sandbox: SandboxClient, **wanted: Any) -> Any:
    answer = sandbox.post("/_sandbox/faults", wanted)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.parametrize(("when", "balance"), [("before", 1000), ("after", 996)])
def test_a_status_before_does_no_work_and_after_it_the_work_is_done(sandbox, when, balance):
    number = sandbox.draft()
    fault(sandbox, match={"path": "*/scripts"}, when=when, action="status", code=503, times=1,
          headers={"Retry-After": "7"})  # fmt: skip
    answer = sandbox.put(f"/v2/faceless/{number}/scripts", PUT_SCRIPT)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert answer.json()["error"]["code"] == "GEN-API-ERROR"
    assert answer.headers["x-ratelimit-limit"] == "30"
    assert sandbox.money()["balance"] == balance
    line = sandbox.journal()[-1]
    assert (line["status"], line["charge"], line["fault"]) == (
        503,
        1000 - balance,
        f"status {when}",
    )


def test_a_status_may_bring_its_own_body(sandbox):
    fault(sandbox, action="status", code=418, body="short and stout", times=1)
    assert sandbox.get("/v2/me").text == "short and stout"
    fault(sandbox, action="status", code=403, body={"error": {"code": "FEATURE-NOT-ALLOWED"}})
    assert sandbox.get("/v2/me").json() == {"error": {"code": "FEATURE-NOT-ALLOWED"}}


@pytest.mark.parametrize("code", [204, 304])
@pytest.mark.parametrize("wanted", [{"action": "status", "body": {"a": 1}}, {"action": "html"}])
def test_an_answer_that_may_have_no_body_has_none(sandbox, code, wanted):
    fault(sandbox, **wanted, code=code, times=1)
    answer = sandbox.get("/v2/me")
    assert (answer.status_code, answer.content) == (code, b"")


def test_html_malformed_json_and_a_missing_meta(sandbox):
    number = sandbox.draft()
    fault(sandbox, action="html", code=502, times=1)
    page = sandbox.get("/v2/me")
    assert (page.status_code, page.headers["content-type"]) == (502, "text/html")
    assert "x-ratelimit-limit" not in page.headers
    fault(sandbox, action="malformed_json", times=1)
    broken = sandbox.get("/v2/me")
    assert (broken.status_code, broken.headers["content-type"]) == (200, "application/json")
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        broken.json()
    fault(sandbox, action="drop_meta", times=1)
    body = sandbox.put(f"/v2/faceless/{number}/scripts", PUT_SCRIPT).json()
    assert "meta" not in body
    assert body["data"]["script"]


def test_rate_limited_says_when_to_come_back(sandbox):
    fault(sandbox, action="rate_limited", retry_after=12, times=1)
    answer = sandbox.get("/v2/me")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "12")
    assert int(answer.headers["x-ratelimit-reset"]) == int(sandbox.world.now) + 12
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert sandbox.get("/v2/me").status_code == 200


@pytest.mark.parametrize("action", ["close", "reset", "half_body"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lost_connection_is_an_error_in_process_and_after_it_the_charge_stands(
    sandbox, action, when
):
    number = sandbox.draft()
    fault(sandbox, match={"method": "PUT"}, when=when, action=action, times=1)
    with pytest.raises(ConnectionLost):
        sandbox.put(f"/v2/faceless/{number}/scripts", PUT_SCRIPT)
    done = when == "after" or action == "half_body"
    assert sandbox.money()["balance"] == (996 if done else 1000)
    assert sandbox.journal()[-1]["fault"] == f"{action} {when}"


def test_a_stall_ends_without_an_answer_and_latency_with_one(sandbox):
    fault(sandbox, action="latency", ms=1, times=1)
    assert sandbox.get("/v2/me").status_code == 200
    fault(sandbox, action="stall", seconds=0.01, times=1)
    with pytest.raises(ConnectionLost):
        sandbox.get("/v2/me")


@pytest.mark.parametrize("gone", [True, False])
def test_a_disconnected_client_does_not_learn_its_charge_though_nothing_was_late(
    sandbox, loop, gone
):
    path = f"/v2/faceless/{sandbox.draft()}/scripts"
    line = SimpleNamespace(is_closing=lambda: gone)
    call = call_app(sandbox.app, "PUT", path, token=sandbox.token, body=PUT_SCRIPT, transport=line)
    assert (loop.run(call).status == 200) is not gone
    ((charge,),) = sandbox.money()["charges"].values()
    assert charge["answered"] is not gone


def test_a_late_request_arrives_as_it_was_sent_after_its_connection_was_dropped(sandbox):
    number = sandbox.draft()
    fault(sandbox, match={"method": "PUT"}, action="late", seconds=60, times=1)
    before = len(sandbox.journal())
    with pytest.raises(ConnectionLost):
        sandbox.put(f"/v2/faceless/{number}/scripts", PUT_SCRIPT)
    sandbox.advance(59)
    assert (len(sandbox.journal()), sandbox.money()["balance"]) == (before, 1000)
    sandbox.advance(1)
    assert sandbox.money()["balance"] == 996
    (line,) = sandbox.journal()[before:]
    assert (line["path"], line["charge"]) == (f"/v2/faceless/{number}/scripts", 4)
    assert (line["status"], line["fault"]) == (None, "late before")
    assert sandbox.get(f"/v2/faceless/{number}").json()["data"]["script"]
    ((charge,),) = sandbox.money()["charges"].values()
    assert not charge["answered"]


def test_late_requests_arrive_in_their_order_and_not_in_another_world(sandbox):
    number = sandbox.draft()
    for title, seconds in (("Later", 90), ("Sooner", 30)):
        fault(sandbox, match={"method": "PATCH"}, action="late", seconds=seconds, times=1)
        with pytest.raises(ConnectionLost):
            sandbox.patch(f"/v2/faceless/{number}", {"title": title})
    sandbox.advance(3600)
    assert sandbox.get(f"/v2/faceless/{number}").json()["data"]["title"] == "Later"
    fault(sandbox, match={"method": "PATCH"}, action="late", seconds=1, times=1)
    with pytest.raises(ConnectionLost):
        sandbox.patch(f"/v2/faceless/{number}", {"title": "Never"})
    sandbox.reset("paid")
    sandbox.advance(3600)
    sandbox.get("/v2/me")
    assert [line["method"] for line in sandbox.journal()] == ["GET"]


def test_a_fault_picks_its_requests(sandbox):
    mira, priya, _ = sandbox.reset("team_of_three")
    match = {"method": "get", "path": "/v2/me", "nth": 2, "account_id": mira["account_id"]}
    fault(sandbox, match=match, action="status", code=500)
    assert sandbox.get("/v2/credits/costs").status_code == 200
    sandbox.token = priya["token"]
    assert [sandbox.get("/v2/me").status_code for _ in range(3)] == [200] * 3
    sandbox.token = mira["token"]
    assert [sandbox.get("/v2/me").status_code for _ in range(3)] == [200, 500, 200]


def test_chance_fires_at_the_same_requests_for_the_same_seed(sandbox):
    seen = []
    for _ in range(2):
        sandbox.reset("paid")
        fault(sandbox, action="status", code=500, probability=0.5, seed=3)
        seen.append([sandbox.get("/v2/me").status_code for _ in range(20)])
    assert seen[0] == seen[1]
    assert {200, 500} == set(seen[0])


def test_faults_are_listed_and_lifted(sandbox):
    first = fault(sandbox, action="html")
    fault(sandbox, action="latency", ms=1)
    listed = sandbox.get("/_sandbox/faults").json()
    assert [it["action"] for it in listed] == ["html", "latency"]
    sandbox.call("DELETE", f"/_sandbox/faults/{first['id']}")
    assert sandbox.get("/v2/me").status_code == 200
    assert sandbox.call("DELETE", "/_sandbox/faults").json() == {"lifted": [2]}
    assert sandbox.call("DELETE", "/_sandbox/faults/2").status_code == 404


@pytest.mark.parametrize("wanted", [{"action": "sing"}, {"action": "html", "mood": "bad"}, {}])
def test_a_fault_that_does_not_exist_is_refused(sandbox, wanted):
    assert sandbox.post("/_sandbox/faults", wanted).status_code == 422


def test_every_action_can_be_set_and_none_unbalances_the_ledger(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    for action in ACTIONS:
        for when in ("before", "after"):
            fault(sandbox, action=action, when=when, times=1, ms=1, seconds=0.01)
            try:
                sandbox.put(f"/v2/faceless/{number}/scripts", PUT_SCRIPT)
            except ConnectionLost:
                continue
    sandbox.advance(1)
    money = sandbox.money()
    assert money["balanced"]
    charged = money["charges"][f"faceless:{number}"]
    assert money["balance"] == 1000 - 4 * len(charged)
    # late, latency and the three that spoil an answer do the work also when it is not `after`
    assert len(charged) == len(ACTIONS) + 5
