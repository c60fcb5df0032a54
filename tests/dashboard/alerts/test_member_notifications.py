"""What one person is notified of, where they chose it, once for each event."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.db import IntegrityError, transaction

from dashboard import tasks
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.alerts.member_notifications import notify_members
from dashboard.models import (
    AlertEvent,
    ApprovalRequest,
    Delivery,
    NotificationKind,
    NotificationPreference,
)
from proxyapi.models import JobState, TokenState
from tests.dashboard.alerts.conftest import NOON
from tests.factories import ChargeFactory, JobFactory

pytestmark = pytest.mark.postgresql


@pytest.fixture
def video(token, priya):
    def make(state=JobState.COMPLETED, **fields):
        return JobFactory.create(
            account=token.account,
            token=token,
            member=priya.user,
            title="Whales in fog",
            remote_id="7",
            **{"state": state, "finished_at": NOON - timedelta(minutes=1), **fields},
        )

    return make


@pytest.fixture
def choose(priya):
    def save(kind, *, in_portal, by_email):
        NotificationPreference.objects.create(
            user=priya.user, kind=kind, in_portal=in_portal, by_email=by_email
        )

    return save


def notified(member):
    rows = AlertEvent.objects.visible_to(member, money=False).order_by("happened_at")
    return list(rows.values_list("title", flat=True))


def test_a_finished_video_is_told_its_maker_in_the_portal_once(northlight, video, priya, luca):
    video()
    for _ in range(2):
        notify_members(northlight.pk)
    assert notified(priya) == ["“Whales in fog” is done"]
    assert notified(luca) == []
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    ("polled_at", "titles"),
    [(None, []), (NOON - timedelta(minutes=2), ["“Whales in fog” is done"])],
)
def test_an_imported_one_is_told_if_it_was_still_running(
    polled_at, titles, northlight, video, priya
):
    video(origin="import", polled_at=polled_at)
    notify_members(northlight.pk)
    assert notified(priya) == titles


def test_a_failed_one_is_told_with_the_services_reason(northlight, video, priya):
    video(JobState.FAILED, failure_message="Image 7 failed")
    notify_members(northlight.pk)
    event = AlertEvent.objects.get()
    assert (event.title, event.text) == ("“Whales in fog” failed", "“Image 7 failed”")
    assert event.notification == NotificationKind.VIDEO_FAILED


def test_a_retry_that_ends_is_another_event(northlight, video, priya):
    job = video(JobState.FAILED)
    notify_members(northlight.pk)
    job.state, job.finished_at = JobState.COMPLETED, NOON
    job.save()
    notify_members(northlight.pk)
    assert set(notified(priya)) == {"“Whales in fog” failed", "“Whales in fog” is done"}


@pytest.mark.parametrize(
    "fields",
    [
        {"state": JobState.RUNNING, "finished_at": None, "next_poll_at": NOON},
        {"finished_at": NOON - timedelta(hours=2)},
        {"hidden_at": NOON},
        {"origin": "gateway"},
        {"kind": "clone"},
    ],
    ids=["running", "long ago", "hidden", "of a script", "a voice"],
)
def test_nothing_else_is_told(northlight, video, fields):
    video(**fields)
    notify_members(northlight.pk)
    assert not AlertEvent.objects.exists()


def test_by_email_only_it_is_not_listed(northlight, video, priya, choose):
    choose(NotificationKind.VIDEO_DONE, in_portal=False, by_email=True)
    video()
    notify_members(northlight.pk)
    assert notified(priya) == []
    attempt_delivery(Delivery.objects.get().pk)
    (message,) = mail.outbox
    assert message.to == [priya.user.email]
    assert "“Whales in fog” is done" in message.subject
    assert "/account/notifications/" in message.body


def test_what_is_off_is_not_told_later_when_it_is_switched_on(northlight, video, priya, choose):
    choose(NotificationKind.VIDEO_DONE, in_portal=False, by_email=False)
    video()
    notify_members(northlight.pk)
    NotificationPreference.objects.update(in_portal=True, by_email=True)
    notify_members(northlight.pk)
    assert notified(priya) == []
    assert not Delivery.objects.exists()


def test_an_answer_is_told_the_requester_by_email_too(northlight, video, priya, thea, luca):
    charge = ChargeFactory.create(job=video(JobState.DRAFT, finished_at=None), state="refused")
    ApprovalRequest.objects.create(
        team=northlight,
        charge=charge,
        member=priya.user,
        decision="declined",
        answer="No.",
        decided_by=thea.user,
        decided_at=NOON,
    )
    for _ in range(2):
        notify_members(northlight.pk)
    assert notified(priya) == [f"Thea declined {charge.hold:.0f} cr"]
    assert notified(luca) == []
    assert Delivery.objects.get().address == priya.user.email


def test_a_token_that_stopped_is_told_its_owner(northlight, token, priya):
    token.state, token.state_since = TokenState.REVOKED, NOON
    token.save()
    for _ in range(2):
        notify_members(northlight.pk)
    assert notified(priya) == [f"Your token …{token.last_four} stopped working"]
    assert Delivery.objects.count() == 1


def test_a_mail_is_kept_while_the_mail_server_is_away_and_sent_once(
    northlight, token, priya, time_machine, monkeypatch
):
    token.state, token.state_since = TokenState.REVOKED, NOON
    token.save()
    notify_members(northlight.pk)
    delivery = Delivery.objects.get()
    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", raise_connection_refused)
        attempt_delivery(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("due", 1)
    time_machine.move_to(NOON + timedelta(minutes=1), tick=False)
    for _ in range(2):
        attempt_delivery(delivery.pk)
    assert len(mail.outbox) == 1


def raise_connection_refused(_):
    raise ConnectionRefusedError


@pytest.mark.parametrize("ending", ["left", "switched off", "hidden"])
def test_nothing_is_mailed_that_the_person_may_not_see_any_more(
    northlight, video, priya, choose, ending
):
    choose(NotificationKind.VIDEO_DONE, in_portal=True, by_email=True)
    job = video()
    notify_members(northlight.pk)
    if ending == "left":
        priya.delete()
    elif ending == "switched off":
        priya.user.is_active = False
        priya.user.save()
    else:
        job.hidden_at = NOON
        job.save()
    delivery = Delivery.objects.get()
    attempt_delivery(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.state == "failed"
    assert not mail.outbox


def test_who_left_before_is_not_notified(northlight, video, priya):
    video()
    priya.delete()
    notify_members(northlight.pk)
    assert not AlertEvent.objects.exists()


def test_the_task_that_evaluates_alerts_notifies_members(northlight, video, priya):
    video()
    tasks.evaluate_alerts(str(northlight.pk))
    assert notified(priya) == ["“Whales in fog” is done"]


def test_the_database_keeps_an_event_from_being_notified_twice(northlight, priya):
    fields = {"team": northlight, "member": priya.user, "subject": "x", "period": "y"}
    AlertEvent.objects.create(notification="video_done", **fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        AlertEvent.objects.create(notification="video_done", **fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        AlertEvent.objects.create(notification="video_done", team=northlight, subject="z")
