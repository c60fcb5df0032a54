"""A script that polls its own job is answered from the portal's polls."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.models import Job, JobOrigin, JobState, Token
from proxyapi.polling.poller import poll_job
from proxyapi.rate_limiter import Priority
from tests.factories import JobFactory
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
    """The tick's next poll, without its wait, and without that of polls in quick succession."""
    before = timezone.now() - timedelta(seconds=6)
    Job.objects.filter(pk=job.pk).update(polled_at=before, started_at=before, next_poll_at=before)
    poll_job(job.pk, lane=Priority.PERSON)


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


def test_a_script_that_polls_many_jobs_sees_each_end_with_the_portal_and_asks_nothing(
    script: Script, upstream: ScriptedUpstream, token: Token
) -> None:
    made: dict[str, Any] = {"account": token.account, "token": token, "draft": None}
    made |= {"origin": JobOrigin.GATEWAY, "api_key": script.key}
    made |= {"state": JobState.RUNNING, "next_poll_at": timezone.now()}
    jobs = [JobFactory.create(remote_id=str(number), **made) for number in range(100, 130)]
    records = {f"/faceless/{job.remote_id}": video("rendering") for job in jobs}

    def read(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/v2")
        response = make_response({**records[path], "id": int(path.rpartition("/")[2])})
        response.headers.update({"X-RateLimit-Limit": "9000", "X-RateLimit-Remaining": "8999"})
        return response

    for path, job in zip(records, jobs, strict=True):
        upstream.respond("GET", path, read)
        poll(job)
    for ended_by_then, ends in ((10, list(records)[::3]), (20, list(records)[1::3])):
        records |= dict.fromkeys(ends, video("completed", url="http://127.0.0.1/a.mp4"))
        for job in Job.objects.filter(state=JobState.RUNNING):
            poll(job)
        upstream.requests.clear()
        answers = [script.call("GET", path).json()["data"] for path in records]
        ended = {answer["id"] for answer in answers if answer["video"]["status"] == "completed"}
        known = Job.objects.filter(state=JobState.COMPLETED).values_list("remote_id", flat=True)
        assert {str(id) for id in ended} == set(known)
        assert len(ended) == ended_by_then
        assert upstream.requests == []
