"""The record of calls is kept for a while; that of a charge, for good."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.celery import app
from proxyapi import call_retention
from proxyapi.models import ApiCall, CallOutcome, Token
from proxyapi.tasks import prune_calls
from tests.factories import TokenFactory

READ, FAILED, RENDER = "faceless.get", "me.get", "faceless.render"

pytestmark = pytest.mark.django_db


def called(
    token: Token, operation: str, days: float, outcome: CallOutcome = CallOutcome.REFUSED
) -> None:
    ApiCall.objects.create(
        tenant_id=token.tenant_id,
        token=token,
        operation=operation,
        outcome=outcome,
        status=200 if outcome == CallOutcome.ANSWERED else 404,
        milliseconds=40,
        sent_at=timezone.now() - timedelta(days=days),
    )


def kept() -> list[str]:
    return list(ApiCall.objects.order_by("pk").values_list("operation", flat=True))


def test_old_polls_are_pruned_and_charges_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxyapi.pruning.DELETED_AT_ONCE", 2)
    for token in TokenFactory.create_batch(2):
        for days in (900, 400, 31, 29):
            called(token, READ, days)
        called(token, RENDER, 900)
    assert call_retention.prune_old_calls() == 6
    assert kept() == [READ, RENDER] * 2
    assert call_retention.prune_old_calls() == 0


def test_the_setting_says_how_old(settings: Any) -> None:
    settings.API_CALL_RETENTION_DAYS = 2
    token = TokenFactory.create()
    for days in (3, 1):
        called(token, READ, days)
    assert call_retention.prune_old_calls() == 1


@pytest.mark.parametrize(("log_calls", "hours"), [("failures", 2), ("all", 24)])
def test_answered_reads_are_kept_for_hours(settings: Any, log_calls: str, hours: float) -> None:
    settings.LOG_CALLS = log_calls
    read = CallOutcome.ANSWERED
    token, idle = TokenFactory.create_batch(2)
    called(token, READ, (hours + 1) / 24, read)
    called(token, FAILED, (hours + 1) / 24, CallOutcome.UNKNOWN)
    called(token, RENDER, (hours + 1) / 24, read)
    called(token, READ, (hours - 1) / 24, read)
    called(idle, READ, 20, read)  # its newest: when it was last used
    assert call_retention.prune_old_calls() == 1
    assert kept() == [FAILED, RENDER, READ, READ]


def test_the_beat_asks_for_it() -> None:
    called(TokenFactory.create(), READ, 31)
    names = [row["task"] for row in app.conf.beat_schedule.values()]
    assert prune_calls.name in names
    prune_calls()
    assert kept() == []
