"""Four processes share one token through the real bucket, and a fifth asks for all of them."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxyapi import rate_limiter
from proxyapi.rate_limiter import Priority
from tests.proxyapi.test_rate_limiter import TOKEN, advance_redis

PROCESSES = 4
GREEDY = """
import sys
import redis
from proxyapi import rate_limiter
from proxyapi.rate_limiter import Priority
store, priority = redis.Redis.from_url(sys.argv[1]), Priority[sys.argv[2]]
asked = [rate_limiter.try_acquire(store, "luca", priority) for _ in range(200)]
print(sum(permit.is_granted for permit in asked))
"""


def taken_by_all(url: str, lane: Priority) -> int:
    """What four processes get, each asking two hundred times as fast as it can."""

    def one(_: int) -> int:
        command = [sys.executable, "-c", GREEDY, url, lane.name]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return int(done.stdout)

    with ThreadPoolExecutor(PROCESSES) as pool:
        return sum(pool.map(one, range(PROCESSES)))


@pytest.mark.slow
def test_four_processes_get_thirty_between_them_minute_after_minute(store, valkey_url):
    """pitfall_20; slow because it starts eight interpreters."""
    rate_limiter.apply_rate_limit_headers(store, TOKEN, 30, 30)
    assert taken_by_all(valkey_url, Priority.PERSON) == 30
    advance_redis(store, 59)
    assert not rate_limiter.try_acquire(store, TOKEN, Priority.PERSON).is_granted
    advance_redis(store, 3)
    assert taken_by_all(valkey_url, Priority.PERSON) == 30


@pytest.mark.slow
def test_four_polling_processes_leave_people_their_share(store, valkey_url):
    """Slow because it starts four interpreters."""
    rate_limiter.apply_rate_limit_headers(store, TOKEN, 30, 30)
    started = time.monotonic()
    watched = taken_by_all(valkey_url, Priority.POLLING)
    turns = (time.monotonic() - started) / (61 / 26.1)
    assert 2 <= watched <= 3 + turns, "a burst of two, and one a turn"
    assert rate_limiter.try_acquire(store, TOKEN, Priority.PERSON).is_granted
