"""What is found, in which words, who sees it, and that it is reported once per period."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.alerts.default_rules import create_default_rules
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import (
    AlertEvent,
    AlertKind,
    AlertRule,
    Budget,
)
from proxyapi.models import (
    Account,
    AutoTopUp,
    ChargeState,
    LedgerConflict,
    LedgerEntry,
    LedgerMirror,
)
from proxyapi.models.charge import CHARGED_LATE_CODE
from tests.dashboard.alerts.conftest import NOON
from tests.factories import AccountFactory, ChargeFactory

pytestmark = pytest.mark.postgresql


def new_alert_titles(team):
    """The titles of what is new."""
    before = set(AlertEvent.objects.values_list("pk", flat=True))
    evaluate_team(team.pk)
    return [event.title for event in AlertEvent.objects.exclude(pk__in=before).order_by("title")]


def test_a_low_balance_is_reported_once_for_each_threshold(northlight, account, rule, charge):
    rule(AlertKind.BALANCE, 4500)
    rule(AlertKind.BALANCE, 4300)
    assert new_alert_titles(northlight) == ["4,318 cr are free, less than 4,500"]
    assert new_alert_titles(northlight) == []
    charge(hold=20)
    assert new_alert_titles(northlight) == ["4,298 cr are free, less than 4,300"]
    assert AlertEvent.objects.get(threshold=4300).text == (
        "On Northlight Films: 4,318 cr as of 12:00, 20 held."
    )


def test_clock_times_are_in_the_teams_zone(northlight, account, rule, charge, time_machine):
    northlight.tenant.time_zone = "America/Los_Angeles"  # 8 h after UTC in November
    northlight.tenant.save()
    rule(AlertKind.BALANCE, 4500)
    rule(AlertKind.UNKNOWN_CHARGE, 15)
    charge(state=ChargeState.UNKNOWN, sent_at=NOON - timedelta(hours=1))
    evaluate_team(northlight.pk)
    texts = " ".join(AlertEvent.objects.values_list("text", flat=True))
    assert "4,318 cr as of 04:00" in texts
    assert "was sent at 03:00 and the response was lost" in texts


def entry(account, amount, position):
    return LedgerEntry.objects.create(
        account=account,
        position=position,
        credit_spend=str(amount),
        amount=amount,
        happened_at=NOON,
    )


def test_after_credits_came_a_low_balance_is_reported_again(northlight, account, rule):
    rule(AlertKind.BALANCE, 5000)
    assert len(new_alert_titles(northlight)) == 1
    entry(account, Decimal(-96), 7)
    assert new_alert_titles(northlight) == []
    entry(account, Decimal(200), 8)
    Account.objects.update(balance_as_of=timezone.now() + timedelta(minutes=1))
    assert len(new_alert_titles(northlight)) == 1


def test_a_history_that_is_still_being_mirrored_reports_no_new_shortage(
    northlight, account, rule, time_machine
):
    """Of an account that was just added: its credits of long ago come in page by page."""
    rule(AlertKind.BALANCE, 5000)
    assert len(new_alert_titles(northlight)) == 1
    for days, position in ((90, 0), (60, 30), (1, 70)):
        row = entry(account, Decimal(200), position)
        LedgerEntry.objects.filter(pk=row.pk).update(happened_at=NOON - timedelta(days=days))
        assert new_alert_titles(northlight) == []
    time_machine.shift(timedelta(days=2))
    Account.objects.update(balance=12_000, balance_as_of=timezone.now())
    assert new_alert_titles(northlight) == []
    Account.objects.update(balance=100, balance_as_of=timezone.now())
    assert new_alert_titles(northlight) == ["100 cr are free, less than 5,000"], (
        "that lack was over"
    )


def test_a_lack_that_credits_ended_before_they_were_mirrored_is_over(
    northlight, account, rule, time_machine
):
    """A member buys credits when few are left: a new shortage is reported once more."""
    rule(AlertKind.BALANCE, 1000)
    old = entry(account, Decimal(200), 5)
    LedgerEntry.objects.filter(pk=old.pk).update(happened_at=NOON - timedelta(days=9))
    said = []
    for seconds, balance in ((0, 4318), (20, 150), (60, 2150), (9000, 150)):
        time_machine.move_to(NOON + timedelta(seconds=seconds))
        if seconds == 60:
            entry(account, Decimal(2000), 9)
        Account.objects.update(balance=balance, balance_as_of=timezone.now())
        said += new_alert_titles(northlight)
    assert said == ["150 cr are free, less than 1,000"] * 2


def test_a_shortage_that_was_reported_while_the_clock_was_ahead_hides_no_other(
    northlight, account, rule, time_machine
):
    rule(AlertKind.BALANCE, 1000)
    Account.objects.update(balance=150, balance_as_of=NOON + timedelta(days=3))
    time_machine.move_to(NOON + timedelta(days=3))
    assert len(new_alert_titles(northlight)) == 1
    time_machine.move_to(NOON + timedelta(minutes=5))
    entry(account, Decimal(2000), 9)
    Account.objects.update(balance_as_of=timezone.now())
    assert new_alert_titles(northlight) == ["150 cr are free, less than 1,000"]


def test_a_balance_from_before_credits_came_is_not_reported_as_low(northlight, account, rule):
    """The ledger shows them already; the balance is read after that."""
    rule(AlertKind.BALANCE, 5000)
    entry(account, Decimal(20_000), 0)
    Account.objects.update(balance=90, balance_as_of=timezone.now() - timedelta(minutes=4))
    LedgerEntry.objects.update(happened_at=timezone.now() - timedelta(minutes=1))
    assert new_alert_titles(northlight) == []
    Account.objects.update(balance=20_090, balance_as_of=timezone.now())
    assert new_alert_titles(northlight) == []
    Account.objects.update(balance=80, balance_as_of=timezone.now() + timedelta(minutes=1))
    assert new_alert_titles(northlight) == ["80 cr are free, less than 5,000"]


def test_a_balance_that_stays_older_than_the_credits_is_reported_after_an_hour(
    northlight, account, rule
):
    """The ledger's clock may be wrong."""
    rule(AlertKind.BALANCE, 5000)
    entry(account, Decimal(200), 0)
    Account.objects.update(balance=90, balance_as_of=timezone.now())
    for minutes, lacks in ((50, 0), (70, 1), (-70, 1)):
        LedgerEntry.objects.update(happened_at=timezone.now() - timedelta(minutes=minutes))
        Account.objects.update(balance_as_of=timezone.now() - timedelta(minutes=90))
        AlertEvent.objects.all().delete()
        assert len(new_alert_titles(northlight)) == lacks


