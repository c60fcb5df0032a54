"""The picture of a video: the service's own, else its first scene, else nothing."""

from __future__ import annotations

import uuid

import pytest

from dashboard.library.views import media as view
from proxyapi.kinds import KINDS
from proxyapi.media_proxy import MediaGone, UnsafeMediaAddress
from proxyapi.models import Job, JobKind
from tests.dashboard.library.test_media import ScriptedFilmSource
from tests.dashboard.library.test_part_media import picture

DONE = {"status": "completed", "url": "https://media.example/1.mp4"}
POSTER = "https://media.example/1.jpg"


@pytest.fixture
def job(make_video_job):
    job = make_video_job("completed", title="Glacier")
    Job.objects.filter(pk=job.pk).update(poster_url=POSTER)
    return job


def test_a_member_sees_the_picture_of_the_service(job, vera, client_of, monkeypatch):
    source = ScriptedFilmSource(picture("image/png"))
    monkeypatch.setattr(view, "open_media_stream", source)
    answer = client_of(vera).get(f"/videos/{job.pk}/poster/")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize("trouble", [MediaGone("gone"), UnsafeMediaAddress("not public")])
def test_without_a_picture_nothing_is_answered(trouble, job, vera, client_of, monkeypatch):
    """The card then loads a frame of the video."""
    monkeypatch.setattr(view, "open_media_stream", ScriptedFilmSource(trouble))
    assert client_of(vera).get(f"/videos/{job.pk}/poster/").status_code == 204


def test_a_video_without_a_poster_asks_nobody(make_video_job, vera, client_of):
    job = make_video_job("completed")
    assert client_of(vera).get(f"/videos/{job.pk}/poster/").status_code == 204


def test_the_player_shows_it_until_the_film_is_there(job, make_video_job, vera, client_of):
    for video, shown in ((job, True), (make_video_job("completed"), False)):
        page = client_of(vera).get(f"/videos/{video.pk}/").content.decode()
        assert (f'poster="/videos/{video.pk}/poster/"' in page) is shown


def test_what_another_team_made_does_not_exist(job, otto, client_of):
    answer = client_of(otto).get(f"/videos/{job.pk}/poster/")
    unknown = client_of(otto).get(f"/videos/{uuid.uuid4()}/poster/")
    assert answer.status_code == unknown.status_code == 404


@pytest.mark.parametrize(
    ("record", "poster"),
    [
        ({"video": DONE | {"thumbnail_url": POSTER}}, POSTER),
        ({"video": DONE, "assets": [{"id": 1, "type": "image", "url": POSTER}]}, POSTER),
        ({"video": DONE, "assets": [{"id": 1, "type": "video", "url": "x.mp4"}]}, ""),
        ({"video": DONE | {"thumbnail_url": 7}, "assets": "none"}, ""),
        ({"video": DONE}, ""),
    ],
)
def test_the_poster_of_a_record_is_the_services_or_its_first_picture(record, poster):
    assert KINDS[JobKind.FACELESS].read_status(record).poster_url == poster


def test_a_still_of_a_video_without_a_film_is_empty_and_the_film_not_found(
    make_video_job, vera, client_of
):
    """A page that was just opened may ask for the still of a video that renders again."""
    client, url = client_of(vera), f"/videos/{make_video_job('running').pk}/media/"
    assert (client.get(f"{url}?still=1").status_code, client.get(url).status_code) == (204, 404)
