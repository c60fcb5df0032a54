"""A worker goes on where Redis went while it worked."""

from __future__ import annotations

import uuid
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from celery import Celery
from django.conf import settings
from kombu import Connection

from dashboard.celery import app
from dashboard.celery_consumer import MAX_RETRY_INTERVAL_S, Consumer


@pytest.fixture
def busy_consumer():
    """A consumer that waits for the next message, and is not done with the last one."""
    with Connection(settings.CELERY_BROKER_URL) as connection:
        queue = connection.SimpleQueue(f"test-{uuid.uuid4()}")
        queue.put("ding")
        queue.close()
    consumer: Any = object.__new__(Consumer)
    consumer.app = Celery("consumer", set_as_current=False)
    consumer.app.conf.worker_enable_prefetch_count_reduction = False  # it needs a whole worker
    consumer.connection = Connection(settings.CELERY_BROKER_URL)
    channel: Any = consumer.connection.default_channel
    consumer.task_consumer = SimpleNamespace(channel=channel)
    consumer.taken = channel.basic_get(queue.queue.name)
    channel._in_poll, channel._brpop_read = True, lambda: hang_up(channel)
    yield consumer
    channel.do_restore = False  # when the tests end, there is no Redis to hand it back to


def hang_up(channel):
    channel._in_poll = None
    raise redis.ConnectionError


def refuse(_):
    raise redis.ConnectionError


def test_a_broker_that_is_lost_with_work_in_hand_does_not_end_it(busy_consumer, monkeypatch):
    busy_consumer.task_consumer.channel.pool.disconnect()
    monkeypatch.setattr(redis.UnixDomainSocketConnection, "connect", refuse)
    with pytest.warns(PendingDeprecationWarning):  # what the library says each time
        busy_consumer.on_connection_error_after_connected(redis.ConnectionError())
    assert busy_consumer.connection is None, "the next one is a new one"
    busy_consumer.taken.ack()


def test_it_tries_again_within_seconds_however_long_the_broker_is_away(busy_consumer):
    asked = busy_consumer.ensure_connected(
        SimpleNamespace(ensure_connection=lambda *_, **named: named)
    )
    assert asked["interval_max"] == MAX_RETRY_INTERVAL_S


def test_workers_have_it():
    assert app.conf.worker_consumer == f"{Consumer.__module__}:{Consumer.__name__}"