@pytest.mark.parametrize("bought_once", [True, False])
def test_a_plan_that_renews_without_a_row_ends_the_shortage(
    northlight, account, rule, time_machine, bought_once
):
    rule(AlertKind.BALANCE, 1000)
    if bought_once:
        entry(account, Decimal(2000), 7)
        time_machine.shift(timedelta(minutes=1))
    said = []
    for balance in (500, 90, 12_000, 100, 90):
        Account.objects.update(balance=balance, balance_as_of=timezone.now())
        said += new_alert_titles(northlight) + new_alert_titles(northlight)
        time_machine.shift(timedelta(days=10))
    assert said == ["500 cr are free, less than 1,000", "100 cr are free, less than 1,000"]


def test_holds_that_come_and_go_are_one_shortage_for_a_day(
    northlight, account, rule, charge, time_machine
):
    rule(AlertKind.BALANCE, 4300)
    said = []
    for hours in (0, 1, 2, 24):
        time_machine.move_to(NOON + timedelta(hours=hours))
        held = charge(hold=20)
        said.append(new_alert_titles(northlight))
        held.delete()
        assert new_alert_titles(northlight) == []
    held = charge(hold=30)
    assert said == [["4,298 cr are free, less than 4,300"], [], [], []]
    assert new_alert_titles(northlight) == ["4,288 cr are free, less than 4,300"]


def test_without_a_known_balance_or_a_token_nothing_is_reported(northlight, account, rule):
    rule(AlertKind.BALANCE, 99_999)
    AccountFactory.create(tenant=northlight.tenant, balance_as_of=NOON)  # nobody opens it
    account.balance_as_of = None
    account.save()
    assert new_alert_titles(northlight) == []


