"""A job that exists at the service becomes one of the portal, once, and is polled until it ends."""

from __future__ import annotations

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from proxyapi import job_import
from proxyapi.job_import import ImportNotFound, import_job
from proxyapi.models import Job, JobKind, JobPart, TokenState
from proxyapi.polling.poller import poll_job
from proxyapi.refusals import NotReady
from tests.factories import (
    AccountFactory,
    JobFactory,
    TokenFactory,
    create_account_of_another_team,
)
from tests.proxyapi.scripted_upstream import error_response, make_response, rate_limited_response

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]

FILM = "http://127.0.0.1:8001/media/film.mp4"
FACELESS, CLIP, STORYBOARD = (
    "/faceless/41234",
    "/text-to-video/41234",
    "/text-to-scene/41234",
)
RENDERING = {"id": 41234, "title": "Tides", "video": {"id": 9, "status": "rendering"}}
DONE = {"id": 41234, "title": "Tides", "video": {"id": 9, "status": "completed", "url": FILM}}


@pytest.fixture
def token():
    return TokenFactory.create(account=AccountFactory.create())


def add(token, kind=JobKind.FACELESS, upstream_id="41234"):
    return import_job(token, kind, upstream_id, token.owner_id)


def refusal(token, kind=JobKind.FACELESS, upstream_id="41234"):
    with pytest.raises(NotReady) as refused:
        add(token, kind, upstream_id)
    assert not Job.objects.exists()
    return refused.value


def test_a_running_one_is_polled_until_it_is_finished(token, upstream):
    upstream.respond("GET", FACELESS, make_response(RENDERING))
    job, is_new = add(token)
    assert is_new
    assert (job.title, job.state, job.raw_status) == ("Tides", "running", "rendering")
    assert (job.origin, job.member_id, job.token_id) == ("import", token.owner_id, token.pk)
    assert job.draft_or_none is None
    assert not job.charges.exists()
    upstream.respond("GET", FACELESS, make_response(DONE))
    Job.objects.update(polled_at=None, next_poll_at=timezone.now())
    poll_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.media_url) == ("completed", FILM)


@pytest.mark.parametrize(
    ("kind", "path", "record"),
    [
        (JobKind.FACELESS, FACELESS, DONE),
        (JobKind.CLIP, CLIP, {"asset": {"id": 41234, "status": "success", "url": FILM}}),
        (
            JobKind.STORYBOARD,
            STORYBOARD,
            {
                "id": 41234,
                "scenes": [{"id": 3, "clip": {"status": "completed", "url": FILM}}],
                "video": {"status": "completed", "url": FILM},
            },
        ),
    ],
)
def test_a_finished_one_has_its_file_at_once_by_one_request(kind, path, record, token, upstream):
    upstream.respond("GET", path, make_response(record))
    job, _ = add(token, kind)
    assert (job.state, job.media_url, job.started_at) == ("completed", FILM, None)
    assert len(upstream.requests) == 1
    assert JobPart.objects.count() == (kind == JobKind.STORYBOARD)


def test_a_failed_one_says_why(token, upstream):
    failure = {"code": "SCENE-IMAGE", "message": "No image for scene 7."}
    record = {"id": 41234, "video": {"status": "failed", "failure": failure}}
    upstream.respond("GET", FACELESS, make_response(record))
    job, _ = add(token)
    assert (job.state, job.failure_message) == ("failed", "No image for scene 7.")
    assert job.title == "Faceless video 41234"


def test_a_clip_that_was_accepted_is_followed(token, upstream):
    upstream.respond("GET", CLIP, make_response({"asset": {"id": 41234, "status": "draft"}}))
    job, _ = add(token, JobKind.CLIP)
    assert (job.state, job.title) == ("running", "Clip 41234")


def test_an_unknown_status_is_in_progress(token, upstream):
    upstream.respond("GET", FACELESS, make_response({"id": 41234, "video": {"status": "mixing"}}))
    assert add(token)[0].state == "running"


@pytest.mark.parametrize("text", ["41234", " 041234\n"])
def test_the_same_id_again_is_the_same_job(text, token, upstream):
    upstream.respond("GET", FACELESS, make_response(DONE))
    job, _ = add(token)
    assert add(token, upstream_id=text) == (job, False)
    assert len(upstream.requests) == 1


