"""The end of a job of each kind is told once, by the poll that sees it first."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from proxyapi.kinds import StatusReading
from proxyapi.models import ApiEvent, Job, JobKind, JobOrigin, JobState
from proxyapi.polling.poller import apply_reading
from tests.factories import ChargeFactory
from tests.proxyapi.polling.conftest import Running

pytestmark = pytest.mark.postgresql
NAMES = {
    JobKind.FACELESS: "video",
    JobKind.CLIP: "clip",
    JobKind.STORYBOARD: "storyboard",
    JobKind.CLONE: "voice",
    JobKind.CHARACTER: "character",
}
PATHS = {
    JobKind.FACELESS: "faceless",
    JobKind.CLIP: "text-to-video",
    JobKind.STORYBOARD: "text-to-scene",
    JobKind.CLONE: "voice-clones",
    JobKind.CHARACTER: "characters",
}
FAILED = StatusReading(JobState.FAILED, "failed", "", "FACE-NOT-FOUND", "No face in “my script”.")
COMPLETED = StatusReading(JobState.COMPLETED, "completed", "http://127.0.0.1/a.mp4")


@pytest.mark.parametrize("reading", [FAILED, COMPLETED], ids=["failed", "completed"])
@pytest.mark.parametrize("kind", JobKind)
def test_each_kind_ends_with_one_event(
    make_running_job: Running, kind: JobKind, reading: StatusReading
) -> None:
    job = make_running_job(kind=kind)
    stale = Job.objects.select_related("token__account", "account").get(pk=job.pk)
    ChargeFactory.create(job=job, state="confirmed", cost=42, sent_at=timezone.now())
    for poll in (job, stale, job):
        apply_reading(poll, reading, timezone.now())
    event = ApiEvent.objects.get()
    assert event.event_type == f"{NAMES[kind]}.{reading.state}"
    assert event.member_id == job.member_id
    assert event.data == {
        "job": str(job.pk),
        "resource": job.remote_id,
        "credits": "42",
        "failure_code": reading.failure_code or None,
        "url": f"/api/v2/{PATHS[kind]}/{job.remote_id}",
        "key": None,
    }


def test_a_job_that_is_run_again_ends_again(make_running_job: Running) -> None:
    job = make_running_job()
    apply_reading(job, FAILED, timezone.now())
    Job.objects.update(state=JobState.RUNNING, finished_at=None)
    apply_reading(job, COMPLETED, timezone.now())
    types = ApiEvent.objects.order_by("happened_at").values_list("event_type", flat=True)
    assert list(types) == ["video.failed", "video.completed"]


def test_one_that_had_ended_before_it_was_imported_tells_nothing(
    make_running_job: Running,
) -> None:
    old = make_running_job(origin=JobOrigin.IMPORT, polled_at=None)
    apply_reading(old, COMPLETED, timezone.now())
    assert not ApiEvent.objects.exists()
    followed = make_running_job(origin=JobOrigin.IMPORT)
    apply_reading(followed, COMPLETED, timezone.now())
    assert ApiEvent.objects.get().data["job"] == str(followed.pk)


def test_without_its_event_an_end_is_not_stored(
    make_running_job: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: Any, **__: Any) -> None:
        raise DatabaseError("the database went away")

    monkeypatch.setattr(type(ApiEvent.objects), "record", breaks)
    job = make_running_job()
    with pytest.raises(DatabaseError):
        apply_reading(job, COMPLETED, timezone.now())
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
