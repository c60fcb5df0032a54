"""Watching through bad minutes: a flushed Redis, a Redis that is away, a service that is away, and
four greedy processes. All but the last in simulated time: real rows, ticks, looks and buckets, a
clock that jumps a second a tick (tests/proxyapi/polling/polling_simulation.py)."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from proxyapi import rate_limiter, redis_client
from proxyapi.models import Job
from proxyapi.polling import due_work
from tests.drills.figures import Figures
from tests.proxyapi.polling.polling_simulation import PollingSimulation, without_redis

pytestmark = pytest.mark.django_db
TOKENS, EACH = 20, 5
INTERVAL = 60 * EACH / 22  # seconds between two looks at one job when its token has so many
AFTER_FLUSH = round(61 + INTERVAL)  # seconds
SIMULATED = "(simulated time)"
REAL_SECONDS = 130
GREEDY = """
import sys, time
import redis
from proxyapi import rate_limiter
from proxyapi.rate_limiter import Priority
store = redis.Redis.from_url(sys.argv[1])
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    for priority in (Priority.PERSON, Priority.POLLING, Priority.LEDGER_SYNC):
        if rate_limiter.try_acquire(store, "drill", priority).is_granted:
            print(time.time(), flush=True)
    time.sleep(0.02)
"""


@pytest.fixture
def simulation(monkeypatch):
    made = PollingSimulation(monkeypatch)
    made.add_tokens(tokens=TOKENS, jobs=EACH)
    made.run(90)
    return made


def report_polling(figures: Figures, room: PollingSimulation) -> None:
    """What holds through all of it."""
    figures.report(
        f"{room.wrongly_ended_jobs()} of 100 jobs said to have ended",
        "0",
        holds=not room.wrongly_ended_jobs(),
    )
    figures.report(f"{room.refusals} own 429s", "0", holds=room.refusals == 0)
    most = room.max_requests_in_minute()
    figures.report(f"{most} requests of a token in any 60 s at most", "30", holds=most <= 30)
    figures.close()


def test_flushall_with_a_hundred_active_jobs(simulation):
    figures = Figures("watching, FLUSHALL")
    redis_client.connect_redis().flushall()
    lost = simulation.count_untaken(AFTER_FLUSH)
    said = f"{lost} of 100 jobs that no tick of {AFTER_FLUSH} s took {SIMULATED}"
    figures.report(said, "0: a minute counts as spent, then a round", holds=lost == 0)
    seconds = simulation.seconds_until_all_polled(180)
    wanted = f"2 poll intervals, {2 * INTERVAL:.0f} s"
    figures.report(f"all seen anew {seconds} s later", wanted, holds=seconds <= 2 * INTERVAL)
    report_polling(figures, simulation)


def test_redis_away_for_five_minutes(simulation, monkeypatch, tmp_path):
    """Without Redis no request can be counted, so none is sent."""
    figures = Figures("watching, Redis away for 5 min")
    before = sum(map(len, simulation.asked.values()))
    with without_redis(monkeypatch, f"unix://{tmp_path}/nobody.sock"):
        simulation.run(300)
    sent = sum(map(len, simulation.asked.values())) - before
    figures.report(f"{sent} requests without the count {SIMULATED}", "0", holds=sent == 0)
    seconds = simulation.seconds_until_all_polled(180)
    wanted = f"{2 * INTERVAL:.0f} s"
    figures.report(f"all seen {seconds} s later", wanted, holds=seconds <= 2 * INTERVAL)
    report_polling(figures, simulation)


def test_service_away_for_half_an_hour(simulation):
    figures = Figures("watching, service away for 30 min, 100 jobs on 20 tokens")
    before, simulation.down = sum(map(len, simulation.asked.values())), True
    simulation.run(1800)
    sent = sum(map(len, simulation.asked.values())) - before
    figures.report(f"{sent} requests meanwhile {SIMULATED}", "400: one each 5 s", holds=sent <= 400)
    unaware = Job.objects.filter(poll_failing_since=None).count()
    figures.report(f"{unaware} of 100 pages do not say so", "0", holds=unaware == 0)
    back, simulation.down = simulation.seconds, False
    seconds = simulation.seconds_until_all_polled(180)
    wanted = f"2 poll intervals, {2 * INTERVAL:.0f} s"
    figures.report(f"all seen {seconds} s after it is back", wanted, holds=seconds <= 2 * INTERVAL)
    first = sum(back <= at < back + 10 for times in simulation.asked.values() for at in times)
    figures.report(
        f"{first} requests in the first 10 s of it", "100: 5 a token", holds=first <= 100
    )
    report_polling(figures, simulation)


def test_ten_thousand_rows(simulation):
    """A tick costs what is due: rows, milliseconds and queries, measured on this database."""
    figures = Figures("watching, ten thousand rows")
    for token in simulation.tokens:
        simulation.add_jobs(token, 500)
    for name, seconds, within, most in (("not due", -60, 50, 1), ("due", 60, 1000, 5)):
        # The best of three: other drills run beside this one.
        took, queries, taken = min(run_one_tick(simulation, seconds) for _ in range(3))
        said = f"{name}: {took:.0f} ms, {queries} queries, {taken} taken"
        holds = queries == most and took <= within
        figures.report(said, f"{within} ms, {most} queries", holds=holds)
    figures.close()


def run_one_tick(room: PollingSimulation, seconds: int) -> tuple[float, int, int]:
    """A tick when every row has been due for so long: its milliseconds, queries and polls."""
    room.now += timedelta(seconds=30)  # so that each token has a look to give
    Job.objects.update(next_poll_at=room.now - timedelta(seconds=seconds))
    started = time.perf_counter()
    with CaptureQueriesContext(connection) as queries:
        taken = due_work.lease_due_jobs()
    return 1000 * (time.perf_counter() - started), len(queries), len(taken)


def test_four_greedy_processes_in_real_time():
    figures = Figures(f"watching, four processes on one token for {REAL_SECONDS} s of real time")
    command = [sys.executable, "-c", GREEDY, settings.REDIS_URL, str(REAL_SECONDS)]
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), "drill", 30, 30)
    crowd = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    times = sorted(float(at) for one in crowd for at in one.communicate()[0].split())
    most = max(sum(start <= at < start + 60 for at in times) for start in times)
    figures.report(f"{most} granted in any 60 s at most", "30", holds=most <= 30)
    figures.report(f"{len(times)} granted in all", "60 or more", holds=len(times) >= 60)
    figures.close()