def test_another_kind_with_the_same_id_is_another_job(token, upstream):
    upstream.respond("GET", FACELESS, make_response(DONE))
    upstream.respond("GET", CLIP, make_response({"asset": {"id": 41234, "status": "processing"}}))
    add(token)
    assert add(token, JobKind.CLIP)[1]


@pytest.mark.parametrize("text", ["", "abc", "12/render", "-4", "4.5", "1e3", "٤", "../me", "{4}"])
def test_what_is_no_id_is_never_sent(text, token, upstream):
    refused = refusal(token, upstream_id=text)
    assert refused.field == "upstream_id"
    assert "whole number" in refused.sentence
    assert not upstream.requests


def test_a_uuid_is_an_id(token, upstream):
    id = "7b0f6c1e-58f2-4e4c-9d5c-0c5b8f1f7a11"
    upstream.respond("GET", f"/faceless/{id}", make_response({**DONE, "id": id}))
    assert add(token, upstream_id=id.upper())[0].remote_id == id


def test_a_404_names_what_it_may_be(token, upstream):
    upstream.respond("GET", CLIP, error_response(404, "GEN-NOT-FOUND"))
    refused = refusal(token, JobKind.CLIP)
    assert isinstance(refused, ImportNotFound)
    assert refused.field == "upstream_id"
    assert refused.sentence.startswith("The service has no clip 41234 under this token.")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (rate_limited_response(0, 40), "too many requests. Try again in 40 s."),
        (httpx.ConnectError, "Nothing was imported."),
        (httpx.ReadTimeout, "response was lost. Nothing was charged. Nothing was imported."),
        (error_response(500, "GEN-API-ERROR"), "server error"),
        (error_response(403, "SUBSCRIPTION-REQUIRED"), "no active plan"),
        (error_response(401, "GEN-UNAUTHORIZED"), "does not recognize this token"),
        (httpx.Response(200, text="<html>"), "Nothing was imported."),
        (make_response({"id": 5, "video": {"status": "completed"}}), "record of something else"),
        (make_response([]), "shows no status"),
        (make_response({"id": 41234, "video": {"status": None}}), "never rendered may have none"),
        (make_response({"id": 41234, "video": {"status": "draft"}}), "was not rendered yet"),
    ],
)
def test_without_a_video_nothing_is_stored(answer, sentence, token, upstream):
    upstream.respond("GET", FACELESS, answer)
    assert sentence in refusal(token).sentence


def test_a_token_that_was_refused_is_not_sent(token, upstream):
    token.state = TokenState.REVOKED
    assert "does not recognize this token" in refusal(token).sentence
    assert not upstream.requests


def test_what_another_team_has_is_not_imported_twice(token, upstream):
    other = create_account_of_another_team(token.account)
    JobFactory.create(account=other, remote_id="41234", draft=None)
    with pytest.raises(NotReady, match="Another team of this portal"):
        add(token)
    assert not upstream.requests


def test_the_same_id_twice_at_once_is_one_job(token, upstream, monkeypatch):
    """The second one is imported before the first one has its answer."""
    faster = []

    def fetch(*asked):
        with monkeypatch.context() as patch:
            patch.setattr(job_import, "fetch_record", lambda *asked: RENDERING)
            faster.append(add(token))
        return RENDERING

    monkeypatch.setattr(job_import, "fetch_record", fetch)
    slower = add(token)
    assert (faster, slower) == ([(Job.objects.get(), True)], (Job.objects.get(), False))


def test_one_that_is_imported_between_two_queries_is_not_another_teams(token, upstream):
    upstream.respond("GET", FACELESS, make_response(RENDERING))
    faster: list[str] = []

    def import_meanwhile(execute, sql, *arguments):
        found = execute(sql, *arguments)
        if not faster and 'FROM "proxyapi_job"' in sql:
            faster.append(sql)
            JobFactory.create(account=token.account, remote_id="41234", draft=None)
        return found

    with connection.execute_wrapper(import_meanwhile):
        job, is_new = add(token)
    assert (job, is_new) == (Job.objects.get(), False)
