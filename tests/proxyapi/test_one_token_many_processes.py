"""Four processes share one token through the real bucket, and a fifth asks for all of them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxyapi import rate_limiter
from proxyapi.rate_limiter import Priority
from tests.proxyapi.test_rate_limiter import TOKEN

PROCESSES = 4
GREEDY = """
import sys
import redis
from proxyapi import rate_limiter
from proxyapi.rate_limiter import Priority
store, at = redis.Redis.from_url(sys.argv[1]), int(sys.argv[2])
for name in sys.argv[3:]:
    asked = [rate_limiter.try_acquire(store, "luca", Priority[name], at=at) for _ in range(100)]
    print(sum(permit.is_granted for permit in asked))
"""


def taken_by_all(url: str, at: int, *lanes: Priority) -> list[int]:
    """What four processes get of each lane, each asking a hundred times at that millisecond."""

    def ask(_: int) -> list[int]:
        command = [sys.executable, "-c", GREEDY, url, str(at), *(lane.name for lane in lanes)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [int(line) for line in done.stdout.split()]

    with ThreadPoolExecutor(PROCESSES) as pool:
        return [sum(lane) for lane in zip(*pool.map(ask, range(PROCESSES)), strict=True)]


@pytest.mark.slow
def test_four_processes_get_thirty_between_them_minute_after_minute(store, valkey_url):
    """pitfall_20; slow because it starts eight interpreters. Polling leaves people their share."""
    rate_limiter.apply_rate_limit_headers(store, TOKEN, 30, 30)
    seconds, microseconds = store.time()
    now = seconds * 1000 + microseconds // 1000
    polling, people = taken_by_all(valkey_url, now, Priority.POLLING, Priority.PERSON)
    assert (polling, people) == (2, 28)
    assert not rate_limiter.try_acquire(store, TOKEN, Priority.PERSON, at=now + 59_000).is_granted
    assert taken_by_all(valkey_url, now + 62_000, Priority.PERSON) == [30]
