"""Clocks that differ are reported once, and no more when they agree again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.alerts.default_rules import create_default_rules
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent
from proxyapi.clock_offset import NO_OFFSET, ClockSource, store_clock_offset

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
    source, hours, sentence, northlight, time_machine
):
    create_default_rules(northlight)
    now = timezone.now()
    for minute, (offset, events) in enumerate(
        [
            (timedelta(seconds=30), 0),
            (timedelta(hours=hours), 1),
            (timedelta(hours=hours), 1),
            (NO_OFFSET, 1),
            (timedelta(hours=hours), 2),
        ]
    ):
        time_machine.move_to(now + timedelta(minutes=minute), tick=False)
        store_clock_offset(source, offset)
        evaluate_team(northlight.pk)
        assert AlertEvent.objects.count() == events
    for event in AlertEvent.objects.all():
        assert (event.url, event.for_money, sentence in event.text) == ("/operations/", True, True)
