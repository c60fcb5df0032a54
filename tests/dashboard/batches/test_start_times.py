"""A batch that starts later: at a time, or when the credits are free; once, or with a sentence."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard import tasks
from dashboard.alerts.member_notifications import notify_members
from dashboard.batches import actions, start_times
from dashboard.batches.start_times import start_when_due
from dashboard.models import (
    AlertEvent,
    AuditEvent,
    Batch,
    BatchState,
    Budget,
    Membership,
)
from dashboard.shared.start_times import CREDITS_NOT_FREE, StartTime
from proxyapi.models import Account, Charge, DatabaseEpoch, Tenant
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.batches.conftest import advance, dry_run, hidden_fields, states, topics

pytestmark = pytest.mark.postgresql


def schedule(by: Membership, batch: Batch, start: StartTime) -> Batch:
    run = dry_run(by, batch)
    seen, version = run.total.usual, actions.dry_run_version(run)
    return actions.start_batch(by=by, batch=batch, seen=seen, version=version, start=start)


def at(batch: Batch, **ahead: int) -> StartTime:
    return StartTime(timezone.now() + timedelta(**ahead))


def when_credits_allow() -> StartTime:
    now = timezone.now()
    return StartTime(now, now + timedelta(days=14))


def time_comes(batch: Batch) -> Batch:
    """Its time has come, and a sweep looks at it, twice as two workers would."""
    Batch.objects.filter(pk=batch.pk, starts_at__gt=timezone.now()).update(starts_at=timezone.now())
    for _ in range(2):
        start_when_due(batch.pk)
    return Batch.objects.get(pk=batch.pk)


def actions_of(batch: Batch) -> list[str]:
    rows = AuditEvent.objects.filter(target=str(batch.pk)).order_by("pk")
    return list(rows.values_list("action", flat=True))


@pytest.fixture
def scheduled(make_batch, priya) -> Batch:
    """Three videos of up to 131 credits, in two hours."""
    batch = make_batch(*topics(3))
    return schedule(priya, batch, at(batch, hours=2))


def test_nothing_is_sent_before_its_time(scheduled):
    start_when_due(scheduled.pk)
    batch = advance(scheduled)
    assert batch.state == BatchState.SCHEDULED
    assert states(batch) == ["waiting"] * 3
    assert not Charge.objects.filter(job__batch_row__batch=batch).exists()


def test_it_starts_once_at_its_time(scheduled):
    batch = time_comes(scheduled)
    assert (batch.state, batch.starts_at, batch.max_credits) == ("running", None, 393)
    assert actions_of(batch)[-2:] == ["batch.schedule", "batch.start"]
    assert states(advance(batch)) == ["begun", "begun", "waiting"]


def test_the_sweep_starts_what_is_due(scheduled, monkeypatch):
    started: list[str] = []
    monkeypatch.setattr(tasks.start_batch, "delay", started.append)
    tasks.sweep_batches()
    assert not started
    Batch.objects.update(starts_at=timezone.now())
    tasks.sweep_batches()
    assert started == [str(scheduled.pk)]


def credits_are_gone(batch):
    Account.objects.update(balance=Decimal(100))


def budget_is_small(batch):
    Budget.objects.create(team=batch.team, member=batch.member, period="month", hard=60)


def charges_are_stopped(batch):
    Tenant.objects.update(
        charges_stopped_at=timezone.now(), charges_stopped_by="Mira", charge_stop_reason="Audit"
    )


def member_leaves(batch):
    Membership.objects.filter(user=batch.member).update(deactivated_at=timezone.now())


def database_is_restored(batch):
    DatabaseEpoch.objects.create(number=DatabaseEpoch.objects.get_or_create_current().number + 1)


@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (credits_are_gone, "Not sent. It needs 393 cr; 100 are free."),
        (budget_is_small, "Not sent."),
        (charges_are_stopped, "Not sent. Mira stopped all charges"),
        (member_leaves, "Priya is no longer in the team"),
        (database_is_restored, "The database was restored from a backup."),
    ],
)
def test_what_stands_in_its_way_at_the_time_pauses_it_and_tells_its_member(
    scheduled, happen, reason
):
    happen(scheduled)
    batch = time_comes(scheduled)
    assert (batch.state, states(batch)) == ("paused", ["waiting"] * 3)
    assert batch.pause_reason.startswith(reason)
    for _ in range(2):
        notify_members(batch.team_id)
    told = AlertEvent.objects.filter(notification="batch_ended").count()
    assert told == (0 if happen is member_leaves else 1)  # who left is not told


def test_it_waits_until_the_credits_carry_all_of_it(make_batch, priya):
    Account.objects.update(balance=Decimal(392))
    batch = schedule(priya, make_batch(*topics(3)), when_credits_allow())
    assert time_comes(batch).state == BatchState.SCHEDULED
    Account.objects.update(balance=Decimal(393))
    assert time_comes(batch).state == BatchState.RUNNING


@pytest.mark.parametrize("happen", [budget_is_small, charges_are_stopped])
def test_it_waits_for_budgets_and_for_the_end_of_a_stop(make_batch, priya, happen):
    batch = schedule(priya, make_batch(*topics(3)), when_credits_allow())
    happen(batch)
    assert time_comes(batch).state == BatchState.SCHEDULED
    Budget.objects.all().delete()
    Tenant.objects.update(charges_stopped_at=None, charges_stopped_by="", charge_stop_reason="")
    assert time_comes(batch).state == BatchState.RUNNING


def test_it_gives_up_after_two_weeks(make_batch, priya):
    Account.objects.update(balance=Decimal(10))
    batch = schedule(priya, make_batch(*topics(3)), when_credits_allow())
    Batch.objects.update(gives_up_at=timezone.now())
    batch = time_comes(batch)
    assert (batch.state, batch.pause_reason) == ("paused", CREDITS_NOT_FREE)
    notify_members(batch.team_id)
    assert AlertEvent.objects.filter(notification="batch_ended").count() == 1


def test_its_member_starts_it_now(scheduled, priya, luca):
    with pytest.raises(Exception, match="Only Priya can do this"):
        start_times.start_now(by=luca, batch=scheduled)
    Account.objects.update(balance=Decimal(100))
    with pytest.raises(Refusal, match="100 are free"):
        start_times.start_now(by=priya, batch=scheduled)
    scheduled.refresh_from_db()
    assert scheduled.state == BatchState.SCHEDULED
    Account.objects.update(balance=Decimal(900))
    start_times.start_now(by=priya, batch=scheduled)
    assert advance(scheduled).state == BatchState.RUNNING
    with pytest.raises(StaleData):
        start_times.start_now(by=priya, batch=scheduled)


def test_a_cancelled_start_makes_it_a_draft_again(scheduled, luca):
    start_times.cancel_start(by=luca, batch=scheduled)
    batch = time_comes(scheduled)
    assert (batch.state, batch.started_at, batch.max_credits) == ("draft", None, None)
    assert states(batch) == ["new"] * 3
    with pytest.raises(StaleData):
        start_times.cancel_start(by=luca, batch=scheduled)


def test_its_limit_stays_if_a_person_entered_one(make_batch, priya):
    batch = make_batch(*topics(3), max_credits=Decimal(200))
    batch = schedule(priya, batch, at(batch, hours=2))
    start_times.cancel_start(by=priya, batch=batch)
    assert Batch.objects.get().max_credits == 200


def test_a_scheduled_batch_is_not_changed(scheduled, priya):
    with pytest.raises(StaleData, match="has started"):
        actions.change_row(by=priya, batch=scheduled, number=1, cells={0: "Another lake"})


def test_the_question_asks_when_and_the_pages_say_so(make_batch, priya, client_of):
    batch, browser = make_batch(*topics(3)), client_of(priya)
    priya.team.tenant.time_zone = "Europe/Berlin"
    priya.team.tenant.save()
    url = f"/batches/{batch.pk}/starts/"
    question = browser.get(url).content.decode()
    assert "In Europe/Berlin." in question
    year = timezone.now().year + 1
    fields = {**hidden_fields(question), "when": "at", "at": f"{year}-01-04T09:00"}
    past = browser.post(url, {**fields, "at": "2020-01-04T09:00"}).content.decode()
    assert "This time is in the past." in past
    assert 'value="2020-01-04T09:00"' in past
    missing = browser.post(url, {**fields, "at": ""}).content.decode()
    assert "Enter a date and a time" in missing
    assert browser.post(url, fields)["Location"] == f"/batches/{batch.pk}/"
    text = f"Starts on 4 Jan {year}, 09:00 Europe/Berlin"
    assert text in browser.get(f"/batches/{batch.pk}/").content.decode()
    assert text in browser.get("/batches/").content.decode()
    dialog = browser.get(f"/batches/{batch.pk}/start-times/").content.decode()
    assert "up to 393 cr, as confirmed" in dialog
    browser.post(f"/batches/{batch.pk}/start-times/", {"now": "1"})
    assert Batch.objects.get().state == BatchState.RUNNING
    assert browser.get(f"/batches/{batch.pk}/start-times/").status_code == 302


def test_without_free_credits_it_can_only_start_later(make_batch, priya, client_of):
    batch, browser = make_batch(*topics(3)), client_of(priya)
    Account.objects.update(balance=Decimal(100))
    url = f"/batches/{batch.pk}/starts/"
    question = browser.get(url).content.decode()
    assert 'value="now" disabled' in question
    refused = browser.post(url, {**hidden_fields(question), "when": "now"})
    assert "100 are free" in refused.content.decode()
    browser.post(url, {**hidden_fields(question), "when": "credits"})
    page = browser.get(f"/batches/{batch.pk}/").content.decode()
    assert "Starts when the credits are free." in page


def test_an_approval_keeps_the_time(make_batch, priya, thea, client_of):
    batch, browser = make_batch(*topics(3)), client_of(priya)
    priya.team.second_person_above = Decimal(200)
    priya.team.save()
    url = f"/batches/{batch.pk}/starts/"
    fields = {**hidden_fields(browser.get(url).content.decode()), "ask": "", "note": ""}
    year = timezone.now().year + 1
    browser.post(url, {**fields, "when": "at", "at": f"{year}-01-04T09:00"})
    page = client_of(thea).get(f"/batches/{batch.pk}/").content.decode()
    assert f"Starts on 4 Jan {year}" in page
    approval = f"/batches/{batch.pk}/approvals/"
    question = client_of(thea).get(approval).content.decode()
    client_of(thea).post(approval, hidden_fields(question))
    batch.refresh_from_db()
    assert (batch.state, batch.approved_by) == ("scheduled", thea.user)
    assert time_comes(batch).state == BatchState.RUNNING