def test_a_budget_past_its_alert_then_at_its_limit(northlight, priya, rule, charge, time_machine):
    rule(AlertKind.BUDGET)
    budget = Budget.objects.create(team=northlight, member=priya.user, soft=100, hard=200)
    charge(member=priya.user, state="confirmed", cost=99)
    assert new_alert_titles(northlight) == []
    charge(member=priya.user, hold=1)
    assert new_alert_titles(northlight) == ["Priya is past 100 of 200 cr this month"]
    charge(member=priya.user, state="confirmed", cost=100)
    assert new_alert_titles(northlight) == ["Priya is at the limit of 200 cr this month"]
    assert new_alert_titles(northlight) == []
    assert AlertEvent.objects.filter(member=priya.user, for_money=True).count() == 2
    at_limit = AlertEvent.objects.get(title__contains="at the limit")
    assert "1 held. Nothing more is sent before 1 Dec" in at_limit.text
    time_machine.move_to(NOON + timedelta(days=14))
    charge(member=priya.user, state="confirmed", cost=100, created_at=NOON + timedelta(days=14))
    assert new_alert_titles(northlight) == ["Priya is past 100 of 200 cr this month"]
    budget.soft = 120
    budget.save()
    assert new_alert_titles(northlight) == []


def test_an_alert_about_the_teams_budget_goes_to_the_team(northlight, rule, charge):
    rule(AlertKind.BUDGET)
    Budget.objects.create(team=northlight, soft=100, period="day")
    charge(state="confirmed", cost=100)
    assert new_alert_titles(northlight) == ["The team is past 100 cr today"]
    assert AlertEvent.objects.get().member is None


def visible_alerts(member, *, money=False):
    events = AlertEvent.objects.visible_to(member, money=money).filter(for_money=money)
    return [event.title for event in events]


def test_a_failed_top_up_and_the_third(northlight, account, rule):
    rule(AlertKind.TOP_UP_FAILED, 1)
    rule(AlertKind.TOP_UP_FAILED, 2)
    row = AutoTopUp.objects.create(account=account, enabled=True)
    assert new_alert_titles(northlight) == []
    row.consecutive_failures = 1
    row.save()
    assert new_alert_titles(northlight) == ["A top-up failed"]
    row.consecutive_failures = 2
    row.save()
    assert new_alert_titles(northlight) == ["2 top-ups failed in a row"]
    assert new_alert_titles(northlight) == []


def test_a_failure_from_before_it_was_switched_off_here_is_not_reported(northlight, account, rule):
    """The service keeps the count until a top-up succeeds, which none can any more."""
    rule(AlertKind.TOP_UP_FAILED, 1)
    row = AutoTopUp.objects.create(account=account, consecutive_failures=1, left_enabled=False)
    assert new_alert_titles(northlight) == []
    row.enabled = True
    row.save()
    assert new_alert_titles(northlight) == ["A top-up failed"]


def test_each_failed_top_up_of_one_week_is_reported(northlight, account, rule, time_machine):
    rule(AlertKind.TOP_UP_FAILED, 1)
    row = AutoTopUp.objects.create(account=account, enabled=True)
    said = []
    for failures in (1, 2, 0, 1):
        time_machine.shift(timedelta(hours=8))
        row.consecutive_failures, row.failure_seen_at = failures, timezone.now()
        row.save()
        said += new_alert_titles(northlight) + new_alert_titles(northlight)
    assert said == ["A top-up failed", "2 top-ups failed in a row", "A top-up failed"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"enabled": False}, None),
        ({"enabled": True, "found_off_at": NOON}, None),
        ({"enabled": False, "consecutive_failures": 2}, None),
        ({"enabled": False, "found_off_at": NOON}, "No one did here."),
        ({"enabled": False, "consecutive_failures": 3}, "after three failed payments."),
        ({"enabled": False, "consecutive_failures": 3, "left_enabled": False}, None),
    ],
)
def test_top_up_that_nobody_here_switched_off(northlight, account, rule, fields, expected):
    rule(AlertKind.TOP_UP_OFF)
    AutoTopUp.objects.create(account=account, **fields)
    assert new_alert_titles(northlight) == (["Automatic top-up is off"] if expected else [])
    assert expected is None or expected in AlertEvent.objects.get().text


