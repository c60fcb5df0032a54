"""Looking again: who may have the service asked once more, when it is offered, and what is said."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from dashboard.library.queries.buttons import video_page_actions
from dashboard.library.views.videos import CHECK_QUEUED_TEXT
from dashboard.models import AuditEvent
from dashboard.shared import recheck
from dashboard.shared.recheck import RECHECK_STARTED
from proxyapi.models import Job, JobState, TokenState
from proxyapi.models.job import MAX_JOB_CRASHES
from proxyapi.refusals import StaleData, TokenRefused
from tests.dashboard.library.conftest import ago

FAR = timezone.now() + timedelta(days=3650)


def press_check_again(client, job):
    """What is said after the press, and what the job became."""
    answer = client.post(f"/videos/{job.pk}/checks/")
    assert (answer.status_code, answer.url) == (302, f"/videos/{job.pk}/")
    job.refresh_from_db()
    return [str(one) for one in get_messages(answer.wsgi_request)]


def labels(job, reader, state, charges=()):
    return [button.label for button in video_page_actions(job, charges, state, reader)]


@pytest.mark.parametrize("why", [{"failures": MAX_JOB_CRASHES}, {"next_poll_at": FAR}])
def test_a_quarantined_video_is_polled_again(why, make_video_job, thea, client_of):
    job = make_video_job("running", poll_error="Looking stopped.", **why)
    assert job.is_polling_stopped
    assert press_check_again(client_of(thea), job) == [CHECK_QUEUED_TEXT]
    assert not job.is_polling_stopped
    assert (job.state, job.poll_error) == (JobState.RUNNING, "")
    assert job.next_poll_at <= timezone.now() + timedelta(seconds=5)
    event = AuditEvent.objects.get(action="video.recheck")
    assert (event.actor_id, event.target) == (str(thea.user_id), str(job.pk))


def test_pressed_again_and_again_it_is_not_put_off(make_video_job, priya, client_of):
    job = make_video_job("running")
    soon = timezone.now() + timedelta(seconds=1)
    Job.objects.filter(pk=job.pk).update(next_poll_at=soon)
    for _ in range(3):
        press_check_again(client_of(priya), job)
    assert job.next_poll_at == soon


def test_a_charge_without_an_answer_is_reconciled_and_not_sent(
    make_video_job, add_open_charge, priya, client_of
):
    job = make_video_job("draft")
    charge = add_open_charge(job, "unknown", sent_at=ago(3600), due_at=ago(-500))
    assert press_check_again(client_of(priya), job) == [RECHECK_STARTED]
    charge.refresh_from_db()
    assert (charge.state, charge.attempts) == ("unknown", 0)
    assert charge.due_at <= timezone.now()


def test_one_that_is_being_read_just_now_is_not_read_twice(make_video_job, add_open_charge, priya):
    charge = add_open_charge(make_video_job("draft"), "unknown", due_at=ago(-20))
    recheck.recheck_charge(by=priya, charge=charge)
    before = charge.due_at
    charge.refresh_from_db()
    assert charge.due_at == before


@pytest.mark.parametrize("state", ["draft", "completed", "failed"])
def test_where_nothing_is_open_there_is_nothing_to_check(state, make_video_job, priya, client_of):
    assert press_check_again(client_of(priya), make_video_job(state)) == [recheck.ALREADY_SETTLED]
    assert not AuditEvent.objects.exists()


def test_a_token_that_does_not_work_asks_nothing(make_video_job, token, priya, client_of):
    type(token).objects.update(state=TokenState.REVOKED)
    job = make_video_job("running", failures=MAX_JOB_CRASHES)
    assert press_check_again(client_of(priya), job) == [recheck.ACCOUNT_UNREACHABLE]
    assert job.failures == MAX_JOB_CRASHES


def test_a_viewer_has_the_service_asked_nothing(make_video_job, add_open_charge, vera):
    job = make_video_job("running", failures=MAX_JOB_CRASHES)
    charge = add_open_charge(job, "unknown")
    for act in (
        lambda: recheck.recheck_job(by=vera, job=job),
        lambda: recheck.recheck_charge(by=vera, charge=charge),
    ):
        with pytest.raises(PermissionDenied):
            act()
    assert "Check again" not in labels(job, vera, "running")


def test_a_settled_charge_is_not_reconciled_again(make_video_job, add_settled_charge, priya):
    with pytest.raises(StaleData):
        recheck.recheck_charge(by=priya, charge=add_settled_charge(make_video_job("completed")))


def test_nor_one_whose_token_is_gone(make_video_job, add_open_charge, token, priya):
    charge = add_open_charge(make_video_job("draft"), "unknown")
    charge.token.state = TokenState.REMOVED
    with pytest.raises(TokenRefused):
        recheck.recheck_charge(by=priya, charge=charge)


def test_the_button_is_shown_where_polling_stopped_or_learned_nothing(make_video_job, thea):
    assert "Check again" not in labels(make_video_job("running"), thea, "running")
    for job in (
        make_video_job("running", poll_error="No answer."),
        make_video_job("running", failures=MAX_JOB_CRASHES),
    ):
        assert "Check again" in labels(job, thea, "running")
    assert "Check again" in labels(make_video_job("running"), thea, "late")


def test_an_unknown_charge_has_it_once_fast_polling_ended(
    make_video_job, add_open_charge, thea, client_of
):
    job = make_video_job("draft")
    charge = add_open_charge(job, "unknown", sent_at=ago(60))
    assert "Check again" not in labels(job, thea, "unknown", [charge])
    charge.sent_at = ago(3600)
    charge.save()
    assert "Check again" in labels(job, thea, "unknown", [charge])
    page = client_of(thea).get(f"/videos/{job.pk}/").content.decode()
    assert f'action="/videos/{job.pk}/checks/"' in page
    assert "A treasurer or owner decides." in page
    assert "at the latest by" not in page
