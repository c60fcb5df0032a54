"""The control plane: worlds, accounts, clock, settings, journal, snapshot."""

from __future__ import annotations

import re

import pytest

from proxyapi.sandbox.scenarios import SCENARIOS
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

TOKEN = re.compile(r"sbx_[A-Za-z0-9]{32}_[0-9a-f]{8}")


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_every_scenario_answers_accounts_whose_tokens_work(sandbox, scenario):
    for account in sandbox.reset(scenario):
        for token in account["tokens"]:
            assert TOKEN.fullmatch(token)
            sandbox.token = token
            assert sandbox.get("/v2/me").json()["data"]["id"] == account["account_id"]


def test_an_unknown_scenario_is_refused_and_the_world_is_kept(sandbox):
    answer = sandbox.post("/_sandbox/reset", {"scenario": "paradise"})
    assert (answer.status_code, "paid" in answer.json()["message"]) == (422, True)
    assert sandbox.get("/v2/me").status_code == 200


def test_a_reset_empties_the_world_and_ends_the_old_tokens(sandbox):
    url = sandbox.video(sandbox.rendered())["url"]
    assert sandbox.post("/_sandbox/reset").json()["accounts"] == []
    assert sandbox.get("/v2/me").status_code == 401
    assert sandbox.get(url).status_code == 404


def test_an_account_is_made_and_changed_in_mid_flight(sandbox):
    wanted = {"name": "Jonas", "email": "jonas@example.com", "credits": 40, "plan": "Solo"}
    made = sandbox.post("/_sandbox/accounts", wanted).json()
    sandbox.token = made["token"]
    me = sandbox.get("/v2/me").json()["data"]
    assert (me["name"], me["credits"]["remaining"], me["credits"]["total"]) == (
        "Jonas",
        40,
        1000,
    )
    assert (me["subscription"]["plan"], me["subscription"]["active"]) == ("Solo", True)
    path = f"/_sandbox/accounts/{made['account_id']}"
    sandbox.patch(path, {"subscription": "expired", "credits": 3})
    me = sandbox.get("/v2/me").json()["data"]
    assert (me["subscription"]["active"], me["credits"]["remaining"]) == (False, 3)
    assert sandbox.get(f"{path}/money").json()["balanced"]
    assert sandbox.patch("/_sandbox/accounts/1", {}).status_code == 404
    assert sandbox.patch(path, {"mood": "good"}).status_code == 422


@pytest.mark.parametrize("before", ["paid", "trial", "expired", "none"])
@pytest.mark.parametrize("after", ["paid", "trial", "expired", "none"])
def test_another_subscription_brings_its_own_end(sandbox, before, after):
    """An account looks the same whichever way it came to its subscription."""
    made = sandbox.post("/_sandbox/accounts", {"subscription": before}).json()
    direct = sandbox.post("/_sandbox/accounts", {"subscription": after}).json()
    path = f"/_sandbox/accounts/{made['account_id']}"
    sandbox.patch(path, {"subscription": after})
    told = []
    for one in (made, direct):
        sandbox.token = one["token"]
        told.append(sandbox.get("/v2/me").json()["data"]["subscription"])
    assert told[0] == told[1]


def test_a_token_may_be_of_any_text_that_fits_into_a_header(sandbox):
    account = sandbox.post("/_sandbox/accounts", {}).json()["account_id"]
    path, chosen = f"/_sandbox/accounts/{account}/tokens", "7|a/b+c&d<e>\"f'_canary"
    assert sandbox.post(path, {"token": chosen}).json()["token"] == chosen
    sandbox.token = chosen
    assert sandbox.get("/v2/me").json()["data"]["id"] == account
    assert sandbox.post(path, {"token": "of two words, which is none"}).status_code == 422


def test_a_web_page_cannot_reach_the_control_plane(sandbox):
    headers = {"Origin": "https://elsewhere.example"}
    assert sandbox.post("/_sandbox/reset", headers=headers).status_code == 403
    assert sandbox.get("/v2/me").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403), ("evil.example:8001", 403), ("127.0.0.1.evil.example", 403),
        ("10.1.2.3", 403), ("[2001:db8::1]:8001", 403), ("localhost:8001", 200),
        ("127.0.0.1:8001", 200), ("[::1]:8001", 200), ("sandbox:8001", 200),
        ("video.example:8001", 200),
    ],
)  # fmt: skip
def test_a_page_whose_name_was_bound_to_this_machine_learns_nothing(sandbox, host, status):
    sandbox.app.state.public_url = "https://video.example"
    headers = {"Host": host, "Sec-Fetch-Site": "same-origin"}
    assert sandbox.get("/_sandbox/accounts", headers=headers).status_code == status


def test_from_elsewhere_the_control_plane_wants_its_token(sandbox, monkeypatch):
    sandbox.peer = ("10.1.2.3", 4711)
    assert sandbox.get("/_sandbox/clock").status_code == 403
    monkeypatch.setenv("SANDBOX_CONTROL_TOKEN", "a word of the day")
    assert sandbox.get("/_sandbox/clock").status_code == 403
    sandbox.token = "a word of the day"
    assert sandbox.get("/_sandbox/clock").status_code == 200
    assert sandbox.get("/v2/me").status_code == 401


