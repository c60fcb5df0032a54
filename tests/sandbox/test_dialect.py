"""The shapes of version 1, where the specification shows none."""

from __future__ import annotations

import pytest

from tests.sandbox.conftest import READY_SETTINGS


@pytest.fixture
def version_1(sandbox):
    assert sandbox.post("/_sandbox/settings", {"dialect": "service-v1"}).status_code == 200
    return sandbox


def test_costs_have_its_keys_and_the_same_prices(version_1):
    costs = version_1.get("/v2/credits/costs").json()["data"]
    assert costs["export_videos"] == {"credits": 5, "free": 1}
    assert costs["ai_scripts"] == {"credits": 4}
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
