"""The bucket of a token: never more than allowed, people first, and safe after a flush.

Time is simulated: whatever names no time of its own happens at `clock.now_ms`.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import redis

from proxyapi import rate_limiter, redis_client
from proxyapi.operations import RatePool
from proxyapi.rate_limiter import (
    BucketLevel,
    Permit,
    Priority,
    RateLimiterUnavailable,
    RateLimitExhausted,
)

TOKEN = "luca"
LOG = f"rate-limit:{TOKEN}:log"
BUCKET = f"rate-limit:{TOKEN}"
run_script = rate_limiter._run_script


class SimulatedClock:
    """Milliseconds since 1970; they pass in `advance` alone."""

    now_ms = 10**13

    def advance(self, seconds: float) -> None:
        self.now_ms += round(seconds * 1000)


clock = SimulatedClock()


@pytest.fixture(autouse=True)
def simulated_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_now(*args: Any, at: int | None = None, **options: Any) -> list[int]:
        return run_script(*args, **options, at=clock.now_ms if at is None else at)

    monkeypatch.setattr(rate_limiter, "_run_script", run_now)


@pytest.fixture
def old_store(store):
    """A Redis that has remembered for longer than a window."""
    rate_limiter.peek_bucket(store, TOKEN)
    clock.advance(62)
    return store


def take_permit(store: redis.Redis, lane: Priority = Priority.PERSON, *, cost: int = 1) -> Permit:
    return rate_limiter.try_acquire(store, TOKEN, lane, cost=cost)


def count_granted(store: redis.Redis, lane: Priority, attempts: int = 40) -> int:
    return sum(take_permit(store, lane).is_granted for _ in range(attempts))


def test_thirty_requests_are_granted_and_the_next_waits_for_the_oldest(old_store):
    assert count_granted(old_store, Priority.PERSON) == 30
    clock.advance(41)
    refused = take_permit(old_store)
    assert not refused.is_granted
    assert 19 < refused.wait_s <= 20
    clock.advance(20)
    assert take_permit(old_store).is_granted


def test_a_first_request_goes_at_once_even_on_a_new_redis(store):
    assert take_permit(store).is_granted


def test_a_token_that_an_old_redis_never_saw_has_its_full_limit(old_store):
    assert rate_limiter.peek_bucket(old_store, TOKEN) == BucketLevel(30, 30, 0.0)


@pytest.mark.parametrize(
    ("lane", "at_once"),
    [
        (Priority.PERSON, 30),
        (Priority.GATEWAY, 12),
        (Priority.SETTLEMENT, 10),
        (Priority.POLLING, 2),
    ],
)
def test_each_priority_leaves_a_reserve_to_those_above(old_store, lane, at_once):
    assert rate_limiter.available(old_store, TOKEN, lane) == at_once
    assert count_granted(old_store, lane) == at_once
    assert rate_limiter.available(old_store, TOKEN, lane) == 0


@pytest.mark.parametrize(
    ("lane", "burst", "most"),
    [(Priority.POLLING, 2, 27), (Priority.BATCH, 3, 25), (Priority.LEDGER_SYNC, 3, 12)],
)
def test_the_low_priorities_are_spread_over_the_minute(old_store, lane, burst, most):
    bursts = []
    for _ in range(60):
        bursts.append(count_granted(old_store, lane, attempts=4))
        clock.advance(1)
    assert max(bursts) <= burst
    assert most - 2 <= sum(bursts) <= most + 1  # the first of a burst is on credit


def test_watching_gets_what_people_leave_unused(store):
    """A quiet minute is watching's but for two requests; a busy one keeps more for people."""
    assert polls_per_minute(store, clicks=0) >= 25
    assert 20 <= polls_per_minute(store, clicks=4) <= 24
    assert polls_per_minute(store, clicks=15) <= 12