def test_a_charge_unknown_for_a_quarter_of_an_hour(northlight, rule, charge, time_machine):
    rule(AlertKind.UNKNOWN_CHARGE, 15)
    charge(state=ChargeState.UNKNOWN, quote=42)
    time_machine.shift(timedelta(minutes=14, seconds=59))
    assert new_alert_titles(northlight) == []
    time_machine.shift(1)
    assert new_alert_titles(northlight) == ["We do not know whether 42 cr were spent"]
    assert "“Who owns the Moon?” was sent at 12:00 and the response was lost." in (
        AlertEvent.objects.get().text
    )
    time_machine.shift(timedelta(days=6))
    assert new_alert_titles(northlight) == []
    time_machine.shift(timedelta(days=1))
    assert len(new_alert_titles(northlight)) == 1  # it still waits for somebody
    assert new_alert_titles(northlight) == []


@pytest.mark.parametrize("again", [None, ChargeState.CONFIRMED, ChargeState.REFUSED])
def test_a_charge_that_was_called_uncharged_and_took_credits_is_reported_once(
    northlight, luca, rule, charge, time_machine, again
):
    """With a second order that was paid as well it says so, and who sent what."""
    rule(AlertKind.UNKNOWN_CHARGE, 15)
    rule(AlertKind.UNKNOWN_CHARGE, 60)
    settled = {"state": ChargeState.MATCHED, "cost": 96, "settled_at": NOON}
    late = charge(member=luca.user, code=CHARGED_LATE_CODE, **settled)
    if again:
        sent_at = NOON + timedelta(minutes=5)
        ChargeFactory.create(job=late.job, state=again, cost=96, sent_at=sent_at)
    assert new_alert_titles(northlight) == ["96 cr were charged after all"]
    event = AlertEvent.objects.get()
    assert (event.member, event.for_money) == (luca.user, True)
    assert event.text.startswith(
        "The render of “Who owns the Moon?” was sent at 12:00, its response"
    )
    twice = "It was sent again at 12:05, so it was charged twice. Reelroom sent each request once."
    assert event.text.endswith(twice) == (again == ChargeState.CONFIRMED)
    time_machine.shift(timedelta(hours=23))
    assert new_alert_titles(northlight) == []
    AlertEvent.objects.all().delete()
    time_machine.shift(timedelta(hours=2))
    assert new_alert_titles(northlight) == []


def test_a_ledger_in_trouble(northlight, account, rule):
    rule(AlertKind.RECONCILIATION)
    ledger = LedgerMirror.objects.create(account=account)
    assert new_alert_titles(northlight) == []
    ledger.problem = "Row 12 reads differently than before."
    ledger.save()
    assert new_alert_titles(northlight) == ["The ledger needs review"]


def test_a_ledger_that_stops_over_another_row_in_the_same_week_is_reported_again(
    northlight, account, rule
):
    rule(AlertKind.RECONCILIATION)
    said = []
    for row in (11, 4, 11):
        LedgerConflict.objects.create(account=account, position=row, before={}, after={})
        problem = f"Row {row + 1} reads differently than before."
        LedgerMirror.objects.update_or_create(account=account, defaults={"problem": problem})
        said += new_alert_titles(northlight) + new_alert_titles(northlight)
        LedgerConflict.objects.update(accepted_at=NOON)
        LedgerMirror.objects.update(problem="")
        assert new_alert_titles(northlight) == []
    assert said == ["The ledger needs review"] * 3


def test_a_rule_that_rests_finds_nothing(northlight, account, rule):
    rule(AlertKind.BALANCE, 99_999, active=False)
    assert new_alert_titles(northlight) == []


def test_another_teams_accounts_cause_no_alert(northlight, otto, account, rule):
    AlertRule.objects.create(team=otto.team, kind=AlertKind.BALANCE, threshold=99_999)
    assert new_alert_titles(otto.team) == []


def test_the_usual_rules_are_given_once(northlight):
    create_default_rules(northlight)
    create_default_rules(northlight)
    assert northlight.alert_rules.count() == 12


def test_looking_takes_few_queries_however_much_there_is(
    northlight, account, priya, rule, charge, django_assert_max_num_queries
):
    create_default_rules(northlight)
    for period in ("day", "week", "month"):
        Budget.objects.create(team=northlight, member=priya.user, hard=100, period=period)
    for _ in range(5):
        charge(state=ChargeState.UNKNOWN)
    evaluate_team(northlight.pk)
    with django_assert_max_num_queries(19):
        evaluate_team(northlight.pk)
