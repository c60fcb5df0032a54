"""Who may poll a job: who holds its lease, or anybody once it is due."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from proxyapi.models import Job, JobState
from proxyapi.polling.poller import claim_poll
from tests.factories import JobFactory

pytestmark = pytest.mark.postgresql


@pytest.mark.django_db
@pytest.mark.parametrize(("due_in_s", "is_claimed"), [(-1, True), (60, False)])
def test_without_a_lease_only_a_due_job_is_claimed(due_in_s: int, is_claimed: bool) -> None:
    now = timezone.now()
    job = JobFactory.create(
        remote_id="7",
        state=JobState.RUNNING,
        started_at=now,
        polled_at=now,
        next_poll_at=now + timedelta(seconds=due_in_s),
    )
    assert claim_poll(job, None) is is_claimed
    assert (Job.objects.get().next_poll_at != job.next_poll_at) is is_claimed


@pytest.mark.django_db
def test_a_lease_is_used_once() -> None:
    now = timezone.now()
    until = now + timedelta(seconds=15)
    running = {"state": JobState.RUNNING, "started_at": now, "polled_at": now}
    job = JobFactory.create(remote_id="7", next_poll_at=until, **running)
    assert claim_poll(job, until)
    assert not claim_poll(job, until)