def polls_per_minute(store, *, clicks):
    """Looks in a minute when the minutes before were like this one."""
    looks, name = 0, f"steady-{clicks}"
    for second in range(300):
        at = 10**13 + 1000 * second
        rate_limiter.apply_rate_limit_headers(store, name, 30, 30, at=at)
        if clicks and second % (60 // clicks) == 0:
            grant = rate_limiter.try_acquire(store, name, Priority.PERSON, at=at)
            assert grant.is_granted or second < 180, "people wait for nobody"
        for _ in range(2):
            grant = rate_limiter.try_acquire(store, name, Priority.POLLING, at=at)
            looks += grant.is_granted and second >= 240
    return looks


@pytest.mark.parametrize("every", [1000, 250, 50])
def test_the_last_of_three_clicks_hardly_waits_however_often_polling_asks(store, every):
    """Four processes that tick in turn leave no request idle, as one that ticks each second
    does. Every 47 s or so somebody sends three, 0.45 s apart, each as soon as it is granted."""
    rate_limiter.apply_rate_limit_headers(store, TOKEN, 30, 30, at=10**13)
    presses = [act * 46_950 + click for act in range(2, 14) for click in (0, 450, 900)]
    waits: list[int] = []
    for now in range(0, presses[-1] + 5000, 50):
        pressed = presses[0] if presses else now + 1
        if (
            pressed <= now
            and rate_limiter.try_acquire(store, TOKEN, Priority.PERSON, at=10**13 + now).is_granted
        ):
            waits.append(now - presses.pop(0))
        if now % every == 0:
            rate_limiter.try_acquire(store, TOKEN, Priority.POLLING, at=10**13 + now)
    assert not presses
    assert max(waits) <= 700


def test_the_ledger_gets_one_in_half_a_minute_however_much_is_polled(store):
    ledger, at = [], 10**13
    for second in range(600):
        at += 1000
        rate_limiter.apply_rate_limit_headers(store, TOKEN, 30, 30, at=at)
        for lane in (Priority.POLLING, Priority.POLLING, Priority.LEDGER_SYNC):
            granted_now = rate_limiter.try_acquire(store, TOKEN, lane, at=at).is_granted
        ledger += [second] * granted_now
    waits = [later - earlier for earlier, later in pairwise(ledger) if earlier > 60]
    assert max(waits) <= 45
    assert len(ledger) <= 40


@pytest.mark.parametrize(("used", "room"), [(0, 3), (10, 2), (11, 1), (12, 1), (24, 1), (29, 0)])
def test_there_is_room_for_as_many_as_are_granted_though_one_is_lent(old_store, used, room):
    """One that is lent ends the hunger that it was lent for."""
    rate_limiter.apply_rate_limit_headers(old_store, TOKEN, 30, 30 - used)
    assert rate_limiter.available(old_store, TOKEN, Priority.LEDGER_SYNC) == room
    assert count_granted(old_store, Priority.LEDGER_SYNC) == room


def test_a_person_is_served_when_all_lower_priorities_are_exhausted(old_store):
    for _ in range(60):
        for lane in (Priority.GATEWAY, Priority.SETTLEMENT, Priority.POLLING, Priority.LEDGER_SYNC):
            count_granted(old_store, lane, attempts=3)
        clock.advance(1)
    count_granted(old_store, Priority.SETTLEMENT)
    assert take_permit(old_store).is_granted
    assert not take_permit(old_store, Priority.POLLING).is_granted


def test_lanes_are_ordered_people_first():
    assert list(Priority) == sorted(Priority)
    reserves = [rate_limiter._PRIORITY_POLICIES[lane].reserve_percent for lane in Priority]
    assert reserves == sorted(reserves)


def test_a_cost_is_taken_whole_or_not_at_all(old_store):
    assert take_permit(old_store, cost=28).is_granted
    assert not take_permit(old_store, cost=3).is_granted
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == 2
    assert take_permit(old_store, cost=2).is_granted


def test_never_more_than_the_limit_in_any_sixty_seconds(old_store):
    """pitfall_31, over half an hour of random clicks and looks."""
    chance, now, times = random.Random(31), 0.0, []  # noqa: S311 - a repeatable walk, no secret
    for _ in range(900):
        step = chance.choice([0, 0.2, 1, 3, 9])
        clock.advance(step)
        now += step
        lane = chance.choice(list(Priority))
        times += [now] * sum(
            take_permit(old_store, lane).is_granted for _ in range(chance.randint(1, 6))
        )
    most = max(sum(start <= at < start + 60 for at in times) for start in times)
    assert 28 <= most <= 30


def test_eight_callers_at_once_get_thirty_between_them(old_store, valkey_url):
    """pitfall_20: the bucket is one, whoever asks; each caller has its own connection."""

    def caller(_):
        with redis.Redis.from_url(valkey_url) as mine:
            return count_granted(mine, Priority.PERSON, attempts=20)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(caller, range(8))) == 30


