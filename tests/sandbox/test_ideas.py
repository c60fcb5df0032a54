"""Ideas: what a search finds and costs, and the free list of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from proxyapi.sandbox.api import resource_shapes
from proxyapi.sandbox.clock import SandboxClock
from proxyapi.sandbox.ideas import generation
from tests.sandbox.conftest import SandboxClient

FIELDS = ("title", "hook", "format", "volume", "competition", "network")


def discover(sandbox: SandboxClient, keyword: str = "night trains", network: str = "tiktok"):
    return sandbox.post("/v2/ideas/discover", {"keyword": keyword, "network": network})


def plain(ideas: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(idea[field] for field in FIELDS) for idea in ideas]


def test_a_search_costs_fifteen_credits_and_is_ranked(sandbox):
    answer = discover(sandbox)
    resource_shapes.IdeasFoundShape.model_validate(answer.json(), strict=True, extra="forbid")
    assert (answer.status_code, answer.json()["meta"]["credits"]) == (
        200, {"cost": 15, "remaining": 985},
    )  # fmt: skip
    ideas = answer.json()["data"]
    volumes = [it["volume"] for it in ideas]
    assert len(ideas) == 20 and volumes == sorted(volumes, reverse=True)
    assert len({it["title"] for it in ideas}) == 20
    assert all("night trains" in it["title"].lower() for it in ideas)
    assert all(it["hook"] and "{" not in it["title"] + it["hook"] for it in ideas)


def test_a_search_made_before_costs_again_and_finds_the_same(sandbox):
    first, again = discover(sandbox), discover(sandbox, "  Night   TRAINS ")
    assert first.json()["data"] == again.json()["data"]
    assert again.json()["meta"]["credits"] == {"cost": 15, "remaining": 970}
    assert sandbox.get("/v2/ideas").json()["meta"]["total"] == 20
    assert sandbox.money()["balanced"]


def test_the_same_keyword_finds_the_same_in_another_world(sandbox):
    first = plain(discover(sandbox).json()["data"])
    sandbox.reset("paid", seed=99)
    assert plain(discover(sandbox).json()["data"]) == first
    assert plain(discover(sandbox, network="youtube").json()["data"]) != first


@pytest.mark.parametrize("keyword", ["xkcdq", "12345", "?!?!", "brrrt zzzzz"])
def test_a_fruitless_search_costs_nothing(sandbox, keyword):
    answer = discover(sandbox, keyword).json()
    assert (answer["data"], answer["meta"]["credits"]) == ([], {"cost": 0, "remaining": 1000})
    sandbox.set(fruitless_search="not_found")
    assert discover(sandbox, keyword).status_code == 404
    assert sandbox.get("/v2/credits/history").json()["meta"]["total"] == 0
    assert sandbox.get("/v2/ideas").json()["data"] == []


def test_keywords_can_be_set_to_find_nothing(sandbox):
    sandbox.set(fruitless_keywords=["Tides"])
    assert discover(sandbox, "tides").json()["data"] == []
    assert len(discover(sandbox, "high tides").json()["data"]) == 20


@pytest.mark.parametrize("keyword", ["été", "夜行列車", "Mond", "diy"])
def test_keywords_of_other_languages_are_no_gibberish(keyword):
    assert not generation.is_gibberish(keyword)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"network": "tiktok"}, "keyword"),
        ({"keyword": "tides"}, "network"),
        ({"keyword": " a ", "network": "tiktok"}, "keyword"),
        ({"keyword": "x" * 101, "network": "tiktok"}, "keyword"),
        ({"keyword": "tides", "network": "myspace"}, "network"),
        ({"keyword": 7, "network": "tiktok"}, "keyword"),
    ],
)
def test_a_wrong_search_is_422(sandbox, body, field):
    answer = sandbox.post("/v2/ideas/discover", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


def test_what_a_keyword_has_in_it_is_only_text(sandbox):
    ideas = discover(sandbox, "{n} [a|b] {k}").json()["data"]
    assert any("{n} [a|b] {k}" in it["title"] for it in ideas)


def test_the_list_is_free_filtered_sorted_and_paged(sandbox):
    for network in ("tiktok", "youtube"):
        discover(sandbox, network=network)
    discover(sandbox, "owls")
    spent = sandbox.money()["ledger_sum"]
    page = sandbox.get("/v2/ideas?keyword=Night Trains&network=youtube&per_page=7&page=3").json()
    resource_shapes.IdeasPage.model_validate(page)
    assert (page["meta"]["total"], page["meta"]["last_page"], len(page["data"])) == (20, 3, 6)
    assert page["links"]["next"] is None and "keyword=Night+Trains" in page["links"]["prev"]
    whole = sandbox.get("/v2/ideas").json()
    assert (whole["meta"]["total"], whole["meta"]["per_page"], len(whole["data"])) == (60, 12, 12)
    volumes = [it["volume"] for it in whole["data"]]
    assert volumes == sorted(volumes, reverse=True)
    titles = [it["title"] for it in sandbox.get("/v2/ideas?sort=title").json()["data"]]
    assert titles == sorted(titles)
    assert sandbox.money()["ledger_sum"] == spent == -45


@pytest.mark.parametrize("query", ["sort=best", "per_page=51", "page=0", "network=myspace"])
def test_a_wrong_page_of_ideas_is_422(sandbox, query):
    assert sandbox.get(f"/v2/ideas?{query}").status_code == 422


def test_ideas_are_their_accounts_own(sandbox):
    discover(sandbox)
    sandbox.token = sandbox.post("/_sandbox/accounts", {"name": "Otto"}).json()["token"]
    assert sandbox.get("/v2/ideas").json()["data"] == []


def test_a_search_needs_its_credits_beforehand(sandbox):
    sandbox.reset("low_credits")
    assert discover(sandbox).status_code == 402
    assert sandbox.get("/v2/ideas").json()["data"] == []


def test_free_searches_come_before_credits(sandbox):
    sandbox.set(costs={"idea_discovery": {"credits": 15, "free": 1}})
    costs = [discover(sandbox).json()["meta"]["credits"]["cost"] for _ in range(2)]
    assert costs == [0, 15]


def test_a_lost_answer_is_read_back_from_the_list(sandbox):
    fault = {"match": {"path": "*/discover"}, "when": "after", "action": "close", "times": 1}
    sandbox.post("/_sandbox/faults", fault)
    with pytest.raises((httpx.TransportError, ConnectionResetError)):
        discover(sandbox)
    assert sandbox.get("/v2/ideas?keyword=night trains").json()["meta"]["total"] == 20
    discover(sandbox)
    assert len(sandbox.money()["double_charges"]) == 1


def test_a_search_takes_its_time_unless_it_was_made_before(sandbox, tmp_path, loop):
    """Half a second of the world in a twentieth of the machine's, on a clock that runs."""
    running = SandboxClient(tmp_path, loop, db=None, clock=SandboxClock("scaled", scale=10))
    running.reset("paid")
    running.set(discovery_seconds=5)
    before = running.world.now
    assert discover(running).json()["data"]
    took = running.world.now - before
    assert running.get("/v2/ideas").json()["meta"]["total"] == 20
    before = running.world.now
    discover(running)
    assert (took >= 5, running.world.now - before < 5) == (True, True)
