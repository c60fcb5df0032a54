"""Every fifteen seconds: what no doorbell rang for, and what has grown old."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.celery import app
from proxyapi import tasks
from proxyapi.models import Account, AutoTopUp, Token, TopUpChange, TopUpChangeState
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response
from tests.proxyapi.top_up.conftest import MORE, OFF, PATH, preference

pytestmark = pytest.mark.postgresql


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks that were rung for, by name and id."""
    rung: list[str] = []
    for task in (tasks.save_top_up_task, tasks.refresh_top_up_task):
        monkeypatch.setattr(task, "delay", lambda id, name=task.name: rung.append(f"{name} {id}"))
    return rung


def test_beat_knows_it() -> None:
    entry = app.conf.beat_schedule["top-ups"]
    assert (entry["task"], entry["schedule"]) == (tasks.sweep_top_ups.name, 15.0)


def test_it_enqueues_what_is_due_and_nothing_else(
    requested_change: Callable[..., TopUpChange], account: Account, enqueued: list[str]
) -> None:
    change, now = requested_change(), timezone.now()
    save, read = (
        f"{tasks.save_top_up_task.name} {change.pk}",
        f"{tasks.refresh_top_up_task.name} {account.pk}",
    )
    tasks.sweep_top_ups()
    assert enqueued == [save, read]
    AutoTopUp.objects.create(account=account, due_at=now + timedelta(minutes=4))
    TopUpChange.objects.update(state=TopUpChangeState.SENDING, due_at=now + timedelta(minutes=2))
    tasks.sweep_top_ups()
    assert enqueued == [save, read]


def test_a_lost_task_message_costs_time_and_not_the_change(
    requested_change: Callable[..., TopUpChange], token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PUT", PATH, make_response(preference(MORE)))
    change = requested_change()
    tasks.save_top_up_task(str(change.pk))
    tasks.refresh_top_up_task(str(token.account_id))
    change.refresh_from_db()
    assert change.state == TopUpChangeState.SAVED
    assert AutoTopUp.objects.get().enabled


def test_pitfall_77_switched_off_by_three_failures_no_beat_and_no_reading_switches_it_on(
    account: Account, token: Token, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    for task in (tasks.save_top_up_task, tasks.refresh_top_up_task):
        monkeypatch.setattr(task, "delay", task.run)
    upstream.respond(
        "GET", PATH, make_response(preference()), make_response(preference(OFF, failures=3))
    )
    for _ in range(3):
        AutoTopUp.objects.update(due_at=timezone.now())
        tasks.sweep_top_ups()
    row = AutoTopUp.objects.get()
    assert (row.enabled, row.consecutive_failures, row.is_disabled_elsewhere) == (False, 3, True)
    assert [request.method for request in upstream.requests] == ["GET"] * 3
    assert not TopUpChange.objects.exists()