def test_tokens_do_not_share_a_bucket(old_store):
    count_granted(old_store, Priority.PERSON)
    assert rate_limiter.try_acquire(old_store, "priya", Priority.PERSON).is_granted


def test_the_limit_is_learned_from_the_headers(old_store):
    """pitfall_22."""
    take_permit(old_store)
    rate_limiter.apply_rate_limit_headers(old_store, TOKEN, 60, 59)
    assert rate_limiter.peek_bucket(old_store, TOKEN).limit == 60
    assert count_granted(old_store, Priority.PERSON, attempts=80) == 59


def test_what_others_used_is_taken_away(old_store):
    """pitfall_23."""
    take_permit(old_store)
    rate_limiter.apply_rate_limit_headers(old_store, TOKEN, 30, 4)
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == 4
    assert count_granted(old_store, Priority.PERSON) == 4


def test_an_answer_never_gives_back_what_is_under_way(old_store):
    count_granted(old_store, Priority.PERSON, attempts=20)
    rate_limiter.apply_rate_limit_headers(old_store, TOKEN, 30, 29)
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == 10


def test_the_same_answer_read_twice_takes_nothing_twice(old_store):
    for _ in range(3):
        rate_limiter.apply_rate_limit_headers(old_store, TOKEN, 30, 12)
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == 12


def test_nothing_is_granted_while_the_token_is_paused(old_store):
    """pitfall_26, for every lane of this token and for no other token."""
    rate_limiter.pause_bucket(old_store, TOKEN, 45)
    rate_limiter.pause_bucket(old_store, TOKEN, 5)
    assert all(44 < take_permit(old_store, lane).wait_s <= 45 for lane in Priority)
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == 0
    assert rate_limiter.try_acquire(old_store, "priya", Priority.PERSON).is_granted
    clock.advance(45)
    assert take_permit(old_store).is_granted


def test_pitfall_27_the_scraping_pool_stops_scraping_alone(old_store):
    name = RatePool.SCRAPING.bucket_name("northlight")
    rate_limiter.pause_bucket(old_store, name, 45)
    assert 44 < rate_limiter.bucket_pause_s(old_store, name) <= 45
    assert rate_limiter.bucket_pause_s(old_store, TOKEN) == 0
    assert take_permit(old_store).is_granted


def test_pitfall_28_previews_have_five_a_minute_of_their_own(old_store):
    name = RatePool.PREVIEWS.bucket_name("northlight")
    attempts = [
        rate_limiter.try_acquire(old_store, name, Priority.PERSON, limit=5).is_granted
        for _ in range(8)
    ]
    assert attempts == [True] * 5 + [False] * 3
    assert take_permit(old_store).is_granted


def test_a_mad_pause_is_an_hour_at_most(old_store):
    rate_limiter.pause_bucket(old_store, TOKEN, 10**12)
    assert 3599 < take_permit(old_store).wait_s <= 3600


def test_after_a_flush_it_feels_its_way_until_an_answer_comes(old_store):
    count_granted(old_store, Priority.PERSON)
    old_store.flushall()
    assert count_granted(old_store, Priority.PERSON) == 1
    assert 0 < take_permit(old_store).wait_s <= 2.04
    rate_limiter.apply_rate_limit_headers(old_store, TOKEN, 30, 0)
    clock.advance(30)
    assert count_granted(old_store, Priority.PERSON) == 0