def test_the_clock_is_frozen_turned_and_scaled(sandbox):
    assert sandbox.get("/_sandbox/clock").json() == {
        "mode": "frozen", "scale": 1.0, "now": "2026-01-15T09:00:00+00:00",
    }  # fmt: skip
    sandbox.advance(90)
    assert sandbox.get("/_sandbox/clock").json()["now"] == "2026-01-15T09:01:30+00:00"
    turn = {"mode": "frozen", "now": "2027-03-01T00:00:00+01:00"}
    answer = sandbox.put("/_sandbox/clock", turn).json()
    assert answer["now"] == "2027-02-28T23:00:00+00:00"
    assert sandbox.put("/_sandbox/clock", {"mode": "scaled", "scale": 60}).json()["scale"] == 60
    assert sandbox.put("/_sandbox/clock", {"mode": "backwards"}).status_code == 422


def test_settings_change_in_part_and_refuse_what_they_do_not_know(sandbox):
    before = sandbox.get("/_sandbox/settings").json()
    sandbox.set(costs={"faceless_render": {"credits": 3}}, rate_limit=5)
    after = sandbox.get("/_sandbox/settings").json()
    assert after["costs"]["faceless_render"] == {"credits": 3, "free": None}
    assert after["costs"]["idea_discovery"] == before["costs"]["idea_discovery"]
    for wrong in ({"rate_limit": 0}, {"mood": 1}, {"rate_window": "round"}):
        assert sandbox.put("/_sandbox/settings", wrong).status_code == 422
    assert sandbox.get("/_sandbox/settings").json() == after


def test_the_journal_has_every_request_and_never_a_token(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    lines = sandbox.journal()
    assert [line["number"] for line in lines] == [1, 2, 3]
    assert lines[2] == {
        "number": 3,
        "at": "2026-01-15T09:00:00+00:00",
        "token": sandbox.get("/_sandbox/accounts").json()[0]["tokens"][0]["fingerprint"],
        "method": "POST",
        "path": f"/v2/faceless/{number}/render",
        "status": 202,
        "charge": 10,
        "fault": None,
    }
    assert len(sandbox.get("/_sandbox/journal?since=2").json()) == 1
    sandbox.call("DELETE", "/_sandbox/journal")
    sandbox.get("/v2/me")
    assert [line["number"] for line in sandbox.journal()] == [4]


def test_no_token_is_kept_or_shown_again(sandbox, tmp_path):
    sandbox.rendered()
    pages = [
        sandbox.get(f"/_sandbox/{page}").text
        for page in ("accounts", "journal", "snapshot", "settings", "faults", "outcomes")
    ]
    files = [path.read_bytes() for path in tmp_path.glob("world*")]
    secret = sandbox.token.split("_")[1]
    assert not any(secret in page for page in pages)
    assert not any(secret.encode() in file for file in files)


def test_the_journal_keeps_only_its_newest_lines(sandbox):
    sandbox.set(journal_lines=3, rate_limit=100)
    for _ in range(5):
        sandbox.get("/v2/me")
    assert [line["number"] for line in sandbox.journal()] == [3, 4, 5]


def test_a_snapshot_brings_the_whole_world_back(sandbox):
    number = sandbox.rendered()
    snapshot = sandbox.get("/_sandbox/snapshot").json()
    before = sandbox.get(f"/v2/faceless/{number}").json()
    sandbox.reset("trial")
    sandbox.token = ""
    assert sandbox.put("/_sandbox/snapshot", {"video": [{"id": 1}]}).status_code == 422
    assert sandbox.put("/_sandbox/snapshot", snapshot).json()["video"] == 1
    assert sandbox.get("/_sandbox/snapshot").json() == snapshot
    assert before["data"]["id"] == number


def test_the_same_seed_and_the_same_calls_give_the_same_bodies(tmp_path, loop):
    told = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        sandbox = SandboxClient(tmp_path / folder, loop, db=None, seed=1)
        sandbox.reset("team_of_three", seed=99)
        number = sandbox.draft(**READY_SETTINGS)
        sandbox.put(f"/v2/faceless/{number}/scripts", {"topic": "tides", "duration": 60})
        sandbox.post(f"/v2/faceless/{number}/render")
        sandbox.advance(60)
        pages = [f"/v2/faceless/{number}", "/v2/credits/history", "/_sandbox/journal"]
        told.append([sandbox.token, *(sandbox.get(page).text for page in pages)])
    assert told[0] == told[1]


def test_a_subscription_can_lapse_in_the_middle_of_a_render(sandbox):
    sandbox.reset("lapses_mid_render")
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    assert sandbox.video(number)["status"] == "rendering"
    sandbox.advance(4)
    answer = sandbox.get(f"/v2/faceless/{number}")
    assert answer.json()["error"]["code"] == "SUBSCRIPTION-REQUIRED"
    sandbox.advance(60)
    (account,) = sandbox.get("/_sandbox/accounts").json()
    path = f"/_sandbox/accounts/{account['account_id']}"
    assert sandbox.patch(path, {"subscription": "paid"}).json()["lapsing"] is False
    assert sandbox.video(number)["status"] == "completed"
    sandbox.advance(1000)
    assert sandbox.get("/v2/faceless/options").status_code == 200
