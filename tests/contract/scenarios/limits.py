"""Each row of the table of limits, held just inside and just outside."""

from __future__ import annotations

from tests.contract import staging
from tests.contract.scenarios import ScenarioTable
from tests.contract.scenarios.charges import cost
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

LIMITS = ScenarioTable()
PAGE = {"url": staging.PAGE}


@LIMITS.row("Request rate")
def thirty_a_minute_for_each_token(sandbox: SandboxClient) -> None:
    mira, *_ = sandbox.reset("team_of_three")
    for token in mira["tokens"]:
        sandbox.token = token
        statuses = [sandbox.get("/v2/me").status_code for _ in range(31)]
        assert statuses == [200] * 30 + [429]
    sandbox.world.clock.advance(60)
    assert sandbox.get("/v2/me").status_code == 200


@LIMITS.row("Rate headers")
def on_every_answer(sandbox: SandboxClient) -> None:
    number = sandbox.draft()
    answers = [
        sandbox.get("/v2/me"),
        sandbox.get("/v2/nowhere"),
        sandbox.call("DELETE", "/v2/me"),
        sandbox.post(f"/v2/faceless/{number}/render"),
        sandbox.patch(f"/v2/faceless/{number}", {"voice_id": "x"}),
        sandbox.get("/v2/me", headers={"Authorization": "Bearer nonsense"}),
    ]
    assert [it.status_code for it in answers] == [200, 404, 405, 403, 422, 401]
    for answer in answers:
        assert answer.headers["x-ratelimit-limit"] == "30"
        assert int(answer.headers["x-ratelimit-remaining"]) < 30


@LIMITS.row("On 429")
def one_refusal_that_says_how_long(sandbox: SandboxClient) -> None:
    answers = [sandbox.get("/v2/me") for _ in range(31)]
    assert [it.status_code for it in answers].count(429) == 1
    refused = answers[-1]
    assert refused.headers["x-ratelimit-remaining"] == "0"
    wait = int(refused.headers["retry-after"])
    assert 0 < wait <= 60
    assert abs(int(refused.headers["x-ratelimit-reset"]) - (sandbox.world.now + wait)) <= 1
    sandbox.world.clock.advance(wait)
    assert sandbox.get("/v2/me").status_code == 200


@LIMITS.row("Scraping pool")
def a_capacity_that_all_share(sandbox: SandboxClient) -> None:
    sandbox.set(scraping_pool=2)
    number = sandbox.draft(type="url-based")
    path = f"/v2/faceless/{number}"
    assert sandbox.post(f"{path}/scrape-images", PAGE).status_code == 200
    assert sandbox.post(f"{path}/scrape-script", {**PAGE, "duration": 30}).status_code == 200
    refused = sandbox.post(f"{path}/scrape-images", PAGE)
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
    assert int(refused.headers["x-ratelimit-remaining"]) > 0  # not the token's allowance
    assert sandbox.get("/v2/me").status_code == 200
    other = sandbox.post("/_sandbox/accounts", {}).json()
    sandbox.token = other["token"]
    theirs = sandbox.draft(type="url-based")
    assert sandbox.post(f"/v2/faceless/{theirs}/scrape-images", PAGE).status_code == 429


@LIMITS.row("Ledger page size")
def twelve_a_page_and_at_most_fifty(sandbox: SandboxClient) -> None:
    account = sandbox.get("/_sandbox/accounts").json()[0]["account_id"]
    for _ in range(60):
        sandbox.post(f"/_sandbox/accounts/{account}/spend", {"credits": 1})
    sizes = [
        len(staging.response_data(sandbox.get(f"/v2/credits/history{query}")))
        for query in ("", "?per_page=1", "?per_page=50")
    ]
    assert sizes == [12, 1, 50]
    for query in ("per_page=51", "per_page=0", "page=0", "order=up"):
        assert sandbox.get(f"/v2/credits/history?{query}").status_code == 422


@LIMITS.row("Render duration")
def at_least_one_second(sandbox: SandboxClient) -> None:
    number = sandbox.draft(**{**READY_SETTINGS, "script": "Hi."})
    assert staging.response_data(sandbox.get(f"/v2/faceless/{number}/estimate"))["duration"] == 1


@LIMITS.row("Text-to-video prompt")
def five_to_fifteen_hundred_words(sandbox: SandboxClient) -> None:
    statuses = {
        words: sandbox.post("/v2/text-to-video", {"model": "brook", "prompt": "sea " * words})
        for words in (4, 5, 1500, 1501)
    }
    assert [it.status_code for it in statuses.values()] == [422, 202, 202, 422]
    assert list(statuses[4].json()["errors"]) == ["prompt"]


@LIMITS.row("Voice clone samples")
def one_to_three(sandbox: SandboxClient) -> None:
    sandbox.set(clone_slots=9)
    statuses = [
        sandbox.call("POST", "/v2/voice-clones", **staging.clone_form(samples=count)).status_code
        for count in range(5)
    ]
    assert statuses[0] == statuses[4] == 422
    assert all(status < 300 for status in statuses[1:4])


@LIMITS.row("Idea discovery")
def a_search_that_waits_and_costs_15(sandbox: SandboxClient) -> None:
    wanted = {"keyword": "sourdough", "network": "youtube"}
    answer = sandbox.post("/v2/ideas/discover", wanted)
    assert cost(answer) == 15 and staging.response_data(answer)
    assert sandbox.put("/_sandbox/settings", {"discovery_seconds": 120}).status_code == 200


@LIMITS.row("Character preview")
def five_previews_a_minute(sandbox: SandboxClient) -> None:
    places = staging.previewing(sandbox)
    path = f"/v2/characters/{places['id']}/preview"
    statuses = [sandbox.post(path, places["sent"]["json"]).status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]
    sandbox.world.clock.advance(60)
    assert sandbox.post(path, places["sent"]["json"]).status_code == 200
    assert sandbox.put("/_sandbox/settings", {"preview_seconds": 90}).status_code == 200


@LIMITS.row("Character training")
def ten_credits(sandbox: SandboxClient) -> None:
    places = staging.previewed(sandbox)
    answer = sandbox.post(f"/v2/characters/{places['id']}/train", places["sent"]["json"])
    assert cost(answer) == 10 and sandbox.money()["balance"] == 990


@LIMITS.row("Recommended poll cadence")
def a_poll_every_five_seconds_is_let_in(sandbox: SandboxClient) -> None:
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    seen = []
    for _ in range(24):
        sandbox.world.clock.advance(5)
        answer = sandbox.get(f"/v2/faceless/{number}")
        assert answer.status_code == 200
        seen.append(answer.json()["data"]["video"]["status"])
    assert seen[-1] == "completed"
