"""The beat goes on where its lock or its schedule was lost."""

from __future__ import annotations

import uuid

import pytest
from celery import Celery, signals
from celery.beat import Service
from django.conf import settings
from redbeat.schedulers import ensure_conf, get_redis

from dashboard.beat import Scheduler


@pytest.fixture
def beat():
    """A beat that started, with one task that is due in an hour."""
    app = Celery("beat", set_as_current=False)
    app.conf.update(
        beat_schedule={"hourly": {"task": "hourly", "schedule": 3600.0}},
        beat_max_loop_interval=0.1,
        redbeat_redis_url=settings.REDIS_URL,
        redbeat_key_prefix=f"test:{uuid.uuid4()}:",
        redbeat_redis_options={"socket_connect_timeout": 5},
        redbeat_lock_timeout=25,
    )
    service = Service(app, scheduler_cls=Scheduler)
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


def planned_by(beat):
    return set(get_redis(beat.app).zrange(ensure_conf(beat.app).schedule_key, 0, -1))
