"""Bad minutes in simulated time, small; the full ones are in tests/drills/test_watching.py."""

from __future__ import annotations

import pytest

from proxyapi import rate_limiter
from proxyapi.models import Job
from tests.proxyapi.watching.room import Room, without_redis

pytestmark = pytest.mark.django_db


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Room:
    return Room(monkeypatch)


def test_c1_a_flush_loses_no_job_and_sends_nothing_too_much(room: Room):
    """What was spent before counts as spent just now, so a minute passes until all go on."""
    room.open(tokens=2, jobs=5)
    room.run(65)
    rate_limiter.redis_connection().flushall()
    assert room.not_taken(round(61 + 60 * 5 / 22)) == 0
    assert room.seconds_until_all_are_seen(60) <= 2 * 60 * 5 / 22
    room.run(30)
    assert room.refusals == 0
    assert room.most_in_a_minute() <= 30
    assert room.ended() == 0


def test_b5_an_outage_fails_no_job_and_ends_without_a_stampede(room: Room):
    room.open(tokens=4, jobs=5)
    room.run(60)
    room.down = True
    before = sum(map(len, room.asked.values()))
    room.run(120)
    assert sum(map(len, room.asked.values())) - before < 60, "one asks for all"
    assert Job.objects.filter(look_error="").count() == 0
    room.down = False
    assert room.seconds_until_all_are_seen(60) <= 2 * 60 * 5 / 22
    assert room.refusals == 0
    assert room.most_in_a_minute() <= 30
    assert room.ended() == 0
    assert Job.objects.exclude(look_error="").count() == 0


def test_c2_while_redis_is_away_nothing_is_sent_and_nothing_lost(
    room: Room, monkeypatch: pytest.MonkeyPatch, tmp_path
):
    room.open(tokens=2, jobs=5)
    room.run(30)
    before = sum(map(len, room.asked.values()))
    with without_redis(monkeypatch, f"unix://{tmp_path}/nobody.sock"):
        room.run(20)
    assert sum(map(len, room.asked.values())) == before
    assert room.seconds_until_all_are_seen(60) < 60
    assert room.ended() == 0


def test_nobody_starves_on_a_crowded_token(room: Room):
    """pitfall_19: each of forty is seen within three rounds of what the token may ask."""
    room.open(tokens=1, jobs=40)
    room.run(330)
    assert room.unseen_since(room.seconds - 3 * 60 * 40 / 22) == 0
    assert room.refusals == 0
