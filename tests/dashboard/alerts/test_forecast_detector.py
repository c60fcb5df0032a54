"""Credits that run out: forecast from past spending, unless the plan renews before."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind
from proxyapi.models import AutoTopUp, DailyTotal, LedgerMirror
from proxyapi.top_up import TopUpSetting
from tests.dashboard.alerts.conftest import NOON

pytestmark = pytest.mark.postgresql


@pytest.fixture
def spending(account):
    """Three weeks of 100 credits a day, all of them read."""
    LedgerMirror.objects.create(account=account, read_at=NOON)
    for back in range(1, 22):
        DailyTotal.objects.create(
            account=account,
            day=(NOON - timedelta(days=back)).date(),
            entries=1,
            amount=-100,
            is_credit=False,
            is_matched=True,
            via_api=True,
        )
    return account


def new_alert_titles(team):
    evaluate_team(team.pk, slow=True)
    return list(AlertEvent.objects.values_list("title", flat=True))


@pytest.mark.parametrize(
    ("balance", "threshold", "expected"),
    [
        (450, 7, ["The credits may last 4 days"]),
        (450, 4, []),
        (50, 1, ["The credits may run out today"]),
    ],
)
def test_credits_that_do_not_last(northlight, spending, rule, balance, threshold, expected):
    rule(AlertKind.FORECAST, threshold)
    spending.balance = Decimal(balance)
    spending.save()
    assert new_alert_titles(northlight) == expected
    assert new_alert_titles(northlight) == expected  # once a week


@pytest.fixture
def top_up(account):
    """2,000 credits whenever less than 200 are left."""
    setting = TopUpSetting(True, "dynamic-credits", None, 20)
    return AutoTopUp.objects.create(account=account, read_at=NOON, **setting.to_dict())


def test_credits_that_top_ups_keep_up_cause_no_alert(northlight, spending, rule, top_up):
    rule(AlertKind.FORECAST, 7)
    spending.balance = Decimal(450)
    spending.save()
    assert new_alert_titles(northlight) == []


def test_the_alert_says_that_its_days_include_top_ups(northlight, spending, rule, top_up):
    rule(AlertKind.FORECAST, 1)
    spending.balance = Decimal(50)
    spending.save()
    top_up.consecutive_failures, top_up.failure_seen_at = 1, NOON
    top_up.save()
    assert new_alert_titles(northlight) == ["The credits may run out today"]
    text = AlertEvent.objects.get().text
    assert text.startswith(f"With automatic top-ups, the credits of {spending.label} run out ")


def test_one_dear_day_in_quiet_weeks_is_no_alarm(northlight, account, rule):
    """A row before the eight weeks says that these were quiet, and not unknown."""
    rule(AlertKind.FORECAST, 21)
    account.balance = Decimal(4000)
    account.save()
    LedgerMirror.objects.create(account=account, read_at=NOON)
    for back, amount in ((8, -2000), (58, -20)):
        day = (NOON - timedelta(days=back)).date()
        debit = {"is_credit": False, "is_matched": True, "via_api": True}
        DailyTotal.objects.create(account=account, day=day, entries=1, amount=amount, **debit)
    assert new_alert_titles(northlight) == []


def test_a_plan_that_renews_before_causes_no_alert(northlight, spending, rule):
    rule(AlertKind.FORECAST, 7)
    spending.balance, spending.plan_ends_at = Decimal(450), NOON + timedelta(days=3)
    spending.save()
    assert new_alert_titles(northlight) == []


def test_without_enough_days_nothing_is_foretold(northlight, account, rule):
    rule(AlertKind.FORECAST, 60)
    assert new_alert_titles(northlight) == []
