"""Health checks: whether the process runs, and what it lacks."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from typing import cast

import pytest
import redis
from django.db import DatabaseError
from django.utils import timezone

from dashboard.celery import app
from dashboard.maintenance import migration_executor
from dashboard.monitoring import readiness
from dashboard.monitoring.queues import QUEUES
from proxyapi import charge_log, redis_client
from proxyapi.models import ChargeState
from proxyapi.tasks import TICK_HEARTBEAT_KEY
from tests.factories import ChargeFactory
from tests.settings import ON_POSTGRES

pytestmark = pytest.mark.django_db


def alive() -> None:
    redis_client.connect_redis().set(TICK_HEARTBEAT_KEY, "now", ex=30)


def test_healthz_answers_without_a_sign_in_and_without_a_database(client, monkeypatch):
    monkeypatch.setattr(readiness, "find_missing_requirements", lambda: pytest.fail("asked"))

    assert client.get("/healthz").content == b"ok\n"


def test_readyz_is_ready_when_a_worker_ticks(client):
    alive()

    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"ready": True, "missing": {}})
    assert "no-store" in answer.headers["Cache-Control"]


def test_readyz_names_a_missing_worker(client):
    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert list(answer.json()["missing"]) == ["worker"]


def test_readyz_names_a_missing_redis(client, monkeypatch):
    nowhere = redis.Redis.from_url("unix:///nowhere/valkey.sock")
    monkeypatch.setattr(redis_client, "connect_redis", lambda: nowhere)

    assert set(client.get("/readyz").json()["missing"]) == {"redis", "worker"}


def test_readyz_names_migrations_that_are_not_applied(client, monkeypatch):
    alive()
    monkeypatch.setattr(readiness, "_migrated", False)
    monkeypatch.setattr(migration_executor, "is_migrated", lambda: False)

    assert list(client.get("/readyz").json()["missing"]) == ["migrations"]


def test_readyz_names_a_database_that_is_away(monkeypatch):
    class Away:
        def cursor(self) -> None:
            raise DatabaseError

    monkeypatch.setattr(readiness, "connection", Away())

    assert readiness.check_database() == "The database does not answer."


@pytest.mark.skipif(ON_POSTGRES, reason="PostgreSQL has a disk of its own")
def test_readyz_names_a_full_disk(client, monkeypatch):
    alive()
    room = shutil.disk_usage("/")._replace(free=3 * 1024**2)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: room)

    said = client.get("/readyz").json()["missing"]

    assert said == {"disk": "The database's disk is full: 3 MiB free."}


def test_readyz_names_keys_that_cannot_be_read(client, settings):
    alive()
    settings.ENCRYPTION_KEYS = "k1:short"

    assert list(client.get("/readyz").json()["missing"]) == ["keys"]


def test_nothing_is_changed_through_a_probe(client):
    assert client.post("/readyz").status_code == 405


@pytest.mark.parametrize("queue", QUEUES)
def test_readyz_names_a_queue_that_no_worker_serves(client, queue):
    """By its oldest message, however many newer ones there are."""
    alive()
    put_message(queue, QUEUES[queue].max_wait_s + 1)
    put_message(queue, 0)
    missing = client.get("/readyz").json()["missing"]
    assert list(missing) == ["queues"]
    assert missing["queues"].startswith(f"Queue {queue}: a message has waited ")

    redis_client.connect_redis().rpop(f"reelroom:{queue}")  # a worker takes the oldest

    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("queue", QUEUES)
def test_a_worker_has_its_time_to_answer(client, queue):
    alive()
    put_message(queue, QUEUES[queue].max_wait_s - 10)

    assert client.get("/readyz").status_code == 200


def put_message(queue: str, age_s: float) -> None:
    """As Celery does; the end that workers take from is the right one."""
    app.send_task("proxyapi.tasks.answer_ping", queue=queue)
    store = redis_client.connect_redis()
    message = json.loads(cast(bytes, store.lpop(f"reelroom:{queue}")))
    message["headers"]["enqueued_at"] -= age_s
    store.lpush(f"reelroom:{queue}", json.dumps(message))


@pytest.mark.parametrize(
    ("seconds", "reason", "missing"),
    [
        (30, "", []),
        (60, "", ["charges"]),
        (60, "The rate limit is used up.", []),
    ],
)
def test_readyz_names_a_charge_that_no_worker_tries_to_send(client, seconds, reason, missing):
    alive()
    held_at = timezone.now() - timedelta(seconds=seconds)
    ChargeFactory(state=ChargeState.HELD, held_at=held_at, reason=reason)

    assert list(client.get("/readyz").json()["missing"]) == missing


def test_readyz_names_a_charge_log_that_cannot_be_written(client):
    alive()
    redis_client.connect_redis().set(charge_log.UNWRITABLE_KEY, 1)

    assert list(client.get("/readyz").json()["missing"]) == ["charge log"]
