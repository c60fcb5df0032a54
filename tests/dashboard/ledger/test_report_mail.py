"""The report of a month is mailed once to each recipient, after the month and its ledger ended."""

from __future__ import annotations

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.core import mail
from django.db import connection
from django.utils import timezone

from dashboard import tasks
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.celery import app
from dashboard.ledger.report_actions import MAX_LEDGER_WAIT, send_due_reports
from dashboard.models import (
    AlertEvent,
    AuditAction,
    AuditEvent,
    Delivery,
    Membership,
    NotificationKind,
    NotificationPreference,
)
from dashboard.shared.notifications import notify_person
from proxyapi.models import Account, LedgerMirror, StaleLedgerDay
from tests.dashboard.ledger.conftest import NOON

pytestmark = pytest.mark.postgresql

URL = "/ledger/report/"
RECIPIENTS = "/ledger/report/recipients/"
DECEMBER = datetime(2026, 12, 1, 0, 15, tzinfo=UTC)


def make_recipient(member: Membership, since: datetime = NOON) -> None:
    Membership.objects.filter(pk=member.pk).update(monthly_report_since=since)


@pytest.fixture
def ended_month(add_entry, thea, time_machine):
    """Thea is a recipient; November has ended, and its ledger was read after that."""
    add_entry("-96")
    add_entry("-4", by=None)
    make_recipient(thea)
    time_machine.move_to(DECEMBER, tick=False)
    LedgerMirror.objects.update(read_at=DECEMBER)
    return thea.team


def test_the_report_is_mailed_with_its_totals_a_link_and_the_file(ended_month, account, thea):
    Account.objects.filter(pk=account.pk).update(price_per_credit="0.5", price_currency="EUR")
    send_due_reports(ended_month.pk)
    attempt_delivery(Delivery.objects.get().pk)
    (message,) = mail.outbox
    assert message.to == ["thea@northlight.example"]
    assert message.subject == "Northlight: Report for November 2026"
    assert "Spent: 100 cr (≈ €50.00); October 2026: 0 cr." in message.body
    assert "Outside the portal: 4 cr.\n" in message.body
    assert "/ledger/report/?month=2026-11" in message.body
    assert "/account/notifications/" in message.body
    ((name, content, kind),) = message.attachments
    assert (name, kind) == ("monthly-report-2026-11.csv", "text/csv")
    rows = list(csv.DictReader(io.StringIO(content.removeprefix("\ufeff"))))
    assert (rows[0]["name"], rows[0]["credits"]) == ("Spent", "100")


def test_it_is_sent_once_however_often_the_task_runs(ended_month, time_machine):
    for _ in range(3):
        send_due_reports(ended_month.pk)
        time_machine.shift(timedelta(days=9))
    assert Delivery.objects.count() == AlertEvent.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_send_it_once(ended_month):
    start = Barrier(4)

    def run() -> None:
        start.wait(120)
        try:
            send_due_reports(ended_month.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(run) for _ in range(4)]:
            done.result(60)
    assert Delivery.objects.count() == AlertEvent.objects.count() == 1


class WorkerKilled(BaseException):
    pass


def test_a_worker_that_is_killed_between_two_people_loses_nobody(ended_month, priya, monkeypatch):
    make_recipient(priya)
    calls: list[object] = []

    def notify_then_die(*args):
        notify_person(*args)
        calls.append(args)
        if len(calls) == 2:
            raise WorkerKilled

    monkeypatch.setattr(f"{send_due_reports.__module__}.notify_person", notify_then_die)
    with pytest.raises(WorkerKilled):
        send_due_reports(ended_month.pk)
    assert Delivery.objects.count() == 1
    monkeypatch.undo()
    send_due_reports(ended_month.pk)
    assert set(Delivery.objects.values_list("address", flat=True)) == {
        "thea@northlight.example",
        "priya@northlight.example",
    }


