"""Two beats, or a tick that lasts: whoever takes a job has it alone, also at the same moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections, transaction

from proxyapi.models import Job
from proxyapi.polling import due_work
from proxyapi.polling import poller as looking
from tests.factories import TokenFactory
from tests.proxyapi.polling.conftest import ago
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

pytestmark = pytest.mark.django_db(transaction=True)
TICKS = 4


def at_once(work: Callable[[], Any], times: int = TICKS) -> list[Any]:
    """What each of some threads that start together comes back with."""
    start = Barrier(times)

    def one(_: int) -> Any:
        try:
            start.wait(120)
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(one, range(times)))


def test_ticks_at_the_same_moment_share_no_job(make_running_job, informed_rate_limiter, token):
    others = [TokenFactory.create() for _ in range(7)]
    informed_rate_limiter(token, *others)
    jobs = {make_running_job(of=one).pk for one in (token, *others)}
    for _ in range(5):
        Job.objects.update(next_poll_at=ago(1))
        taken = Counter(
            lease.job_id for leases in at_once(due_work.lease_due_jobs) for lease in leases
        )
        assert set(taken) == jobs
        assert set(taken.values()) == {1}


@pytest.mark.skipif(connection.vendor == "sqlite", reason="It locks no row, but the whole file.")
def test_a_row_that_somebody_has_locked_is_left_to_the_next_tick(
    make_running_job, informed_rate_limiter
):
    """Waiting for it, the tick would have locked others: who wants those, too, waits for it."""
    informed_rate_limiter()
    locked, free = make_running_job(), make_running_job()
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        Job.objects.select_for_update().get(pk=locked.pk)
        leases = pool.submit(at_once, due_work.lease_due_jobs, 1).result(20)[0]
    assert [lease.job_id for lease in leases] == [free.pk]
    assert [lease.job_id for lease in due_work.lease_due_jobs()] == [locked.pk]


def test_a_task_message_taken_by_four_workers_is_one_poll(
    make_running_job, informed_rate_limiter, upstream: ScriptedUpstream
):
    informed_rate_limiter()
    job = make_running_job()
    upstream.respond(
        "GET", "/faceless/1", make_response({"id": 1, "video": {"status": "rendering"}})
    )
    (lease,) = due_work.lease_due_jobs()
    at_once(lambda: looking.poll_job(lease.job_id, lease.until))
    assert len(upstream.requests) == 1
    job.refresh_from_db()
    assert job.poll_error == ""
