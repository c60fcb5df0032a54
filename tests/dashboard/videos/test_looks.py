"""Looking again: who may have the service asked once more, when it is offered, and what is said."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from dashboard.actions import looks
from dashboard.actions.looks import LOOKED_FOR
from dashboard.models import AuditEvent
from dashboard.queries.videos.acts import page_acts
from dashboard.views.library import LOOKED_AT
from proxyapi.models import Job, JobState, TokenState
from proxyapi.models.job import MAX_JOB_CRASHES
from proxyapi.refusals import StaleData, TokenRefused
from tests.dashboard.videos.conftest import ago

FAR = timezone.now() + timedelta(days=3650)


def pressed(client, job):
    """What is said after the press, and what the job became."""
    answer = client.post(f"/videos/{job.pk}/looks/")
    assert (answer.status_code, answer.url) == (302, f"/videos/{job.pk}/")
    job.refresh_from_db()
    return [str(one) for one in get_messages(answer.wsgi_request)]


def labels(job, reader, state, charges=()):
    return [button.label for button in page_acts(job, charges, state, reader)]


@pytest.mark.parametrize("why", [{"crashes": MAX_JOB_CRASHES}, {"next_look_at": FAR}])
def test_a_parked_video_is_looked_at_again(why, film, thea, client_of):
    job = film("running", look_error="Looking stopped.", **why)
    assert job.left_alone
    assert pressed(client_of(thea), job) == [LOOKED_AT]
    assert not job.left_alone
    assert (job.state, job.look_error) == (JobState.RUNNING, "")
    assert job.next_look_at <= timezone.now() + timedelta(seconds=5)
    event = AuditEvent.objects.get(action="video.look_again")
    assert (event.actor, event.target) == (thea.user, str(job.pk))


def test_pressed_again_and_again_it_is_not_put_off(film, priya, client_of):
    job = film("running")
    soon = timezone.now() + timedelta(seconds=1)
    Job.objects.filter(pk=job.pk).update(next_look_at=soon)
    for _ in range(3):
        pressed(client_of(priya), job)
    assert job.next_look_at == soon


def test_a_charge_without_an_answer_is_looked_for_and_not_sent(film, hold, priya, client_of):
    job = film("draft")
    charge = hold(job, "unknown", sent_at=ago(3600), due_at=ago(-500))
    assert pressed(client_of(priya), job) == [LOOKED_FOR]
    charge.refresh_from_db()
    assert (charge.state, charge.tries) == ("unknown", 0)
    assert charge.due_at <= timezone.now()


def test_one_that_is_being_read_just_now_is_not_read_twice(film, hold, priya):
    charge = hold(film("draft"), "unknown", due_at=ago(-20))
    looks.look_for(by=priya, charge=charge)
    before = charge.due_at
    charge.refresh_from_db()
    assert charge.due_at == before


@pytest.mark.parametrize("state", ["draft", "completed", "failed"])
def test_where_nothing_is_open_there_is_nothing_to_look_for(state, film, priya, client_of):
    assert pressed(client_of(priya), film(state)) == [looks.ENDED]
    assert not AuditEvent.objects.exists()


def test_a_token_that_does_not_work_asks_nothing(film, token, priya, client_of):
    type(token).objects.update(state=TokenState.REVOKED)
    job = film("running", crashes=MAX_JOB_CRASHES)
    assert pressed(client_of(priya), job) == [looks.UNUSABLE]
    assert job.crashes == MAX_JOB_CRASHES


def test_a_viewer_has_the_service_asked_nothing(film, hold, vera):
    job = film("running", crashes=MAX_JOB_CRASHES)
    charge = hold(job, "unknown")
    for act in (
        lambda: looks.look_at(by=vera, job=job),
        lambda: looks.look_for(by=vera, charge=charge),
    ):
        with pytest.raises(PermissionDenied):
            act()
    assert "Look again" not in labels(job, vera, "running")


def test_a_settled_charge_is_not_looked_for(film, spend, priya):
    with pytest.raises(StaleData):
        looks.look_for(by=priya, charge=spend(film("completed")))


def test_nor_one_whose_token_is_gone(film, hold, token, priya):
    charge = hold(film("draft"), "unknown")
    charge.token.state = TokenState.REMOVED
    with pytest.raises(TokenRefused):
        looks.look_for(by=priya, charge=charge)


def test_the_button_stands_where_looking_stopped_or_told_nothing(film, thea):
    assert "Look again" not in labels(film("running"), thea, "running")
    for job in (film("running", look_error="No answer."), film("running", crashes=MAX_JOB_CRASHES)):
        assert "Look again" in labels(job, thea, "running")
    assert "Look again" in labels(film("running"), thea, "late")


def test_an_unknown_charge_has_it_once_nobody_looks_every_few_seconds(film, hold, thea, client_of):
    job = film("draft")
    charge = hold(job, "unknown", sent_at=ago(60))
    assert "Look again" not in labels(job, thea, "unknown", [charge])
    charge.sent_at = ago(3600)
    charge.save()
    assert "Look again" in labels(job, thea, "unknown", [charge])
    page = client_of(thea).get(f"/videos/{job.pk}/").content.decode()
    assert f'action="/videos/{job.pk}/looks/"' in page
    assert "The treasurer or the owner decides." in page
    assert "at the latest by" not in page
