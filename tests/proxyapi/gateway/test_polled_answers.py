"""A script that polls its own job is answered from the portal's polls."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from proxyapi.models import Job, JobState
from proxyapi.polling.poller import poll_job
from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

VIDEO = "/faceless/7"


def video(status: str, **more: object) -> dict[str, object]:
    return {"id": 7, "script": "Ice moves.", "video": {"status": status, **more}}


@pytest.fixture
def running(script: Script, upstream: ScriptedUpstream) -> Job:
    """A render of the script's, polled once."""
    upstream.respond("POST", f"{VIDEO}/render", charged_response({"id": 7}, 10))
    script.call("POST", f"{VIDEO}/render")
    upstream.respond("GET", VIDEO, make_response(video("rendering")))
    poll(job := Job.objects.get())
    upstream.requests.clear()
    return job


def poll(job: Job) -> None:
    """The tick's next poll, without its wait."""
    before = timezone.now() - timedelta(seconds=6)
    Job.objects.filter(pk=job.pk).update(polled_at=before, started_at=before, next_poll_at=before)
    poll_job(job.pk)


def test_a_poll_of_a_running_job_asks_the_service_nothing(
    script: Script, upstream: ScriptedUpstream, running: Job
) -> None:
    answers = [script.call("GET", VIDEO) for _ in range(5)]
    assert upstream.requests == []
    for answer in answers:
        assert (answer.status_code, answer.json()["data"]) == (200, video("rendering"))
        assert answer.headers["x-reelroom-source"] == "poll"
        assert 0 <= int(answer.headers["age"]) <= 60
    upstream.respond("GET", VIDEO, make_response(video("completed", url="http://127.0.0.1/a.mp4")))
    poll(running)
    upstream.requests.clear()
    assert script.call("GET", VIDEO).json()["data"]["video"]["status"] == "completed"
    assert upstream.requests == []


@pytest.mark.parametrize("asked", ["no-cache", "query", "late", "failing", "changed"])
def test_the_service_is_asked_where_the_poll_may_not_answer(
    script: Script, upstream: ScriptedUpstream, running: Job, asked: str
) -> None:
    headers = {"Cache-Control": "no-cache"} if asked == "no-cache" else {}
    params = {"include": "a"} if asked == "query" else {}
    if asked == "late":
        Job.objects.update(
            state=JobState.COMPLETED, finished_at=timezone.now(), started_at=timezone.now()
        )
    if asked == "failing":
        Job.objects.update(poll_error="The service does not answer.")
    if asked == "changed":
        upstream.respond("PATCH", VIDEO, make_response(video("rendering")))
        script.call("PATCH", VIDEO, json={"title": "Tides"})
        upstream.requests.clear()
    answer = script.call("GET", VIDEO, headers=headers, params=params)
    assert answer.headers["x-reelroom-source"] == "service"
    assert len(upstream.requests) == 1