def test_a_month_that_has_not_ended_in_the_teams_zone_is_not_sent(ended_month):
    ended_month.tenant.time_zone = "America/New_York"
    ended_month.tenant.save()
    LedgerMirror.objects.update(rollup_time_zone="America/New_York")
    send_due_reports(ended_month.pk)
    assert not AlertEvent.objects.filter(subject="2026-11").exists()


UNFINISHED = {
    "read before the end": {"read_at": DECEMBER - timedelta(minutes=20)},
    "read before late bookings": {"read_at": DECEMBER - timedelta(minutes=10)},
    "older rows are missing": {"low": 1, "high": 2},
    "it stopped": {"problem": "Row 7 changed."},
    "other days": {"rollup_time_zone": "Asia/Tokyo"},
    "never read": {"read_at": None},
}


@pytest.mark.parametrize("fields", UNFINISHED.values(), ids=UNFINISHED)
def test_it_waits_for_the_ledger_for_three_days_then_says_so(ended_month, fields, time_machine):
    LedgerMirror.objects.update(**fields)
    send_due_reports(ended_month.pk)
    assert not AlertEvent.objects.exists()
    time_machine.move_to(DECEMBER + MAX_LEDGER_WAIT, tick=False)
    send_due_reports(ended_month.pk)
    assert "amounts may be missing" in AlertEvent.objects.get().text


def test_it_waits_for_days_that_are_summed_again(ended_month, account):
    StaleLedgerDay.objects.create(account=account, day=NOON.date())
    send_due_reports(ended_month.pk)
    assert not AlertEvent.objects.exists()
    StaleLedgerDay.objects.all().delete()
    send_due_reports(ended_month.pk)
    assert "amounts may be missing" not in AlertEvent.objects.get().text


def test_who_became_a_recipient_after_the_month_gets_the_next_one(ended_month, priya):
    make_recipient(priya, DECEMBER)
    send_due_reports(ended_month.pk)
    assert list(Delivery.objects.values_list("address")) == [("thea@northlight.example",)]


def test_a_recipient_who_may_not_enter_the_team_gets_none(ended_month, priya):
    make_recipient(priya)
    Membership.objects.filter(pk=priya.pk).update(deactivated_at=NOON)
    send_due_reports(ended_month.pk)
    assert list(Delivery.objects.values_list("address")) == [("thea@northlight.example",)]


def test_a_person_can_turn_the_mail_off(ended_month, thea):
    NotificationPreference.objects.create(
        user=thea.user, kind=NotificationKind.MONTHLY_REPORT, in_portal=True, by_email=False
    )
    send_due_reports(ended_month.pk)
    assert AlertEvent.objects.visible_to(thea, money=False).count() == 1
    assert not Delivery.objects.exists()


def test_before_the_first_entry_there_is_nothing_to_report(account, thea, time_machine):
    make_recipient(thea)
    time_machine.move_to(DECEMBER, tick=False)
    LedgerMirror.objects.update(read_at=DECEMBER)
    send_due_reports(thea.team.pk)
    assert not AlertEvent.objects.exists()


def test_beat_looks_for_due_reports_of_teams_with_recipients(thea, priya, otto, monkeypatch):
    make_recipient(thea)
    make_recipient(priya)
    sent: list[str] = []
    monkeypatch.setattr(tasks.send_monthly_reports_of_team, "delay", sent.append)
    tasks.send_all_monthly_reports()
    assert sent == [str(thea.team.pk)]
    assert app.conf.beat_schedule["monthly-reports"]["task"] == tasks.send_all_monthly_reports.name


# Recipients ---------------------------------------------------------------------------------------
def choose(browser, *members, drawn="", **headers):
    chosen = {"members": [member.pk for member in members], "drawn": drawn}
    return browser.post(RECIPIENTS, chosen, **headers)


def recipients(team) -> set[str]:
    found = team.memberships.exclude(monthly_report_since=None)
    return set(found.values_list("user__name", flat=True))


