"""Old alerts go, with their deliveries; what "once in its period" still needs stays."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from dashboard.alerts import pruning
from dashboard.alerts.evaluate import evaluate_team
from dashboard.celery import app
from dashboard.models import AlertEvent, AlertKind, ApprovalRequest, Delivery
from dashboard.tasks import prune_alerts
from proxyapi.models import ChargeState
from tests.dashboard.alerts.conftest import NOON
from tests.factories import ChargeFactory, JobFactory

pytestmark = pytest.mark.postgresql


@pytest.fixture
def make_old_alert(event):
    """An alert of so many days ago."""

    def make(days, **fields):
        return event(happened_at=NOON - timedelta(days=days), **fields)

    return make


@pytest.fixture
def low_balance_rule(rule):
    return rule(AlertKind.BALANCE, 5000)


def kept():
    return set(AlertEvent.objects.values_list("period", flat=True))


def test_an_old_alert_goes_with_its_deliveries_and_the_newest_stays(
    make_old_alert, low_balance_rule
):
    for days, period in ((900, "first"), (500, "second"), (401, "third")):
        row = make_old_alert(days, rule=low_balance_rule, period=period)
        Delivery.objects.create(
            event=row, channel="email", address="a@b.example", state="failed", created_at=NOON
        )
    assert pruning.prune_alert_events() == 2
    assert kept() == {"third"}
    assert Delivery.objects.get().event.period == "third"


def test_what_is_younger_stays_and_the_setting_says_how_young(
    make_old_alert, low_balance_rule, settings
):
    for days in (399, 90, 30):
        make_old_alert(days, rule=low_balance_rule, period=str(days))
    assert pruning.prune_alert_events() == 0
    settings.ALERT_RETENTION_DAYS = 60
    assert pruning.prune_alert_events() == 2
    assert kept() == {"30"}


def test_other_thresholds_and_subjects_are_not_superseded(make_old_alert, low_balance_rule):
    make_old_alert(500, rule=low_balance_rule, period="here")
    make_old_alert(450, rule=low_balance_rule, period="there", subject="y")
    make_old_alert(450, rule=low_balance_rule, period="lower", threshold=200)
    assert pruning.prune_alert_events() == 0


def test_an_ongoing_alert_is_not_repeated_after_years(northlight, account, low_balance_rule):
    """No credit has come since: the period lasts, so its alert does, too, read or not."""
    evaluate_team(northlight.pk)
    AlertEvent.objects.update(happened_at=NOON - timedelta(days=900))
    assert pruning.prune_alert_events() == 0
    assert evaluate_team(northlight.pk) == []


def test_alerts_of_what_is_open_stay_until_it_is_decided(
    northlight, priya, token, rule, make_old_alert
):
    jobs = [JobFactory.create(account=token.account, token=token) for _ in range(2)]
    lost = ChargeFactory.create(job=jobs[0], state=ChargeState.UNKNOWN, sent_at=NOON)
    asked = ChargeFactory.create(job=jobs[1], state=ChargeState.DRAFT)
    approval = ApprovalRequest.objects.create(team=northlight, charge=asked, member=priya.user)
    make_old_alert(
        500, rule=rule(AlertKind.UNKNOWN_CHARGE, 15), subject=str(lost.pk), period="lost"
    )
    make_old_alert(
        500, rule=rule(AlertKind.APPROVAL_REQUEST), subject=str(approval.pk), period="asked"
    )
    assert pruning.prune_alert_events() == 0
    lost.state, lost.cost = ChargeState.MATCHED, Decimal(96)
    lost.save()
    assert pruning.prune_alert_events() == 1
    assert kept() == {"asked"}
    approval.decision, approval.decided_by, approval.decided_at = "declined", priya.user, NOON
    approval.save()
    assert pruning.prune_alert_events() == 1


def test_one_that_is_still_on_its_way_is_not_cut_off(make_old_alert):
    row = make_old_alert(500, rule=None)
    delivery = Delivery.objects.create(event=row, channel="email", address="a@b.example")
    assert pruning.prune_alert_events() == 0
    Delivery.objects.filter(pk=delivery.pk).update(state="failed")
    assert pruning.prune_alert_events() == 1


def test_many_go_in_batches(make_old_alert, low_balance_rule, monkeypatch):
    monkeypatch.setattr("proxyapi.pruning.DELETED_AT_ONCE", 3)
    for number in range(8):
        make_old_alert(500 + number, rule=low_balance_rule, period=str(number))
    prune_alerts()
    assert kept() == {"0"}


def test_the_beat_enqueues_it():
    assert app.conf.beat_schedule["old-alerts"]["task"] == prune_alerts.name
