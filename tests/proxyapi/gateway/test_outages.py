"""Bad days: Redis is away, a worker dies while a script waits, the clock is set back, a client
leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from proxyapi import failpoints
from proxyapi.gateway import charging
from proxyapi.gateway.threads import in_thread
from proxyapi.models import Charge, ChargeState
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response

SCRIPTS = ("PUT", "/faceless/7/scripts")


class WorkerKilled(BaseException):
    """Caught by nobody, as the end of a process is."""


@pytest.fixture
def redis_away(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"


@pytest.mark.parametrize("limit", [None, 5])
def test_without_redis_a_free_request_is_refused_when_its_time_is_over(
    make_script: Callable[..., Script],
    upstream: ScriptedUpstream,
    redis_away: None,
    limit: int | None,
) -> None:
    script = make_script(requests_per_minute=limit)
    answer = script.call("GET", "/faceless/7", headers={"Prefer": "wait=1"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "RATE-LIMITER-UNAVAILABLE")
    assert int(answer.headers["retry-after"]) >= 1
    assert upstream.requests == []


def test_without_redis_nothing_is_charged(
    script: Script, upstream: ScriptedUpstream, worker: Worker, redis_away: None
) -> None:
    headers = {"Prefer": "wait=0", "Idempotency-Key": "a"}
    answer = script.call(*SCRIPTS, json={}, headers=headers)
    assert answer.status_code in (429, 503)
    assert int(answer.headers["retry-after"]) >= 1
    assert not Charge.objects.exclude(state=ChargeState.REFUSED).exists()
    assert upstream.request_bodies(*SCRIPTS) == []


def test_a_worker_that_dies_while_a_script_waits_leaves_one_charge_and_the_truth(
    script: Script, upstream: ScriptedUpstream, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request was sent, and nobody has recorded its answer."""

    def die(name: str) -> None:
        if name == "answered":
            raise WorkerKilled

    monkeypatch.setattr(failpoints, "hit_failpoint", die)
    monkeypatch.setattr(charging, "GRACE_S", -1000.0)  # instead of the longest time of the service
    upstream.respond(*SCRIPTS, charged_response({"id": 7, "script": "Tea."}, 4))
    headers = {"Prefer": "wait=1", "Idempotency-Key": "a"}
    answers = [script.call(*SCRIPTS, json={}, headers=headers) for _ in range(3)]
    for taken in worker.taken:
        assert isinstance(taken.exception(), WorkerKilled)
    worker.taken.clear()

    charge = Charge.objects.get()
    assert charge.state == ChargeState.SENDING
    first, *repeated = answers
    assert (first.status_code, first.json()["data"]["charge"]) == (202, str(charge.pk))
    for answer in repeated:
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            409,
            "IDEMPOTENCY-KEY-IN-USE",
        )
        assert int(answer.headers["retry-after"]) >= 1
    shown = script.call("GET", f"/_charges/{charge.pk}").json()["data"]
    assert (shown["state"], shown["cost"]) == ("sending", None)

    Charge.objects.update(state=ChargeState.UNKNOWN)  # as the recovery does, seconds later
    late = script.call(*SCRIPTS, json={}, headers=headers)
    assert (late.status_code, late.json()["data"]["charge"]) == (202, str(charge.pk))
    assert len(upstream.request_bodies(*SCRIPTS)) == 1


def test_a_clock_that_is_set_back_repeats_nothing(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*SCRIPTS, charged_response({"id": 7, "script": "Tea."}, 4))
    headers = {"Idempotency-Key": "a"}
    first = script.call(*SCRIPTS, json={}, headers=headers)
    with time_machine.travel(timezone.now() - timedelta(hours=1)):
        again = script.call(*SCRIPTS, json={}, headers=headers)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert len(upstream.request_bodies(*SCRIPTS)) == 1


def test_a_client_that_leaves_changes_nothing(
    script: Script, upstream: ScriptedUpstream, worker: Worker
) -> None:
    upstream.respond(*SCRIPTS, charged_response({"id": 7, "script": "Tea."}, 4))
    worker.is_busy = True

    async def leave() -> None:
        call = asyncio.create_task(
            script.send(*SCRIPTS, json={}, headers={"Idempotency-Key": "left"})
        )
        while not await in_thread(Charge.objects.exists):
            await asyncio.sleep(0.02)
        call.cancel()

    script.loop.run(leave())
    charge = Charge.objects.get()
    assert charge.state == ChargeState.HELD
    worker.dispatch(charge.pk)
    answer = script.call(*SCRIPTS, json={}, headers={"Idempotency-Key": "left"})
    assert answer.json()["data"]["script"] == "Tea."
    assert len(upstream.request_bodies(*SCRIPTS)) == 1
