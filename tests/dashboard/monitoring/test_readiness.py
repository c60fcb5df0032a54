"""Health checks: whether the process runs, and what it lacks."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest
import redis
from django.db import DatabaseError
from django.utils import timezone

from dashboard.maintenance import migration_executor
from dashboard.monitoring import readiness
from proxyapi import charge_log, redis_client
from proxyapi.models import ChargeState
from proxyapi.tasks import SLOW_PING_KEY, TICK_HEARTBEAT_KEY, answer_slow_ping, tick
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


def test_readyz_names_a_slow_worker_that_does_not_answer(client):
    alive()
    long_ago = timezone.now() - readiness.SLOW_WORKER_TIMEOUT
    redis_client.connect_redis().set(SLOW_PING_KEY, long_ago.isoformat())
    assert list(client.get("/readyz").json()["missing"]) == ["slow worker"]

    answer_slow_ping()

    assert client.get("/readyz").status_code == 200


def test_a_slow_worker_has_its_time_to_answer(client):
    alive()
    tick()

    assert client.get("/readyz").status_code == 200


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
