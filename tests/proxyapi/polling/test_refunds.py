"""A clip that a look sees failed is owed what it took, whichever was known first (pitfall 45)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from proxyapi.models import Charge, ChargeState, Job, JobKind, JobState
from proxyapi.polling import due_work
from proxyapi.polling.poller import poll_job
from tests.factories import ChargeFactory
from tests.proxyapi.polling.conftest import Running, ago
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

CREATE = "text_to_video.create"


def paid(job: Job, operation: str = CREATE, cost: int | None = 6, **more: Any) -> Charge:
    state = ChargeState.CONFIRMED
    fields = {"operation": operation, "state": state, "cost": cost, "sent_at": ago(60)}
    return ChargeFactory.create(job=job, **(fields | {"applied_at": ago(59)} | more))


def poll_job_with_status(job: Job, upstream: ScriptedUpstream, status: str) -> None:
    asset = {"id": 1, "status": status, "failure": "Not allowed.", "url": "http://127.0.0.1/a.mp4"}
    upstream.respond("GET", f"/text-to-video/{job.remote_id}", make_response({"asset": asset}))
    poll_job(job.pk)
    job.refresh_from_db()


def test_pitfall_45_a_clip_that_is_paid_and_then_seen_failed_is_owed_back(
    make_running_job: Running, upstream: ScriptedUpstream
) -> None:
    job = make_running_job(kind=JobKind.CLIP)
    charge = paid(job)
    poll_job_with_status(job, upstream, "failed")
    charge.refresh_from_db()
    assert job.state == JobState.FAILED
    assert charge.refund_owed_at == pytest.approx(job.finished_at, abs=timedelta(seconds=1))


def test_a_clip_that_succeeds_is_owed_nothing(
    make_running_job: Running, upstream: ScriptedUpstream
) -> None:
    job = make_running_job(kind=JobKind.CLIP)
    charge = paid(job)
    poll_job_with_status(job, upstream, "success")
    assert due_work.mark_missed_refunds() == 0
    charge.refresh_from_db()
    assert (job.state, charge.refund_owed_at) == (JobState.COMPLETED, None)


def test_a_poll_that_cannot_record_what_is_owed_ends_nothing(
    make_running_job: Running, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both or neither: the next look sees it fail again."""

    def breaks(*_: object) -> None:
        raise RuntimeError("the database went away")

    job = make_running_job(kind=JobKind.CLIP)
    paid(job)
    monkeypatch.setattr(type(Charge.objects.all()), "mark_refund_owed", breaks)
    monkeypatch.setattr(type(Charge.objects), "mark_refund_owed", breaks)
    with pytest.raises(RuntimeError):
        poll_job_with_status(job, upstream, "failed")
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_clips_that_failed_without_a_note_are_owed_back_once(
    make_running_job: Running, django_assert_num_queries: Any
) -> None:
    ended = {"state": JobState.FAILED, "finished_at": ago(3600), "kind": JobKind.CLIP}
    first, again = make_running_job(**ended), make_running_job(**ended)
    charge, other = paid(first), paid(again, cost=9)
    paid(make_running_job(**ended, subtype="free"), cost=0)
    assert due_work.mark_missed_refunds() == 2
    charge.refresh_from_db()
    other.refresh_from_db()
    assert charge.refund_owed_at
    assert other.cost == Decimal(9)
    assert other.refund_owed_at
    with django_assert_num_queries(3):  # with the two of its savepoint
        assert due_work.mark_missed_refunds() == 0


def test_a_charge_whose_clip_nobody_knows_is_not_owed_what_another_ones_failure_took(
    make_running_job: Running,
) -> None:
    """Its answer was lost, it was paid for anew, and that one's cost is not known yet."""
    clip = make_running_job(state=JobState.FAILED, finished_at=timezone.now(), kind=JobKind.CLIP)
    orphan = paid(clip, applied_at=None, unidentified_at=ago(50))
    Charge.objects.mark_refund_owed(clip, timezone.now())
    assert due_work.mark_missed_refunds() == 0
    orphan.refresh_from_db()
    assert orphan.refund_owed_at is None


def test_pitfall_44_only_clips_are_owed_back(make_running_job: Running) -> None:
    film = make_running_job(state=JobState.FAILED, finished_at=timezone.now())
    charge = paid(film, "faceless.render")
    assert due_work.mark_missed_refunds() == 0
    charge.refresh_from_db()
    assert charge.refund_owed_at is None
