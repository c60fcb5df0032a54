"""A planned render, a person's press and a stop at the same time: one render, or none."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.models import Membership, PlannedRender
from dashboard.shared.start_times import StartTime
from dashboard.studio import actions
from dashboard.studio.planned_renders import continue_planned_render, stop_planned_render
from dashboard.studio.scheduled_renders import cancel_scheduled_render, schedule_render
from proxyapi.models import Charge, Job
from proxyapi.refusals import Refusal
from tests.dashboard.studio.planned import (
    confirm,
    create_unwritten_draft,
    fresh,
    price_draft,
    render_charges,
    write_script,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def job(ready: Job, priya: Membership) -> Job:
    """Its script is written and priced; its planned render is next."""
    job = create_unwritten_draft(ready)
    write_script(confirm(priya, job))
    price_draft(job)
    return fresh(job)


def run_at_once(deeds: Iterable[Callable[[], object]]) -> list[bool]:
    """Run all at the same time, each on a connection of its own; return which were not refused."""
    listed = list(deeds)
    start = Barrier(len(listed))

    def run(deed: Callable[[], object]) -> bool:
        start.wait(120)
        try:
            deed()
        except Refusal:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(len(listed)) as pool:
        return [done.result() for done in [pool.submit(run, deed) for deed in listed]]


def test_workers_at_once_send_one_render(job: Job) -> None:
    run_at_once([lambda: continue_planned_render(job.pk)] * 4)
    assert len(render_charges(job)) == 1
    assert not PlannedRender.objects.exists()


def test_workers_and_people_at_once_send_one_render(
    job: Job, priya: Membership, luca: Membership
) -> None:
    def press(by: Membership) -> Charge:
        seen = Decimal(96)
        return actions.render_video(by=by, job=fresh(job), nonce=uuid.uuid4(), seen=seen)

    run_at_once(
        [
            lambda: continue_planned_render(job.pk),
            lambda: press(priya),
            lambda: continue_planned_render(job.pk),
            lambda: press(luca),
        ]
    )
    assert len(render_charges(job)) == 1
    assert not PlannedRender.objects.active().exists()


def test_what_was_stopped_is_not_sent_and_what_was_sent_is_not_called_stopped(
    job: Job, priya: Membership
) -> None:
    _, is_stopped, _ = run_at_once(
        [
            lambda: continue_planned_render(job.pk),
            lambda: stop_planned_render(by=priya, job=job),
            lambda: continue_planned_render(job.pk),
        ]
    )
    assert len(render_charges(job)) == (0 if is_stopped else 1)
    assert not PlannedRender.objects.exists()


def test_a_change_and_the_render_at_once_do_not_both_come_through(
    job: Job, priya: Membership
) -> None:
    def change() -> Job:
        return actions.save_draft_step(by=priya, job=job, changes={"voice_id": 7})

    _, is_changed = run_at_once([lambda: continue_planned_render(job.pk), change])
    assert len(render_charges(job)) == (0 if is_changed else 1)
    assert fresh(job).draft.settings["voice_id"] == (7 if is_changed else 3)


def test_one_answer_from_two_windows_plans_once(ready: Job, priya: Membership) -> None:
    job = create_unwritten_draft(ready)
    run_at_once([lambda: confirm(priya, job)] * 3)
    assert Charge.objects.count() == 1
    assert PlannedRender.objects.count() == 1


def test_a_scheduled_render_is_sent_once_or_was_cancelled(ready: Job, priya: Membership) -> None:
    start = StartTime(timezone.now())
    schedule_render(by=priya, job=fresh(ready), seen=Decimal(96), start=start)
    deeds: list[Callable[[], object]] = [lambda: continue_planned_render(ready.pk)] * 3
    *_, is_cancelled = run_at_once(
        [*deeds, lambda: cancel_scheduled_render(by=priya, job=fresh(ready))]
    )
    assert len(render_charges(ready)) == (0 if is_cancelled else 1)
    assert not PlannedRender.objects.exists()
