"""Several thresholds crossed at once are one alert, and what was low when it was added is none."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind
from proxyapi import tokens
from proxyapi.models import Account, ChargeState
from proxyapi.upstream.secret import Secret
from tests.dashboard.alerts.conftest import NOON


def reported(team) -> list[int]:
    """The thresholds of the alerts that are new."""
    before = set(AlertEvent.objects.values_list("pk", flat=True))
    evaluate_team(team.pk)
    new = AlertEvent.objects.exclude(pk__in=before)
    return [int(threshold) for threshold in new.values_list("threshold", flat=True)]


def test_only_the_worst_crossed_threshold_is_reported(northlight, account, rule, charge) -> None:
    for threshold in (5000, 4500, 4000):
        rule(AlertKind.BALANCE, threshold)
    for minutes in (15, 60):
        rule(AlertKind.UNKNOWN_CHARGE, minutes)
    assert reported(northlight) == [4500]
    unknown = charge(state=ChargeState.UNKNOWN, sent_at=NOON - timedelta(hours=2), hold=1000)
    assert sorted(reported(northlight)) == [60, 4000]
    unknown.state, unknown.hold = ChargeState.HELD, Decimal(100)
    unknown.save()
    assert reported(northlight) == []  # less is held: below 4,500 as it was before


def test_accounts_that_were_low_when_added_are_no_alert(
    northlight, rule, priya, monkeypatch
) -> None:
    for threshold in (1000, 200):
        rule(AlertKind.BALANCE, threshold)
    for number, balance in enumerate((0, 100, 500, 900)):
        profile = {
            "id": 500 + number,
            "email_verified": True,
            "subscription": {"active": True, "trial": False},
            "credits": {"remaining": balance},
        }
        monkeypatch.setattr(tokens, "fetch_profile", lambda *_, profile=profile: profile)
        tokens.store_token(northlight.tenant, priya.user_id, Secret(f"sbx_{number}" + "a" * 40))
    assert reported(northlight) == []
    rich, richer = Account.objects.order_by("-balance")[:2]
    rich.update_balance(Decimal(150), timezone.now() + timedelta(minutes=1))
    assert reported(northlight) == [200]  # it had 900: 200 is news, 1,000 is not
    richer.update_balance(Decimal(1500), timezone.now() + timedelta(minutes=1))
    richer.update_balance(Decimal(600), timezone.now() + timedelta(minutes=2))
    assert reported(northlight) == [1000]
