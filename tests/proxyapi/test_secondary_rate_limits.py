"""Limits beside the token's: the scraping pool and previews stop themselves and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from proxyapi import calls, rate_limiter, redis_client
from proxyapi.models import Token
from proxyapi.operations import RatePool
from proxyapi.rate_limiter import Priority, RatePoolExhausted
from proxyapi.upstream import errors
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response, rate_limited_response

SCRAPE, PREVIEW = "faceless.scrape_images", "characters.preview"


@pytest.fixture
def token(db: None) -> Token:
    token = TokenFactory.create()
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), token.bucket, 30, 30)
    return token


def scrape(token: Token) -> Any:
    return calls.call_upstream(token, SCRAPE, Priority.PERSON, path={"faceless": "7"})


def test_pitfall_27_a_429_of_the_scraping_pool_stops_scraping_alone(
    token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/faceless/7/scrape-images", rate_limited_response(left=12))
    upstream.respond("GET", "/faceless/7", make_response({"id": 7}))
    with pytest.raises(errors.RateLimited):
        scrape(token)
    elsewhere = AccountFactory.create(upstream_id=token.account.upstream_id)  # of another team
    accounts = (token.account, elsewhere)
    for again in (token, *(TokenFactory.create(account=account) for account in accounts)):
        with pytest.raises(RatePoolExhausted) as caught:
            scrape(again)
    assert 39 < caught.value.wait <= 40
    assert caught.value.user_message.startswith("Nothing was sent.")
    assert calls.call_upstream(token, "faceless.get", Priority.PERSON, path={"id": "7"}).data == {
        "id": 7
    }
    assert len(upstream.requests) == 2


def test_pitfall_27_with_the_last_request_the_token_waits_a_minute_and_scraping_for_retry_after(
    token: Token, upstream: ScriptedUpstream
) -> None:
    """It may be the token's window or the pool; five minutes are not the token's."""
    upstream.respond(
        "POST", "/faceless/7/scrape-images", rate_limited_response(left=0, seconds=300)
    )
    with pytest.raises(errors.RateLimited):
        scrape(token)
    store = redis_client.connect_redis()
    assert 59 < rate_limiter.bucket_pause_s(store, token.bucket) <= 60
    assert (
        299
        < rate_limiter.bucket_pause_s(store, RatePool.SCRAPING.bucket_name(token.account.bucket))
        <= 300
    )


@pytest.mark.parametrize(("told", "least"), [(0, 0.5), (2, 1.5)])
def test_pitfall_26_a_429_that_ends_at_once_pauses_no_minute(
    told: int, least: float, token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond(
        "POST", "/faceless/7/scrape-images", rate_limited_response(left=9, seconds=told)
    )
    upstream.respond("GET", "/faceless/7", rate_limited_response(left=0, seconds=told))
    with pytest.raises(errors.RateLimited):
        scrape(token)
    with pytest.raises(errors.RateLimited):
        calls.call_upstream(token, "faceless.get", Priority.PERSON, path={"id": "7"})
    store = redis_client.connect_redis()
    for name in (token.bucket, RatePool.SCRAPING.bucket_name(token.account.bucket)):
        assert least < rate_limiter.bucket_pause_s(store, name) <= max(1, told)


def test_another_account_scrapes_on(token: Token, upstream: ScriptedUpstream) -> None:
    upstream.respond(
        "POST", "/faceless/7/scrape-images", rate_limited_response(left=12), make_response({})
    )
    with pytest.raises(errors.RateLimited):
        scrape(token)
    other = TokenFactory.create()
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), other.bucket, 30, 30)
    assert scrape(other).status == 200


def test_a_429_of_the_token_stops_that_token_alone(
    token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", rate_limited_response(left=0), make_response({"id": 7}))
    with pytest.raises(errors.RateLimited):
        calls.call_upstream(token, "faceless.get", Priority.PERSON, path={"id": "7"})
    for name in ("faceless.get", "me.get"):
        with pytest.raises(rate_limiter.RateLimitExhausted):
            calls.call_upstream(token, name, Priority.PERSON, path={"id": "7"})
    other = TokenFactory.create(account=token.account)
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), other.bucket, 30, 30)
    assert (
        calls.call_upstream(other, "faceless.get", Priority.PERSON, path={"id": "7"}).status == 200
    )


def test_pitfall_28_five_previews_a_minute_of_an_account(token: Token) -> None:
    """Whichever token asks; the sixth is not sent."""
    other = TokenFactory.create(account=token.account)
    old = redis_client.connect_redis()
    old.set("rate-limit:epoch", 1)  # a Redis that remembers the last minute
    for _ in range(5):
        calls.acquire_permit(token, Priority.PERSON, 0, PREVIEW)
    with pytest.raises(RatePoolExhausted) as caught:
        calls.acquire_permit(other, Priority.PERSON, 0, PREVIEW)
    assert 55 < caught.value.wait <= 61
    calls.acquire_permit(other, Priority.PERSON, 0, "me.get")


def test_pitfall_28_a_preview_that_waits_for_its_token_uses_up_no_preview(token: Token) -> None:
    store = redis_client.connect_redis()
    store.set("rate-limit:epoch", 1)
    rate_limiter.pause_bucket(store, token.bucket, 60)
    for _ in range(5):
        with pytest.raises(rate_limiter.RateLimitExhausted) as caught:
            calls.acquire_permit(token, Priority.PERSON, 0, PREVIEW)
        assert not isinstance(caught.value, RatePoolExhausted)
    other = TokenFactory.create(account=token.account)
    for _ in range(5):
        calls.acquire_permit(other, Priority.PERSON, 0, PREVIEW)


def test_a_preview_beyond_the_five_uses_up_no_request(token: Token) -> None:
    store = redis_client.connect_redis()
    store.set("rate-limit:epoch", 1)
    for _ in range(5):
        calls.acquire_permit(token, Priority.PERSON, 0, PREVIEW)
    before = rate_limiter.peek_bucket(store, token.bucket).remaining
    with pytest.raises(RatePoolExhausted):
        calls.acquire_permit(token, Priority.PERSON, 0, PREVIEW)
    assert rate_limiter.peek_bucket(store, token.bucket).remaining == before


def test_without_redis_a_pool_grants_nothing(token: Token, settings: Any, tmp_path: Any) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    for name in (SCRAPE, PREVIEW):
        with pytest.raises(rate_limiter.RateLimiterUnavailable):
            calls.acquire_permit(token, Priority.PERSON, 0, name)
