"""Clocks that differ are reported once, and no more when they agree again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dashboard.alerts.default_rules import create_default_rules
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent
from proxyapi.clock_offset import NO_OFFSET, ClockSource, store_clock_offset
from proxyapi.redis_client import connect_redis

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("source", "hours", "sentence"),
    [
        (ClockSource.DATE_HEADER, 3, "It is 3 h behind the service's."),
        (ClockSource.DATE_HEADER, -3, "It is 3 h ahead of the service's."),
        (ClockSource.LEDGER, -1, "was recorded 1 h before its request."),
    ],
)
def test_a_clock_that_differs_is_reported_once_until_it_was_right_again(
    source, hours, sentence, northlight
):
    create_default_rules(northlight)
    store_clock_offset(source, timedelta(seconds=30))
    evaluate_team(northlight.pk)
    assert not AlertEvent.objects.exists()
    for _ in range(2):
        store_clock_offset(source, timedelta(hours=hours))
        evaluate_team(northlight.pk)
    event = AlertEvent.objects.get()
    assert (event.url, event.for_money, sentence in event.text) == ("/operations/", True, True)
    store_clock_offset(source, NO_OFFSET)
    evaluate_team(northlight.pk)
    connect_redis().set(f"{source}-since", "2026-01-01 00:00:00")  # another time
    evaluate_team(northlight.pk)
    assert AlertEvent.objects.count() == 2
