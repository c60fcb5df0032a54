"""The shapes of version 1, where the specification shows none."""

from __future__ import annotations

import pytest

from tests.sandbox.conftest import READY_SETTINGS


@pytest.fixture
def version_1(sandbox):
    assert sandbox.post("/_sandbox/settings", {"dialect": "service-v1"}).status_code == 200
    return sandbox


def test_costs_have_its_keys_and_the_same_prices(version_1):
    """The one key that the specification names stays."""
    costs = version_1.get("/v2/credits/costs").json()["data"]
    assert costs["export_videos"] == {"credits": 5, "free": 1}
    assert costs["content_prompt_requested"] == {"credits": 4}
    assert "faceless_export" not in costs


def test_a_script_needs_style_tone_and_language_and_a_refusal_charges_nothing(version_1):
    number = version_1.draft(**READY_SETTINGS)
    path, wanted = f"/v2/faceless/{number}/scripts", {"duration": 60, "topic": "Ice"}
    before = version_1.get("/v2/me").json()["data"]["credits"]["remaining"]
    answer = version_1.put(path, {**wanted, "style": "Story"})
    assert (answer.status_code, set(answer.json()["errors"])) == (422, {"tone", "language"})
    assert version_1.get("/v2/me").json()["data"]["credits"]["remaining"] == before
    whole = {**wanted, "style": "Story", "tone": "Calm", "language": "English"}
    assert version_1.put(path, whole).status_code == 200


def test_ideas_of_a_keyword_that_nobody_searched_for_are_refused(version_1):
    path = "/v2/ideas?keyword=tides&network=youtube"
    assert version_1.get(path).status_code == 403
    version_1.post("/v2/ideas/discover", {"keyword": "tides", "network": "youtube"})
    assert version_1.get(path).status_code == 200


def test_assets_have_media_and_an_order_from_0(version_1):
    number = version_1.draft(type="ai-visuals", **READY_SETTINGS)
    version_1.post(f"/v2/faceless/{number}/render")
    version_1.advance(600)
    assets = version_1.get(f"/v2/faceless/{number}").json()["data"]["assets"]
    assert [asset["order"] for asset in assets] == list(range(len(assets)))
    for asset in assets:
        assert asset.keys().isdisjoint({"url", "position"})
        assert asset["media"][0]["original_url"]


def test_a_failed_render_is_refunded_in_the_words_of_version_1(version_1):
    number = version_1.draft(**READY_SETTINGS)
    version_1.post("/_sandbox/outcomes", {"kind": "faceless", "statuses": ["rendering", "failed"]})
    version_1.post(f"/v2/faceless/{number}/render")
    version_1.advance(600)
    assert version_1.get(f"/v2/faceless/{number}").json()["data"]["video"]["status"] == "failed"
    rows = version_1.get("/v2/credits/history?order=ASC").json()["data"]
    assert [row["transaction_type"] for row in rows] == ["Debit", "Credit"]
    assert rows[0]["content_type"] == "Faceless video generated"
    assert rows[1]["content_type"] == "Credits refunded to user"
    assert rows[1]["credit_spend"] == rows[0]["credit_spend"].replace("-", "+")
    assert rows[1]["created_at"].endswith(".000000Z")
    assert version_1.money()["balanced"]


def test_rows_of_one_second_have_another_order_each_time(version_1):
    account = version_1.get("/_sandbox/accounts").json()[0]
    path = f"/_sandbox/accounts/{account['account_id']}/spend"
    for credits in range(1, 7):
        version_1.post(path, {"credits": credits})
    reads = [version_1.get("/v2/credits/history").json()["data"] for _ in range(4)]
    shown = [[row["credit_spend"] for row in rows] for rows in reads]
    assert len(set(map(tuple, shown))) > 1
    assert len(set(map(frozenset, shown))) == 1


def test_extra_credits_are_a_purse_of_their_own(version_1):
    account = version_1.get("/_sandbox/accounts").json()[0]
    before = version_1.get("/v2/me").json()["data"]["credits"]["remaining"]
    version_1.post(f"/_sandbox/accounts/{account['account_id']}/renewals", {"extra": 120})
    credits = version_1.get("/v2/me").json()["data"]["credits"]
    assert (credits["remaining"], credits["extra"]) == (credits["total"], 120)
    assert before == credits["total"]
    rows = version_1.get("/v2/credits/history").json()["data"]
    assert "Release of monthly credits" in {row["content_type"] for row in rows}
    assert version_1.money()["balanced"]


def test_refusals_whose_code_is_not_shown_have_none(version_1):
    for path, status in (("/v2/presets", 404), ("/v2/me/render", 404)):
        answer = version_1.get(path)
        assert (answer.status_code, answer.json()) == (status, "Not Found!")
    refused = version_1.post("/v2/me")
    assert (refused.status_code, refused.json().keys()) == (405, {"message"})
    assert version_1.get("/v2/faceless/1").json()["error"]["code"] == "GEN-NOT-FOUND"


def test_captions_are_an_object_or_null(version_1):
    number = version_1.draft(**READY_SETTINGS)
    shown = version_1.get(f"/v2/faceless/{number}").json()["data"]["captions"]
    assert shown["position"] == "bottom"
    assert version_1.patch(f"/v2/faceless/{number}", {"captions": False}).status_code == 422
    version_1.patch(f"/v2/faceless/{number}", {"font": "mono", "captions": {"position": "top"}})
    changed = version_1.get(f"/v2/faceless/{number}").json()["data"]["captions"]
    assert changed == {**shown, "position": "top"}
    version_1.patch(f"/v2/faceless/{number}", {"captions": None})
    assert version_1.get(f"/v2/faceless/{number}").json()["data"]["captions"] is None


def test_the_other_dialect_has_its_own_settings_again(version_1):
    version_1.set(dialect="spec")
    settings = version_1.get("/_sandbox/settings").json()
    assert (settings["failed_render_refunds"], settings["remaining_includes_extra"]) == (
        False,
        True,
    )
