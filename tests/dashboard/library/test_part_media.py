"""Pictures of scenes and films of exports through the portal."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import Mock

import pytest

from dashboard.library.views import media as view
from proxyapi.kinds.job_parts import store_parts
from proxyapi.media_proxy import MediaGone, MediaStream
from proxyapi.models import Job, JobPart
from tests.dashboard.library.test_media import ScriptedFilmSource

LISTS = ("assets", "exports", "scenes")
RECORD = {
    "assets": [{"id": 61, "url": "http://127.0.0.1:8001/media/61.jpg", "source": "generated"}],
    "exports": [{"id": 9, "status": "completed", "url": "http://127.0.0.1:8001/media/9.mp4"}],
    "scenes": [{"id": 5, "status": "completed", "url": "http://127.0.0.1:8001/media/5.mp4"}],
}


async def flowing() -> AsyncIterator[bytes]:
    yield b"picture"


def picture(content_type: str = "image/png") -> MediaStream:
    return MediaStream(200, {"content-length": "7"}, flowing(), content_type)


@pytest.fixture
def job(make_video_job: Any) -> Job:
    job: Job = make_video_job("completed", title="Glacier")
    store_parts(job, RECORD, LISTS)
    return job


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Any:
    def answering(*answers: Any) -> ScriptedFilmSource:
        stand_in = ScriptedFilmSource(*answers)
        monkeypatch.setattr(view, "open_media_stream", stand_in)
        return stand_in

    return answering


def address(part: JobPart) -> str:
    return f"/videos/{part.job_id}/parts/{part.pk}/media/"


@pytest.mark.parametrize(
    ("list_name", "told", "shown"),
    [
        ("assets", "image/png", "image/png"),
        ("assets", "", "image/jpeg"),
        ("exports", "video/webm", "video/webm"),
        ("exports", "", "video/mp4"),
        ("scenes", "", "video/mp4"),
    ],
)
def test_a_member_sees_it_as_what_it_is(list_name, told, shown, job, vera, host, client_of):
    host(picture(told))
    answer = client_of(vera).get(address(job.parts.get(list_name=list_name)))
    assert (answer.status_code, answer["Content-Type"]) == (200, shown)
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_for_an_outsider_and_without_a_file_there_is_none(job, otto, vera, host, client_of):
    asked = host().asked
    part = job.parts.get(list_name="assets")
    assert client_of(otto).get(address(part)).status_code == 404
    JobPart.objects.update(media_url="")
    assert client_of(vera).get(address(part)).status_code == 404
    part.pk = uuid.uuid4()
    assert client_of(vera).get(address(part)).status_code == 404
    assert not asked


def test_an_expired_address_is_read_again_once(job, vera, host, client_of, monkeypatch):
    fresh = "http://127.0.0.1:8001/media/61.jpg?signature=2"

    def refresh(job: Job) -> bool:
        JobPart.objects.filter(remote_id="61").update(media_url=fresh)
        return False  # as of a video that has no film

    monkeypatch.setattr(view, "refresh_media_url", Mock(side_effect=refresh))
    monkeypatch.setattr(view, "RENEWAL_CHECK_INTERVAL_S", 0)
    asked = host(MediaGone(), picture(), MediaGone()).asked
    part = job.parts.get(list_name="assets")
    assert client_of(vera).get(address(part)).status_code == 200
    assert asked[-1][0] == fresh
    assert client_of(vera).get(address(part)).status_code == 502, "once a minute"


@pytest.mark.parametrize("is_new", [True, False])
def test_a_part_that_the_refreshed_record_no_longer_has_is_gone(
    is_new, job, vera, host, client_of, monkeypatch
):
    def refresh(job: Job) -> bool:
        store_parts(job, RECORD | {"assets": []}, LISTS)
        return is_new

    monkeypatch.setattr(view, "refresh_media_url", Mock(side_effect=refresh))
    host(MediaGone())
    assert client_of(vera).get(address(job.parts.get(list_name="assets"))).status_code == 404


def test_an_export_is_downloaded_under_a_name(job, vera, host, client_of):
    host(picture("video/mp4"))
    answer = client_of(vera).get(f"{address(job.parts.get(list_name='exports'))}?download=1")
    assert answer["Content-Disposition"] == 'attachment; filename="glacier-exports-1.mp4"'
