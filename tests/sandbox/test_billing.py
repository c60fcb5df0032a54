"""Credits: the ledger adds up to the balance after every call, whatever happens."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract import staging
from tests.examples import examples
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient


def script(sandbox: SandboxClient, number: int) -> httpx.Response:
    return sandbox.put(f"/v2/faceless/{number}/scripts", {"topic": "tides", "duration": 30})


def test_free_uses_come_before_credits_and_leave_no_ledger_row(sandbox):
    sandbox.set(costs={"content_prompt_requested": {"credits": 4, "free": 2}})
    number = sandbox.draft()
    spent = [script(sandbox, number).json()["meta"]["credits"] for _ in range(3)]
    assert [it["cost"] for it in spent] == [0, 0, 4]
    assert [it["remaining"] for it in spent] == [1000, 1000, 996]
    assert sandbox.get("/v2/credits/history").json()["meta"]["total"] == 1
    costs = sandbox.get("/v2/credits/costs").json()["data"]
    assert costs["content_prompt_requested"] == {"credits": 4, "free": 2}
    assert costs["idea_discovery"] == {"credits": 15}


def test_a_free_use_needs_no_credits(sandbox):
    sandbox.reset("low_credits")
    (account,) = sandbox.get("/_sandbox/accounts").json()
    sandbox.patch(f"/_sandbox/accounts/{account['account_id']}", {"credits": 0})
    sandbox.set(costs={"content_prompt_requested": {"credits": 4, "free": 1}})
    number = sandbox.draft()
    assert [script(sandbox, number).status_code for _ in range(2)] == [200, 402]


def test_an_estimate_knows_of_free_uses(sandbox):
    free = {"credits": 5, "free": 1}
    sandbox.set(costs=dict.fromkeys(("faceless_render", "text_to_video", "text_to_scene"), free))
    video = f"/v2/faceless/{sandbox.draft(**READY_SETTINGS)}"
    board = sandbox.post("/v2/text-to-scene", {"mode": "manual"}).json()["data"]["id"]
    sandbox.post(f"/v2/text-to-scene/{board}/scenes", {"raw_video_prompt": "A fox"})
    clip = {"model": "brook", "prompt": "a red fox runs through snow"}
    for path, order, body in (
        (f"{video}/estimate", f"{video}/render", None),
        ("/v2/text-to-video/estimate?model=brook", "/v2/text-to-video", clip),
        (f"/v2/text-to-scene/{board}/estimate", f"/v2/text-to-scene/{board}/render", None),
    ):
        assert sandbox.get(path).json()["data"]["cost"] == 0
        assert sandbox.post(order, body).json()["meta"]["credits"]["cost"] == 0
        assert sandbox.get(path).json()["data"]["cost"] > 0


def test_the_ledger_shows_signed_strings_and_what_came_from_where(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    (account,) = sandbox.get("/_sandbox/accounts").json()
    spend = {"credits": 25, "label": "Poster", "content_type": "image"}
    sandbox.post(f"/_sandbox/accounts/{account['account_id']}/spend", spend)
    rows = sandbox.get("/v2/credits/history").json()["data"]
    assert [row["credit_spend"] for row in rows] == ["-25", "-10"]
    assert rows[0] == {
        "label": "Poster",
        "content_type": "image",
        "credit_spend": "-25",
        "transaction_type": "Debit",
        "created_at": "2026-01-15T09:00:00+00:00",
    }
    api = sandbox.get("/v2/credits/history?source=api").json()
    assert [row["label"] for row in api["data"]] == ["Faceless video render"]


@pytest.mark.parametrize(("order", "first"), [("ASC", "-1"), ("DESC", "-30")])
def test_the_ledger_is_paged_in_both_orders(sandbox, order, first):
    (account,) = sandbox.get("/_sandbox/accounts").json()
    for credits in range(1, 31):
        path = f"/_sandbox/accounts/{account['account_id']}/spend"
        sandbox.post(path, {"credits": credits})
    pages = []
    url = f"/v2/credits/history?order={order}&per_page=7"
    while url:
        page = sandbox.get(url).json()
        pages.append(page)
        url = page["links"]["next"]
    rows = [row["credit_spend"] for page in pages for row in page["data"]]
    assert (len(rows), len(set(rows)), rows[0]) == (30, 30, first)
    assert [len(page["data"]) for page in pages] == [7, 7, 7, 7, 2]
    meta = pages[1]["meta"]
    assert meta == {
        "current_page": 2, "per_page": 7, "total": 30, "last_page": 5, "from": 8, "to": 14,
    }  # fmt: skip


@pytest.mark.parametrize(
    "query", ["per_page=51", "per_page=0", "page=0", "order=desc", "per_page=x"]
)
def test_a_wrong_page_of_the_ledger_is_422(sandbox, query):
    answer = sandbox.get(f"/v2/credits/history?{query}")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [query.partition("=")[0]]


def test_a_page_beyond_the_end_is_empty(sandbox):
    page = sandbox.get("/v2/credits/history?page=9").json()
    assert (page["data"], page["meta"]["total"], page["links"]["next"]) == ([], 0, None)
    assert page["meta"]["per_page"] == 12


def test_a_charge_sent_again_after_a_lost_answer_is_a_double_charge(sandbox):
    number = sandbox.draft()
    fault = {"match": {"method": "PUT"}, "when": "after", "action": "status", "times": 1}
    sandbox.post("/_sandbox/faults", fault)
    assert script(sandbox, number).status_code == 500
    sandbox.advance(300)
    assert script(sandbox, number).status_code == 200
    money = sandbox.money()
    assert (money["balance"], money["balanced"]) == (992, True)
    assert [it["resource"] for it in money["double_charges"]] == [f"faceless:{number}"]


def test_a_double_click_is_a_double_charge_and_a_later_request_is_not(sandbox):
    number = sandbox.draft()
    script(sandbox, number)
    sandbox.advance(60)
    script(sandbox, number)
    assert sandbox.money()["double_charges"] == []
    assert len(sandbox.money()["repeated_requests"]) == 1
    sandbox.advance(1)
    script(sandbox, number)
    assert len(sandbox.money()["double_charges"]) == 1


def test_a_script_for_a_second_draft_of_the_same_settings_is_the_same_intent(sandbox):
    first, second, other = sandbox.draft(), sandbox.draft(), sandbox.draft(title="Another")
    for number in (first, other, first):
        script(sandbox, number)
        sandbox.advance(60)
    assert sandbox.money()["same_intent"] == []
    script(sandbox, second)
    assert [it["resource"] for it in sandbox.money()["same_intent"]] == [f"faceless:{second}"]


def test_the_same_clip_minutes_later_is_the_same_intent_and_an_hour_later_is_not(sandbox):
    for seconds in (120, 3600, 0):
        sandbox.post("/v2/text-to-video", {"model": "brook", "prompt": "a red fox in the snow"})
        sandbox.advance(seconds)
    assert len(sandbox.money()["same_intent"]) == 1


def test_extra_credits_are_spent_last_and_shown_as_the_setting_says(sandbox):
    account = next(iter(sandbox.world.accounts))
    account.extra = 995
    assert script(sandbox, sandbox.draft()).json()["meta"]["credits"]["remaining"] == 996
    assert sandbox.get("/v2/me").json()["data"]["credits"] == {
        "remaining": 996, "total": 1000, "extra": 995,
    }  # fmt: skip
    sandbox.set(remaining_includes_extra=False)
    assert sandbox.get("/v2/me").json()["data"]["credits"]["remaining"] == 1
    script(sandbox, sandbox.draft())
    assert account.extra == 992


@pytest.mark.parametrize(
    ("method", "path", "sent", "writer"),
    [
        ("PUT", "scripts", staging.SCRIPT, "write"),
        ("POST", "scrape-script", {"url": staging.PAGE, "duration": 30}, "retelling.retell"),
    ],
)
def test_a_script_that_cannot_be_written_is_not_charged(
    sandbox, monkeypatch, method, path, sent, writer
):
    def broken(*_: object, **__: object) -> str:
        raise IndexError

    monkeypatch.setattr(f"proxyapi.sandbox.writer.{writer}", broken)
    number = sandbox.draft(type="url-based")
    assert sandbox.call(method, f"/v2/faceless/{number}/{path}", json=sent).status_code == 500
    money = sandbox.money()
    assert (money["balance"], money["charges"]) == (1000, {})


STEPS = st.lists(
    st.sampled_from(["script", "render", "retry", "export", "fail", "spend", "wait", "fault"]),
    max_size=14,
)


@settings(max_examples=examples(5, 12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_balance_is_the_opening_plus_the_ledger_after_every_call(loop, tmp_path, steps):
    sandbox = SandboxClient(tmp_path, loop, db=None)
    sandbox.reset("paid")
    sandbox.set(rate_limit=1000, failed_render_refunds=True)
    (account,) = sandbox.get("/_sandbox/accounts").json()
    number = sandbox.draft(**READY_SETTINGS)
    for step in steps:
        if step == "script":
            script(sandbox, number)
        elif step in ("render", "retry", "export"):
            sandbox.post(f"/v2/faceless/{number}/{step}")
        elif step == "fail":
            sandbox.post("/_sandbox/outcomes", {"statuses": ["failed"]})
        elif step == "spend":
            sandbox.post(f"/_sandbox/accounts/{account['account_id']}/spend", {"credits": 300})
        elif step == "wait":
            sandbox.advance(60)
        else:
            fault = {"when": "after", "action": "html", "times": 1}
            sandbox.post("/_sandbox/faults", fault)
        money = sandbox.money()
        assert money["opening"] + money["ledger_sum"] == money["balance"] >= 0
        assert sandbox.world.accounts.rows[account["account_id"]].balance == money["balance"]
