"""The beat goes on where its lock or its schedule was lost, and where Redis was away."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
import redis
from celery import Celery, signals
from celery.beat import Service
from django.conf import settings
from redbeat.schedulers import RedBeatSchedulerEntry, ensure_conf, get_redis

from dashboard.celery import app as site_app
from dashboard.celery_beat import REDIS_RETRY_S, ResilientScheduler


@pytest.fixture
def beat():
    """A beat that started, with one task that is due in an hour."""
    app, prefix = Celery("beat", set_as_current=False), f"test:{uuid.uuid4()}:"
    app.conf.update(
        broker_url=settings.CELERY_BROKER_URL,
        broker_transport_options={"global_keyprefix": prefix},
        beat_schedule={"hourly": {"task": "hourly", "schedule": 3600.0}},
        beat_max_loop_interval=0.1,
        redbeat_redis_url=settings.REDIS_URL,
        redbeat_key_prefix=prefix,
        redbeat_redis_options={"socket_connect_timeout": 5},
        redbeat_lock_timeout=25,
    )
    service = Service(app, scheduler_cls=ResilientScheduler)
    signals.beat_init.send(sender=service)
    yield service.scheduler
    forget(app)


def forget(app):
    store = get_redis(app)
    store.delete(*store.keys(f"{ensure_conf(app).key_prefix}*"))


def test_a_laptop_that_slept_longer_than_the_lock_goes_on(beat):
    get_redis(beat.app).delete(beat.lock_key)
    beat.tick()
    assert beat.lock.owned()
    assert beat.tick() >= 0


def test_a_beat_that_slept_while_another_took_over_waits_in_line(beat):
    get_redis(beat.app).set(beat.lock_key, "another beat's", px=300)
    beat.tick()
    assert beat.lock.owned()


def test_after_a_flush_the_schedule_is_written_down_again(beat):
    planned = planned_by(beat)
    forget(beat.app)
    beat.tick()
    assert planned_by(beat) == planned
    assert len(planned) == 2, "ours, and one of the library"


@pytest.mark.parametrize("flushed", [False, True])
def test_a_redis_that_is_away_does_not_end_it(flushed, beat, monkeypatch, caplog):
    """The lock may still be its own when Redis is back, or nothing at all is left."""
    planned, pool = planned_by(beat), get_redis(beat.app).connection_pool
    with monkeypatch.context() as away:
        away.setitem(pool.connection_kwargs, "path", "/nowhere/valkey.sock")
        pool.reset()
        assert [beat.tick(), beat.tick()] == [REDIS_RETRY_S, REDIS_RETRY_S]
    pool.reset()
    assert caplog.messages == ["Redis does not respond; beat keeps retrying"]
    if flushed:
        forget(beat.app)
    assert beat.tick() >= 0
    assert planned_by(beat) == planned
    assert beat.lock.owned()


def test_a_redis_that_goes_as_the_schedule_is_written_down_gets_it_later(beat, monkeypatch):
    """It has the lock by then, so no lost lock reports it."""
    planned = planned_by(beat)
    forget(beat.app)
    with monkeypatch.context() as away:
        away.setattr(ResilientScheduler, "setup_schedule", away_again)
        assert beat.tick() == REDIS_RETRY_S
    assert beat.lock.owned()
    beat.tick()
    assert planned_by(beat) == planned


def away_again(*_):
    raise redis.ConnectionError


@pytest.mark.parametrize("how", ["while it runs", "before it starts"])
def test_a_clock_that_was_put_back_holds_nothing_up(how, beat, monkeypatch):
    """Else all of it would wait until the clock is there again, the mending included."""
    now, behind = beat.app.now(), timedelta(days=1)
    monkeypatch.setattr(Celery, "now", lambda _: now - behind)
    beat.tick() if how == "while it runs" else beat.setup_schedule()
    entry = RedBeatSchedulerEntry.from_key(
        RedBeatSchedulerEntry.generate_key(beat.app, "hourly"), app=beat.app
    )
    assert entry.last_run_at <= now - behind
    due_at = get_redis(beat.app).zscore(ensure_conf(beat.app).schedule_key, entry.key)
    assert due_at <= (now - behind + timedelta(hours=1)).timestamp() + 1


@pytest.mark.parametrize(("name", "is_due"), [("tick", True), ("alerts", False)])
def test_the_first_tick_is_due_as_soon_as_a_beat_starts(name, is_due, beat):
    """A start is ready once a worker has run it."""
    beat.app.conf.beat_schedule = {name: site_app.conf.beat_schedule[name]}
    beat.setup_schedule()
    key = RedBeatSchedulerEntry.generate_key(beat.app, name)
    assert RedBeatSchedulerEntry.from_key(key, app=beat.app).is_due()[0] is is_due
    due_at = get_redis(beat.app).zscore(ensure_conf(beat.app).schedule_key, key)
    assert (due_at <= beat.app.now().timestamp()) is is_due


def test_a_queue_that_nobody_empties_does_not_grow_for_ever(beat, monkeypatch):
    """Beats run for days while no worker does. It rings again as soon as there is room."""
    monkeypatch.setattr("dashboard.celery_beat.MAX_QUEUE_LENGTH", 3)
    queue = f"{ensure_conf(beat.app).key_prefix}celery"
    key = RedBeatSchedulerEntry.generate_key(beat.app, "hourly")

    def ring():
        beat.apply_async(RedBeatSchedulerEntry.from_key(key, app=beat.app))
        return get_redis(beat.app).llen(queue)

    assert [ring() for _ in range(5)] == [1, 2, 3, 3, 3]
    assert RedBeatSchedulerEntry.from_key(key, app=beat.app).total_run_count == 5
    get_redis(beat.app).lpop(queue)
    assert ring() == 3


def test_its_health_file_is_touched_at_each_iteration_but_not_while_redis_is_away(
    beat, health_file, monkeypatch
):
    beat.tick()
    assert health_file.exists()
    health_file.unlink()
    monkeypatch.setattr(ResilientScheduler, "tick_with_recovery", away_again)
    beat.tick()
    assert not health_file.exists()


def test_a_beat_that_waits_for_another_one_is_well_too(beat, health_file):
    """Two run in production, and one of them has the lock."""
    get_redis(beat.app).set(beat.lock_key, "another beat's", px=300)
    assert not beat.lock.acquire(blocking=False)
    assert health_file.exists()


def test_a_worker_touches_its_health_file_with_each_heartbeat(health_file):
    signals.heartbeat_sent.send(sender=None)
    assert health_file.exists()


def test_a_health_file_that_cannot_be_written_ends_nothing(beat, settings):
    settings.HEALTH_FILE = "/nowhere/alive"
    assert beat.tick() >= 0


@pytest.fixture
def health_file(settings, tmp_path):
    settings.HEALTH_FILE = str(tmp_path / "alive")
    return tmp_path / "alive"


def planned_by(beat):
    return set(get_redis(beat.app).zrange(ensure_conf(beat.app).schedule_key, 0, -1))