def test_after_a_flush_an_answer_restores_what_is_left(store):
    take_permit(store)
    rate_limiter.apply_rate_limit_headers(store, TOKEN, 30, 21)
    assert count_granted(store, Priority.PERSON) == 21


def test_without_any_answer_a_new_redis_grants_thirty_in_its_first_minute(store):
    count = 0
    for _ in range(60):
        count += take_permit(store, Priority.LEDGER_SYNC).is_granted
        clock.advance(1.02)
    assert 28 <= count <= 30
    clock.advance(62)
    assert count_granted(store, Priority.PERSON) == 30


def requests_left(store: redis.Redis, grant: Permit, seconds: float) -> None:
    """Its request is out, so many seconds after the grant."""
    rate_limiter.restamp_late_permit(
        store, TOKEN, replace(grant, requested_at_s=grant.requested_at_s - seconds)
    )


@pytest.mark.parametrize(("after", "free"), [(5, 29), (0.3, 30)])
def test_a_request_that_left_late_counts_from_when_it_left(old_store, after, free):
    first = take_permit(old_store)
    clock.advance(5)
    requests_left(old_store, first, after)
    clock.advance(57)
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == free
    clock.advance(5)
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == 30


def test_one_that_left_when_its_grant_was_forgotten_counts_all_the_same(old_store):
    first = take_permit(old_store)
    clock.advance(62)
    requests_left(old_store, first, 62)
    assert rate_limiter.peek_bucket(old_store, TOKEN).remaining == 29


def test_no_more_than_thirty_arrive_in_any_minute_however_late_they_leave(old_store):
    """Half of them at once, the others held up by a lock or by a large file."""
    rng = random.Random(12)  # noqa: S311
    under_way: list[tuple[float, float, Permit]] = []
    came: list[float] = []
    for now in range(400):
        while (grant := take_permit(old_store)).is_granted:
            under_way.append((now + rng.choice([0, 0, 0, 3, 12, 40]), now, grant))
        for due, since, grant in [one for one in under_way if one[0] <= now]:
            requests_left(old_store, grant, now - since)
            under_way.remove((due, since, grant))
            came.append(now)
        clock.advance(1)
    assert len(came) > 120
    assert max(sum(at <= other < at + 60 for other in came) for at in came) <= 30


def test_waiting_ends_with_a_grant(store, monkeypatch):
    monkeypatch.setattr("threading.Event.wait", lambda _, seconds: clock.advance(seconds))
    rate_limiter.apply_rate_limit_headers(store, TOKEN, 30, 30)
    rate_limiter.pause_bucket(store, TOKEN, 1.8)
    rate_limiter.acquire(store, TOKEN, Priority.PERSON, 2)
    assert rate_limiter.peek_bucket(store, TOKEN).remaining == 29


def test_waiting_is_given_up_at_once_when_the_time_cannot_do(old_store):
    count_granted(old_store, Priority.PERSON)
    with pytest.raises(RateLimitExhausted) as caught:
        rate_limiter.acquire(old_store, TOKEN, Priority.PERSON, 2)
    assert 55 < caught.value.wait <= 61
    assert caught.value.user_message.startswith("Nothing was sent.")


def test_nothing_is_granted_when_redis_is_away(tmp_path):
    away = redis.Redis.from_url(f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(RateLimiterUnavailable) as caught:
        rate_limiter.try_acquire(away, TOKEN, Priority.PERSON)
    assert "Nothing was sent" in caught.value.user_message


def test_an_idle_bucket_leaves_redis_by_itself(old_store):
    take_permit(old_store)
    assert 0 < old_store.pttl(LOG) <= 61_000
    assert 0 < old_store.ttl(BUCKET) <= 86_400


def test_the_connection_is_the_one_of_the_settings(settings, valkey_url):
    settings.REDIS_URL = valkey_url
    assert redis_client.connect_redis().ping()
    assert redis_client.connect_redis() is redis_client.connect_redis()
