"""Workers at once, and workers that die anywhere: each row is sent once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.batches import actions
from dashboard.batches.runner import advance_batch
from dashboard.batches.start_times import start_when_due
from dashboard.models import AuditAction, AuditEvent, Batch, BatchState
from dashboard.shared.start_times import StartTime
from dashboard.studio.planned_renders import continue_planned_render
from proxyapi.models import Charge, ChargeState, Job
from tests.dashboard.batches.conftest import (
    advance,
    charges_of,
    dry_run,
    end_render,
    end_script,
    jobs_of,
    start,
    states,
    topics,
)

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 4


class WorkerKilled(BaseException):
    """Nobody catches it, as nobody catches a kill."""


def advance_at_once(batch: Batch) -> None:
    run_at_once(advance_batch, batch)


def run_at_once(work: Callable[[UUID], None], batch: Batch) -> None:
    begin = Barrier(WORKERS)

    def run() -> None:
        begin.wait(120)
        try:
            work(batch.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(run) for _ in range(WORKERS)]:
            done.result()


def test_workers_at_once_begin_each_row_once(make_batch, priya):
    batch = start(priya, make_batch(*topics(5), at_once=3))
    advance_at_once(batch)
    assert states(batch) == ["begun"] * 3 + ["waiting"] * 2
    assert len(charges_of(batch, "faceless.scripts")) == 3
    assert Job.objects.filter(labels__name="Lakes").count() == 3
    for job in jobs_of(batch):
        end_script(job)
        continue_planned_render(job.pk)
    for charge in charges_of(batch):
        end_render(charge)
    advance_at_once(batch)
    assert states(batch) == ["done"] * 3 + ["begun"] * 2
    assert Charge.objects.filter(job__batch_row__batch=batch).count() == 3 * 2 + 2


def test_workers_at_once_start_a_scheduled_batch_once(make_batch, priya):
    batch = make_batch(*topics(2))
    run, start_time = dry_run(priya, batch), StartTime(timezone.now())
    shown = {"seen": run.total.usual, "version": actions.dry_run_version(run)}
    actions.start_batch(by=priya, batch=batch, start=start_time, **shown)
    run_at_once(start_when_due, batch)
    batch.refresh_from_db()
    assert batch.state == BatchState.RUNNING
    assert AuditEvent.objects.filter(action=AuditAction.BATCH_START).count() == 1


def advance_until_killed(batch: Batch, at_query: int) -> bool:
    """Advance, and die before this query; return whether it came to that."""
    count = 0

    def count_or_die(execute, sql, params, many, context):
        nonlocal count
        count += 1
        if count == at_query:
            raise WorkerKilled
        return execute(sql, params, many, context)

    try:
        with connection.execute_wrapper(count_or_die):
            advance_batch(batch.pk)
    except WorkerKilled:
        return True
    return False


@pytest.mark.slow
def test_a_worker_that_dies_before_any_query_sends_nothing_twice(make_batch, priya):
    batch = start(priya, make_batch(*topics(4), at_once=2))
    step, kills = 0, 0
    while batch.state != "finished":
        step += 1
        assert step < 400
        kills += advance_until_killed(batch, 1 + 7 * step % 211)
        batch = advance(batch) if step % 3 == 0 else batch
        held = Charge.objects.filter(job__batch_row__batch=batch, state=ChargeState.HELD)
        for charge in held.select_related("job"):
            assert charge.job is not None
            if charge.operation == "faceless.scripts":
                end_script(charge.job)
                continue_planned_render(charge.job.pk)
            else:
                end_render(charge)
        batch.refresh_from_db()
    assert kills >= 3
    assert states(batch) == ["done"] * 4
    assert len(charges_of(batch)) == len(charges_of(batch, "faceless.scripts")) == 4
    assert Job.objects.filter(labels__name="Lakes").count() == 4
