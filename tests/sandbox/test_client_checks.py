"""Fault scenarios for a client: what each does, and the verdict on what the client did."""

from __future__ import annotations

from typing import Any

import pytest

from proxyapi.sandbox.client_checks import MAX_REJECTED, SCENARIOS, TOPIC, summarize
from proxyapi.sandbox.faults import ConnectionLost
from tests.sandbox.conftest import SandboxClient

SCRIPT = {"topic": TOPIC, "duration": 30}
CHARGED = ("answer_lost", "rate_limited", "server_error", "malformed_answer", "slow_answer")
TWICE = "Paid more than once for one order (content_prompt_requested: 2)."
LOST = "A film was paid, and lost."


class CheckedClient:
    """One order in one scenario, request by request."""

    def __init__(self, sandbox: SandboxClient, scenario: str) -> None:
        body = {"scenario": scenario, "slow_seconds": 0.01}
        self.sandbox = sandbox
        self.made = sandbox.post("/_sandbox/client-checks", body).json()
        sandbox.token = self.made["token"]
        self.film = f"/v2/faceless/{sandbox.draft(voice_id=2114, genre_id=41)}"

    def send(self, method: str, path: str = "", body: Any = None) -> int:
        """The status of the answer, 0 for none."""
        try:
            return self.sandbox.call(method, self.film + path, json=body).status_code
        except ConnectionLost:
            return 0

    def order(self) -> tuple[int, int]:
        return self.send("PUT", "/scripts", SCRIPT), self.send("POST", "/render")

    def judge(self, **said: bool) -> dict[str, Any]:
        self.sandbox.advance(60)
        self.sandbox.get(self.film)
        path = f"/_sandbox/client-checks/{self.made['account_id']}"
        verdict: dict[str, Any] = self.sandbox.call("GET", path, params=said).json()
        return verdict


@pytest.mark.parametrize("scenario", [*CHARGED, "long_render", "client_restarts"])
def test_who_sends_each_charge_once_is_clean(sandbox, scenario):
    client = CheckedClient(sandbox, scenario)
    client.order()
    verdict = client.judge(has_film=True)
    assert verdict["problems"] == []
    assert verdict["charges"] == {"content_prompt_requested": 1, "faceless_render": 1}


@pytest.mark.parametrize(
    ("scenario", "status"), [*zip(CHARGED, (0, 429, 500, 200, 200), strict=True)]
)
def test_who_sends_a_charge_again_pays_twice(sandbox, scenario, status):
    client = CheckedClient(sandbox, scenario)
    assert client.send("PUT", "/scripts", SCRIPT) == status
    client.order()
    verdict = client.judge(has_film=True)
    assert (verdict["problems"], verdict["paid_more_than_once"]) == ([TWICE], True)


def test_two_drafts_of_one_order_are_paid_twice(sandbox):
    client = CheckedClient(sandbox, "client_restarts")
    client.order()
    client.film = f"/v2/faceless/{sandbox.draft(voice_id=2114, genre_id=41)}"
    client.order()
    assert "faceless_render: 2" in client.judge(has_film=True)["problems"][0]


def test_a_connection_that_closes_before_charges_nothing(sandbox):
    client = CheckedClient(sandbox, "closed_before")
    assert client.send("PUT", "/scripts", SCRIPT) == 0
    assert client.judge(has_film=False)["charges"] == {}
    assert client.order() == (200, 0)
    assert client.judge(has_film=False)["problems"] == []


def test_a_refunded_render_may_be_paid_again(sandbox):
    client = CheckedClient(sandbox, "render_fails")
    client.order()
    assert client.judge(has_film=False)["problems"] == []
    assert client.send("POST", "/retry") == 202
    assert client.judge(has_film=True)["problems"] == []


def test_without_credits_a_failure_is_the_truth(sandbox):
    client = CheckedClient(sandbox, "credits_run_out")
    assert client.order() == (200, 402)
    assert client.judge(has_film=False)["problems"] == []


@pytest.mark.parametrize(("scenario", "status"), [("plan_lapses", 403), ("token_revoked", 401)])
def test_a_film_that_cannot_be_read_may_be_reported_as_failed(sandbox, scenario, status):
    client = CheckedClient(sandbox, scenario)
    assert client.order() == (200, 202)
    assert client.judge(has_film=False)["problems"] == []
    assert client.send("GET") == status


@pytest.mark.parametrize(("said", "problem"), [({"has_film": False}, LOST), ({}, "neither")])
def test_a_paid_film_is_not_to_be_lost(sandbox, said, problem):
    client = CheckedClient(sandbox, "answer_lost")
    client.order()
    assert problem in " ".join(client.judge(**said)["problems"])


def test_a_film_that_was_not_made_is_not_to_be_claimed(sandbox):
    client = CheckedClient(sandbox, "render_fails")
    client.order()
    problems = client.judge(has_film=True)["problems"]
    assert problems == ["It said that it has a film that was not made."]


def test_who_ignores_the_rate_limit_is_told(sandbox):
    client = CheckedClient(sandbox, "closed_before")
    sandbox.set(rate_limit=3)
    for _ in range(MAX_REJECTED + 2):
        client.send("GET")
    assert client.judge(has_film=False)["problems"] == ["4 requests came above the rate limit."]


def test_a_client_that_sends_nothing_is_told(sandbox):
    made = sandbox.post("/_sandbox/client-checks", {"scenario": "answer_lost"}).json()
    verdict = sandbox.get(f"/_sandbox/client-checks/{made['account_id']}?has_film=false").json()
    assert verdict["problems"] == ["No request arrived."]


def test_the_next_scenario_begins_anew_on_the_same_account(sandbox):
    client = CheckedClient(sandbox, "token_revoked")
    client.order()
    body = {"scenario": "closed_before", "account_id": client.made["account_id"]}
    assert sandbox.post("/_sandbox/client-checks", body).status_code == 201
    assert client.send("GET") == 200
    assert sandbox.get("/v2/me").json()["data"]["credits"]["remaining"] == 1000
    assert client.judge(has_film=False)["charges"] == {}
    assert sandbox.money()["balanced"]


def test_wrong_requests_are_refused_with_a_sentence(sandbox):
    path = "/_sandbox/client-checks"
    unknown = sandbox.post(path, {"scenario": "paradise"})
    assert (unknown.status_code, "answer_lost" in unknown.json()["message"]) == (422, True)
    nobody = sandbox.post(path, {"scenario": "answer_lost", "account_id": 1})
    assert (nobody.status_code, nobody.json()["message"]) == (404, "There is no account 1.")
    (account,) = sandbox.get("/_sandbox/accounts").json()
    early = sandbox.get(f"{path}/{account['account_id']}")
    assert (early.status_code, "No scenario was started" in early.text) == (404, True)


def test_the_summary_counts_what_was_paid_twice_and_what_else_went_wrong():
    clean = {"paid_more_than_once": False, "problems": []}
    twice = {"paid_more_than_once": True, "problems": [TWICE]}
    lost = {"paid_more_than_once": False, "problems": [LOST]}
    assert summarize([clean]) == "Your client paid twice in 0 of 1 scenario."
    assert summarize([clean, twice, twice]) == "Your client paid twice in 2 of 3 scenarios."
    assert summarize([twice, lost]).endswith("1 of 2 scenarios. 1 of them had another problem.")
    assert len(SCENARIOS) == 12
