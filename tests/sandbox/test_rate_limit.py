"""Thirty requests a minute per token, and the headers that say so."""

from __future__ import annotations


def test_the_31st_request_gets_one_429_that_says_how_long_to_wait(sandbox):
    left = [int(sandbox.get("/v2/me").headers["x-ratelimit-remaining"]) for _ in range(30)]
    assert left == list(range(29, -1, -1))
    sandbox.world.clock.advance(20.5)
    refused = sandbox.get("/v2/me")
    assert refused.status_code == 429
    assert refused.headers["x-ratelimit-limit"] == "30"
    assert refused.headers["x-ratelimit-remaining"] == "0"
    assert refused.headers["retry-after"] == "40"
    reset = int(refused.headers["x-ratelimit-reset"])
    assert 0 < reset - sandbox.world.now <= 41
    sandbox.world.clock.advance(int(refused.headers["retry-after"]))
    allowed = sandbox.get("/v2/me")
    assert (allowed.status_code, allowed.headers["x-ratelimit-remaining"]) == (200, "29")
    assert "retry-after" not in allowed.headers


def test_every_answer_counts_and_carries_the_headers(sandbox):
    number = sandbox.draft()
    answers = [
        sandbox.get("/v2/nowhere"),
        sandbox.call("DELETE", "/v2/me"),
        sandbox.patch(f"/v2/faceless/{number}", {"voice_id": "x"}),
        sandbox.post(f"/v2/faceless/{number}/render"),
    ]
    assert [it.status_code for it in answers] == [404, 405, 422, 403]
    left = [it.headers["x-ratelimit-remaining"] for it in answers]
    assert left == ["28", "27", "26", "25"]


def test_each_token_of_one_account_has_its_own_limit(sandbox):
    mira, *_ = sandbox.reset("team_of_three")
    for _ in range(31):
        last = sandbox.get("/v2/me")
    assert last.status_code == 429
    sandbox.token = mira["tokens"][1]
    assert sandbox.get("/v2/me").headers["x-ratelimit-remaining"] == "29"


def test_a_sliding_window_lets_in_again_as_each_request_grows_old(sandbox):
    sandbox.set(rate_window="sliding", rate_limit=3)
    for _ in range(3):
        assert sandbox.get("/v2/me").status_code == 200
        sandbox.world.clock.advance(10)
    refused = sandbox.get("/v2/me")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
    sandbox.world.clock.advance(30)
    assert sandbox.get("/v2/me").status_code == 200
    assert sandbox.get("/v2/me").status_code == 429


def test_refused_requests_count_only_where_the_setting_says_so(sandbox):
    sandbox.set(rate_window="sliding", rate_limit=1, rejected_count=True)
    assert sandbox.get("/v2/me").status_code == 200
    sandbox.world.clock.advance(40)
    assert sandbox.get("/v2/me").status_code == 429
    sandbox.world.clock.advance(40)
    assert sandbox.get("/v2/me").status_code == 429


def test_a_client_that_waits_for_retry_after_is_accepted_although_the_refusal_counts(sandbox):
    sandbox.set(rate_window="sliding", rate_limit=2, rejected_count=True)
    for _ in range(2):
        assert sandbox.get("/v2/me").status_code == 200
        sandbox.world.clock.advance(10)
    refused = sandbox.get("/v2/me")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "50")
    sandbox.world.clock.advance(50)
    assert sandbox.get("/v2/me").status_code == 200


def test_the_control_plane_is_neither_limited_nor_journaled(sandbox):
    for _ in range(40):
        assert sandbox.get("/_sandbox/clock").status_code == 200
    assert sandbox.journal() == []
