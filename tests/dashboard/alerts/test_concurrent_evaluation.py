"""Thresholds that several workers evaluate at once are reported once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind, Delivery

pytestmark = pytest.mark.django_db(transaction=True)
CROWD = 6


def at_once(work):
    start = Barrier(CROWD)

    def run():
        start.wait(120)
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(CROWD) as pool:
        return [done.result(60) for done in [pool.submit(run) for _ in range(CROWD)]]


def test_a_threshold_is_reported_once(northlight, account, mira, rule):
    rule(AlertKind.BALANCE, 99_999)
    at_once(lambda: evaluate_team(northlight.pk))
    assert AlertEvent.objects.count() == 1
    assert Delivery.objects.count() == 1


def test_a_delivery_is_made_once(event, team_webhook, webhook_posts):
    row = Delivery.objects.create(event=event(), channel="webhook", address=team_webhook.host)
    at_once(lambda: attempt_delivery(row.pk))
    assert len(webhook_posts) == 1
