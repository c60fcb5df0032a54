"""Bad minutes in simulated time, small; the full ones are in tests/drills/test_polling.py."""

from __future__ import annotations

import pytest

from proxyapi import redis_client
from proxyapi.models import Job
from tests.proxyapi.polling.polling_simulation import PollingSimulation, without_redis

pytestmark = pytest.mark.django_db


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> PollingSimulation:
    return PollingSimulation(monkeypatch)


def test_a_flush_loses_no_job_and_sends_nothing_too_much(simulation: PollingSimulation):
    """What was spent before counts as spent just now, so a minute passes until all go on."""
    simulation.add_tokens(tokens=2, jobs=5)
    simulation.run(65)
    redis_client.connect_redis().flushall()
    assert simulation.count_untaken(round(61 + 60 * 5 / 22)) == 0
    assert simulation.seconds_until_all_polled(60) <= 2 * 60 * 5 / 22
    simulation.run(30)
    assert simulation.refusals == 0
    assert simulation.max_requests_in_minute() <= 30
    assert simulation.wrongly_ended_jobs() == 0


def test_an_outage_fails_no_job_and_ends_without_a_stampede(simulation: PollingSimulation):
    simulation.add_tokens(tokens=4, jobs=5)
    simulation.run(60)
    simulation.down = True
    before = sum(map(len, simulation.asked.values()))
    simulation.run(120)
    assert sum(map(len, simulation.asked.values())) - before < 60, "one asks for all"
    assert Job.objects.filter(poll_error="").count() == 0
    simulation.down = False
    assert simulation.seconds_until_all_polled(60) <= 2 * 60 * 5 / 22
    assert simulation.refusals == 0
    assert simulation.max_requests_in_minute() <= 30
    assert simulation.wrongly_ended_jobs() == 0
    assert Job.objects.exclude(poll_error="").count() == 0


def test_while_redis_is_away_nothing_is_sent_and_nothing_lost(
    simulation: PollingSimulation, monkeypatch: pytest.MonkeyPatch, tmp_path
):
    simulation.add_tokens(tokens=2, jobs=5)
    simulation.run(30)
    before = sum(map(len, simulation.asked.values()))
    with without_redis(monkeypatch, f"unix://{tmp_path}/nobody.sock"):
        simulation.run(20)
    assert sum(map(len, simulation.asked.values())) == before
    assert simulation.seconds_until_all_polled(60) < 60
    assert simulation.wrongly_ended_jobs() == 0


def test_nobody_starves_on_a_crowded_token(simulation: PollingSimulation):
    """pitfall_19: each of twenty-four is seen within three rounds of what the token may ask."""
    simulation.add_tokens(tokens=1, jobs=24)
    simulation.run(200)
    assert simulation.unpolled_since(simulation.seconds - 3 * 60 * 24 / 22) == 0
    assert simulation.refusals == 0
