"""A draft whose making is not answered may be there all the same, where nobody finds it again:
it is tried three times at most before a person is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from proxyapi import calls
from proxyapi.charges import dispatch_charge
from proxyapi.kinds import faceless_draft
from proxyapi.models import Charge, ChargeState, Draft, Job
from proxyapi.polling import due_work
from proxyapi.rate_limiter import Permit
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
WANTED = {"type": "ai-visuals", "title": "Ice", "script": "It moves.", "voice_id": 3, "genre_id": 2}
LOST = [httpx.ReadTimeout, httpx.Response(502), make_response({"no": "id"}, 201)]


@pytest.fixture(autouse=True)
def _requests_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count of requests goes by the clock of Redis, which nobody turns."""
    monkeypatch.setattr(calls, "acquire_permit", lambda *_, **__: Permit(True, 0.0))


@pytest.fixture
def job(db: None) -> Job:
    return JobFactory.create(draft__settings=WANTED, remote_id=None)


@pytest.fixture
def charge(job: Job) -> Charge:
    times = dict.fromkeys(("created_at", "held_at", "due_at"), NOON)
    return ChargeFactory.create(job=job, state=ChargeState.HELD, **times)


def go_on(clock: Any, minutes: float, step: int = 5) -> None:
    """As the tick would, each `step` seconds: what is due is sent."""
    for second in range(0, round(minutes * 60), step):
        clock.move_to(NOON + timedelta(seconds=second), tick=False)
        for charge_id, _ in due_work.lease_due_charges():
            dispatch_charge(charge_id)


@pytest.mark.parametrize("lost", LOST, ids=["a time-out", "a 502", "an answer without an id"])
def test_a_charge_leaves_three_drafts_at_most_and_then_a_person_decides(
    lost: Any, job: Job, charge: Charge, upstream: ScriptedUpstream, time_machine: Any
) -> None:
    upstream.respond("POST", "/faceless", lost)
    go_on(time_machine, 20, step=30)
    charge.refresh_from_db()
    assert len(upstream.request_bodies("POST", "/faceless")) == 3
    assert charge.state == ChargeState.REFUSED
    assert "did not respond to 3 attempts to create this draft" in charge.reason


def test_one_lost_answer_is_tried_again_half_a_minute_later(
    job: Job, charge: Charge, upstream: ScriptedUpstream, time_machine: Any
) -> None:
    upstream.respond("POST", "/faceless", httpx.ReadTimeout, make_response({"id": 7}, 201))
    upstream.respond("GET", "/faceless/7", make_response({"id": 7}))
    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7}))
    upstream.respond("POST", "/faceless/7/render", make_response({"id": 7}, 202))
    go_on(time_machine, 0.8)
    charge.refresh_from_db()
    assert charge.sent_at is not None
    assert 30 <= (charge.sent_at - NOON).total_seconds() <= 42
    assert len(upstream.request_bodies("POST", "/faceless")) == 2


def test_a_service_that_is_not_reached_at_all_leaves_nothing_and_is_tried_on(
    job: Job, charge: Charge, upstream: ScriptedUpstream, time_machine: Any
) -> None:
    upstream.respond("POST", "/faceless", httpx.ConnectError)
    go_on(time_machine, 2)
    assert len(upstream.request_bodies("POST", "/faceless")) >= 10
    job.refresh_from_db()
    assert job.draft.unanswered_creates == 0


def test_prices_asked_again_and_again_leave_no_more(
    job: Job, upstream: ScriptedUpstream, time_machine: Any
) -> None:
    upstream.respond("POST", "/faceless", httpx.ReadTimeout)
    for second in range(0, 900, 30):
        time_machine.move_to(NOON + timedelta(seconds=second), tick=False)
        faceless_draft.quote_draft(Job.objects.get(pk=job.pk))
    job.refresh_from_db()
    assert len(upstream.request_bodies("POST", "/faceless")) == 3
    assert "did not respond to 3 attempts" in job.draft.quote_error


def test_ten_minutes_later_a_person_may_have_it_tried_once_more(
    job: Job, upstream: ScriptedUpstream, time_machine: Any
) -> None:
    upstream.respond("POST", "/faceless", make_response({"id": 7}, 201))
    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7}))
    upstream.respond("GET", "/faceless/7/estimate", make_response({"credits": 96}))
    again_at = NOON + timedelta(minutes=10)
    Draft.objects.update(unanswered_creates=3, create_retry_at=again_at)
    for at, tries in ((again_at - timedelta(seconds=1), 0), (again_at, 1)):
        time_machine.move_to(at, tick=False)
        faceless_draft.quote_draft(Job.objects.get(pk=job.pk))
        assert len(upstream.request_bodies("POST", "/faceless")) == tries
