"""A video that no longer moves: what is said of it, who is told, and its retry."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.alerts.default_rules import create_default_rules
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind, Membership, Team
from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.polling.poller import poll_soon
from tests.dashboard.library.conftest import MakeVideoJob, ago
from tests.dashboard.library.test_stale_retries import HTMX, fields, url
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

pytestmark = pytest.mark.postgresql

BOTH_CHARGED = "A retry is charged again, and both may be charged."


@pytest.fixture
def stalled(make_video_job: MakeVideoJob, add_settled_charge: Callable[..., Charge]) -> Job:
    times = {"started_at": ago(900), "status_since": ago(800), "stalled_at": ago(100)}
    soon = timezone.now() + timedelta(minutes=2)
    job = make_video_job(
        "running", raw_status="modified", remote_id="7", next_poll_at=soon, **times
    )
    add_settled_charge(job)
    return job


def test_page_card_and_dialog_say_that_it_no_longer_moves(
    stalled: Job, priya: Membership, client_of: Callable[[Membership], Any]
) -> None:
    client = client_of(priya)
    page = client.get(reverse("video", args=[stalled.pk])).content.decode()
    assert "No longer moving" in page
    assert "The service has said “modified” since" in page
    assert "Check again" in client.get(f"/videos/{stalled.pk}/actions/").content.decode() + page
    assert "Still “modified” after 15 min" in client.get(reverse("library")).content.decode()
    dialog = client.get(url(stalled), headers=HTMX).content.decode()
    assert BOTH_CHARGED in dialog


def test_it_is_alerted_once_for_each_run_however_often_somebody_checks(
    stalled: Job, northlight: Team
) -> None:
    create_default_rules(northlight)
    for _ in range(2):
        evaluate_team(northlight.pk)
        poll_soon(stalled)
        Job.objects.update(stalled_at=timezone.now())
    event = AlertEvent.objects.get(rule__kind=AlertKind.STALLED_JOB)
    assert (event.title, event.member) == (
        "“How to read a glacier” no longer moves",
        stalled.member,
    )


@pytest.mark.parametrize("word", ["modified", "rendering"])
def test_a_retry_of_it_is_sent_once_at_the_confirmed_price_and_starts_a_new_run(
    word: str,
    stalled: Job,
    priya: Membership,
    client_of: Callable[[Membership], Any],
    upstream: ScriptedUpstream,
) -> None:
    Job.objects.update(raw_status=word)
    record = {"id": 7, "video": {"status": word, "url": None, "failure": None}}
    upstream.respond("GET", "/faceless/7", make_response(record))
    upstream.respond("POST", "/faceless/7/retry", charged_response({"id": 7}, 96))
    client = client_of(priya)
    client.post(url(stalled), fields(client.get(url(stalled), headers=HTMX)))
    charge = Charge.objects.get(operation="faceless.retry")
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    started_at = stalled.started_at
    stalled.refresh_from_db()
    assert (charge.state, len(upstream.request_bodies("POST", "/faceless/7/retry"))) == (
        ChargeState.CONFIRMED,
        1,
    )
    assert (stalled.state, stalled.is_stalled) == (JobState.RUNNING, False)
    assert stalled.started_at != started_at


def test_a_retry_is_not_sent_once_it_moves_again(
    stalled: Job,
    priya: Membership,
    client_of: Callable[[Membership], Any],
    upstream: ScriptedUpstream,
) -> None:
    record = {"id": 7, "video": {"status": "rendering", "url": None, "failure": None}}
    upstream.respond("GET", "/faceless/7", make_response(record))
    client = client_of(priya)
    client.post(url(stalled), fields(client.get(url(stalled), headers=HTMX)))
    charge = Charge.objects.get(operation="faceless.retry")
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert upstream.request_bodies("POST", "/faceless/7/retry") == []