def test_a_treasurer_chooses_the_recipients(add_entry, thea, priya, vera, client_of):
    add_entry("-96")
    browser = client_of(thea)
    assert "Nobody gets this report" in browser.get(URL).content.decode()
    assert choose(browser, priya, vera).status_code == 302
    assert recipients(thea.team) == {"Priya Raman", "Vera Costa"}
    assert "Priya Raman, Vera Costa" in browser.get(URL).content.decode()
    event = AuditEvent.objects.get(action=AuditAction.REPORT_RECIPIENTS)
    assert event.before == {"recipients": []}
    assert event.after == {"recipients": ["Priya Raman", "Vera Costa"]}


def test_who_stays_a_recipient_keeps_the_time_since_when(thea, priya, client_of, time_machine):
    make_recipient(priya)
    time_machine.move_to(DECEMBER, tick=False)
    choose(client_of(thea), priya, thea, drawn=f"{priya.pk}")
    priya.refresh_from_db()
    thea.refresh_from_db()
    assert (priya.monthly_report_since, thea.monthly_report_since) == (NOON, timezone.now())


def test_the_same_choice_writes_no_row(thea, priya, client_of):
    make_recipient(priya)
    choose(client_of(thea), priya, drawn=f"{priya.pk}")
    assert not AuditEvent.objects.filter(action=AuditAction.REPORT_RECIPIENTS).exists()


def test_a_change_elsewhere_is_not_overwritten_unseen(account, thea, priya, vera, client_of):
    make_recipient(vera)
    browser = client_of(thea)
    answer = choose(browser, priya)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "They are now: Vera Costa." in html
    assert f'value="{priya.pk}" checked' in html
    assert recipients(thea.team) == {"Vera Costa"}
    choose(browser, priya, drawn=f"{vera.pk}")
    assert recipients(thea.team) == {"Priya Raman"}


def test_somebody_of_another_team_cannot_be_chosen(account, thea, otto, client_of):
    answer = choose(client_of(thea), otto)
    assert answer.status_code == 422
    assert "One of them is no longer a member." in answer.content.decode()
    otto.refresh_from_db()
    assert otto.monthly_report_since is None


def test_others_see_who_gets_it_and_cannot_change_it(account, vera, priya, thea, client_of):
    make_recipient(thea)
    html = client_of(vera).get(URL).content.decode()
    assert "Thea Lindqvist" in html
    assert RECIPIENTS not in html
    assert choose(client_of(priya), priya).status_code == 403
    assert recipients(thea.team) == {"Thea Lindqvist"}


# To the reader ------------------------------------------------------------------------------------
def test_a_reader_can_have_the_report_sent_to_them(add_entry, vera, client_of):
    add_entry("-96")
    answer = client_of(vera).post("/ledger/report/mails/?month=2026-11")
    assert answer["Location"] == "/ledger/report/?month=2026-11"
    event = AlertEvent.objects.get()
    assert (event.member, event.title) == (vera.user, "Report for November 2026 so far")
    assert Delivery.objects.get().attachment
    assert AuditEvent.objects.filter(action=AuditAction.LEDGER_EXPORT).count() == 1


def test_it_is_not_sent_to_the_reader_without_end(add_entry, vera, client_of, time_machine):
    add_entry("-96")
    browser = client_of(vera)
    for second in range(4):
        time_machine.move_to(NOON + timedelta(seconds=second), tick=False)
        answer = browser.post("/ledger/report/mails/?month=2026-11", follow=True)
    assert "Too many reports were sent within a minute" in answer.content.decode()
    assert AlertEvent.objects.count() == 3


def test_what_the_reader_had_sent_does_not_replace_the_report_of_the_month(
    ended_month, thea, client_of
):
    client_of(thea).post("/ledger/report/mails/?month=2026-11")
    send_due_reports(ended_month.pk)
    assert AlertEvent.objects.filter(subject="2026-11").count() == 2
