"""Learned durations: noted once for each end, kept for the newest, lost to no race."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from proxyapi.models import Job, JobKind, JobState, RenderDurations
from proxyapi.models.duration_class import LENGTH_CLASSES_S, duration_class_of
from proxyapi.models.render_durations import MAX_KEPT_DURATIONS
from proxyapi.polling import poller as looking
from proxyapi.polling.duration_history import DurationHistory, DurationKey
from proxyapi.polling.duration_model import PRIOR_MEDIAN_S
from tests.factories import TokenFactory
from tests.proxyapi.scripted_upstream import make_response

DONE = make_response(
    {"id": 1, "video": {"status": "completed", "url": "http://127.0.0.1:8001/a.mp4"}}
)
FAILED = make_response({"id": 1, "video": {"status": "failed", "failure": {"code": "X"}}})


@pytest.mark.django_db
def test_a_failed_run_does_not_show_how_long_a_render_takes(make_running_job, upstream):
    job = make_running_job(age=100, seen=10)
    upstream.respond("GET", f"/faceless/{job.remote_id}", FAILED)
    looking.poll_job(job.pk)
    job.refresh_from_db()
    assert (job.state, RenderDurations.objects.exists()) == ("failed", False)


@pytest.mark.django_db
def test_a_completed_run_shows_how_long_it_took(make_running_job, upstream):
    job = make_running_job(age=100, seen=10, subtype="ai-visuals", length=60)
    upstream.respond("GET", f"/faceless/{job.remote_id}", DONE)
    looking.poll_job(job.pk)
    pace = RenderDurations.objects.get()
    assert (pace.kind, pace.subtype, pace.length) == (JobKind.FACELESS, "ai-visuals", 60)
    assert pace.seconds == [pytest.approx(95, abs=1)], "halfway between the last two looks"


@pytest.mark.django_db
@pytest.mark.parametrize("end", [DONE, FAILED])
def test_the_time_that_reelroom_slept_is_no_duration(make_running_job, upstream, end):
    """Nor is the time that its worker stood still or the service was away."""
    job = make_running_job(age=8 * 3600, seen=8 * 3600 - 60)
    seen_running_at = job.polled_at
    upstream.respond("GET", f"/faceless/{job.remote_id}", end)
    looking.poll_job(job.pk)
    assert not RenderDurations.objects.exists()
    job.refresh_from_db()
    assert job.finished_at is not None
    assert job.polled_at == seen_running_at, "so that others know how near the end was seen"


@pytest.mark.django_db
def test_an_end_that_was_noted_before_teaches_nothing_twice(make_running_job, upstream):
    job = make_running_job()

    def meanwhile(_):
        Job.objects.update(state=JobState.COMPLETED)
        return DONE

    upstream.respond("GET", f"/faceless/{job.remote_id}", meanwhile)
    looking.poll_job(job.pk)
    assert not RenderDurations.objects.exists()


@pytest.mark.django_db
def test_the_newest_durations_are_kept(make_running_job):
    job = make_running_job()
    for seconds in range(MAX_KEPT_DURATIONS + 6):
        RenderDurations.objects.add_duration(job, seconds)
    assert RenderDurations.objects.get().seconds == list(range(6, MAX_KEPT_DURATIONS + 6))


@pytest.mark.django_db(transaction=True)
def test_workers_that_learn_at_once_lose_nothing(make_running_job):
    job = make_running_job()

    def learn(seconds: int) -> None:
        try:
            RenderDurations.objects.add_duration(job, seconds)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(learn, range(40)))
    assert sorted(RenderDurations.objects.get().seconds) == list(range(40))


@pytest.mark.django_db
def test_few_of_a_length_are_helped_by_the_other_lengths_of_the_type(make_running_job):
    job = make_running_job(subtype="ai-visuals", length=60)
    other = make_running_job(subtype="ai-visuals", length=300)
    for seconds in range(50, 60):
        RenderDurations.objects.add_duration(other, seconds)
    assert middle_of(job) == pytest.approx(54.5)
    for _ in range(5):
        RenderDurations.objects.add_duration(job, 20)
    assert middle_of(job) == 20
    assert middle_of(make_running_job(subtype="b-roll", length=60)) == PRIOR_MEDIAN_S


@pytest.mark.django_db
def test_polling_learns_from_all_tenants_and_a_page_from_its_own(make_running_job):
    job = make_running_job()
    other = make_running_job(of=TokenFactory.create())
    for mine, theirs in [(10, 90)] * 5:
        RenderDurations.objects.add_duration(job, mine)
        RenderDurations.objects.add_duration(other, theirs)
    assert middle_of(job) == middle_of(other) == 50
    assert DurationHistory(tenant_id=job.tenant_id).usual_for(job).high == 10
    assert DurationHistory(tenant_id=other.tenant_id).usual_for(other).high == 90


def middle_of(job: Job) -> float:
    return DurationHistory({job.kind}).model_for(DurationKey.for_job(job)).middle


@pytest.mark.parametrize(
    ("wanted", "sort"),
    [
        ({}, ("", 0)),
        ({"type": "ai-visuals", "script": "word " * 100}, ("ai-visuals", 60)),
        ({"type": "ai-clips", "script": ""}, ("ai-clips", 0)),
        ({"model": "swift-2", "duration": 5}, ("swift-2", 5)),
        ({"model": "swift-2", "duration": 5.5}, ("swift-2", 10)),
        ({"type": ["odd"], "duration": True, "script": 7}, ("", 0)),
        ({"duration": 10**9}, ("", 1200)),
    ],
)
def test_a_sort_is_type_or_engine_and_a_class_of_length(wanted, sort):
    assert duration_class_of(wanted) == sort


@given(
    st.dictionaries(
        st.sampled_from(["type", "model", "engine", "duration", "script"]),
        st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.integers()),
    )
)
def test_no_settings_are_too_odd_for_a_sort(wanted):
    subtype, length = duration_class_of(wanted)
    assert len(subtype) <= 60
    assert length in (0, *LENGTH_CLASSES_S)
