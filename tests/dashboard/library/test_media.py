"""The film through the portal: what is connected to, what passes, what does not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from dashboard.library.views import media as view
from proxyapi import media_proxy
from proxyapi.media_proxy import (
    MediaGone,
    MediaStream,
    MediaUnavailable,
    UnsafeMediaAddress,
    open_media_stream,
)
from tests.dashboard.library.conftest import ago

BYTES = b"0123456789" * 1000
SANDBOX = "http://127.0.0.1:8001/v2"
LIVE = "https://api.videos.example/v2"
PUBLIC = "93.184.215.14"


async def flowing() -> AsyncIterator[bytes]:
    yield BYTES


@pytest.fixture
def live_service(settings):
    settings.VIDEO_API_BASE_URL, settings.VIDEO_API_IS_SANDBOX = LIVE, False


@pytest.fixture
def sandbox(settings):
    settings.VIDEO_API_BASE_URL, settings.VIDEO_API_IS_SANDBOX = SANDBOX, True


@pytest.fixture
def media_host(monkeypatch):
    """A media host in this process: what it was asked, and what it answers."""
    asked: list[httpx.Request] = []
    answers: list[httpx.Response] = []

    def answer(request):
        asked.append(request)
        return answers.pop(0) if answers else httpx.Response(200, content=flowing())

    def client(**kwargs):
        assert (kwargs["follow_redirects"], kwargs["trust_env"]) == (False, False)
        return real(transport=httpx.MockTransport(answer), **kwargs)

    real = httpx.AsyncClient
    monkeypatch.setattr(httpx, "AsyncClient", client)
    return asked, answers


@pytest.fixture
def resolved_names(monkeypatch):
    """The addresses of host names; a name that is a number is itself."""
    book = {"media.videos.example": [PUBLIC]}

    async def getaddrinfo(self, name, port, **_):
        found = book.get(name) or [name]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return book


def fetched(address: str, wishes: dict[str, str] | None = None) -> tuple[MediaStream, bytes]:
    async def scene() -> tuple[MediaStream, bytes]:
        film = await open_media_stream(address, wishes or {})
        return film, b"".join([chunk async for chunk in film.body])

    return asyncio.run(scene())


UNSAFE = [
    "file:///etc/passwd",
    "ftp://media.videos.example/x",
    "gopher://media.videos.example/x",
    "http://media.videos.example/x",
    "https://media.videos.example:8443/x",
    "https://user:pass@media.videos.example/x",
    "https://127.0.0.1/x",
    "https://127.1.2.3/x",
    "https://10.0.0.5/x",
    "https://172.16.9.9/x",
    "https://192.168.1.1/x",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/x",
    "https://0.0.0.0/x",
    "https://224.0.0.1/x",
    "https://255.255.255.255/x",
    "https://[::1]/x",
    "https://[fe80::1]/x",
    "https://[fd00::1]/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://[::ffff:a9fe:a9fe]/x",
    "https://[64:ff9b::7f00:1]/x",
    "https://[2002:7f00:1::]/x",
    "https://[ff02::1]/x",
    "https:///x",
    "//media.videos.example/x",
    "",
    "https://exa mple/\r\nHost: x",
    "javascript:alert(1)",
    "http://127.0.0.1:8001/media/x.mp4",
    "http://127.0.0.1:6379/",
]


@pytest.mark.parametrize("address", UNSAFE)
def test_an_unsafe_address_is_never_connected_to(address, live_service, resolved_names, media_host):
    with pytest.raises(UnsafeMediaAddress):
        fetched(address)
    assert media_host[0] == []


@pytest.mark.parametrize("addresses", [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["169.254.169.254"]])
def test_a_name_is_judged_by_every_address_it_has(
    addresses, live_service, resolved_names, media_host
):
    resolved_names["media.videos.example"] = addresses
    with pytest.raises(UnsafeMediaAddress):
        fetched("https://media.videos.example/x.mp4")
    assert media_host[0] == []


def test_the_connection_goes_to_the_judged_address_under_the_hosts_name(
    live_service, resolved_names, media_host
):
    """A name that resolves differently a second time (DNS rebinding) is not asked a second time."""
    _, body = fetched("https://media.videos.example/a/x.mp4?sig=1")
    (request,) = media_host[0]
    assert body == BYTES
    assert request.url == f"https://{PUBLIC}/a/x.mp4?sig=1"
    assert request.headers["host"] == "media.videos.example"
    assert request.extensions["sni_hostname"] == "media.videos.example"


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:6379/", "http://127.0.0.1:8000/admin", "http://10.0.0.1:8001/x"],
)
def test_on_this_machine_only_the_sandboxs_own_address_is_allowed(
    address, sandbox, resolved_names, media_host
):
    with pytest.raises(UnsafeMediaAddress):
        fetched(address)
    assert media_host[0] == []


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_the_sandbox_is_reached_on_loopback(name, sandbox, resolved_names, media_host):
    resolved_names["localhost"] = ["127.0.0.1"]
    assert fetched(f"http://{name}:8001/media/x.mp4")[1] == BYTES


def test_few_headers_go_along_and_no_token_or_cookie(sandbox, resolved_names, media_host):
    wishes = {
        "range": "bytes=0-9",
        "if-none-match": '"e"',
        "authorization": "Bearer sbx_canary",
        "cookie": "sessionid=canary",
        "x-forwarded-for": "10.0.0.1",
    }
    fetched("http://127.0.0.1:8001/x", wishes)
    sent = dict(media_host[0][0].headers)
    assert "canary" not in str(sent)
    assert "x-forwarded-for" not in sent
    assert (sent["range"], sent["if-none-match"]) == ("bytes=0-9", '"e"')
    assert sent["accept-encoding"] == "identity"


def test_several_ranges_are_answered_with_the_whole_film(sandbox, resolved_names, media_host):
    fetched("http://127.0.0.1:8001/x", {"range": "bytes=0-1,5-6"})
    assert "range" not in media_host[0][0].headers


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_an_address_that_expired_is_gone(status, sandbox, resolved_names, media_host):
    media_host[1].append(httpx.Response(status))
    with pytest.raises(MediaGone):
        fetched("http://127.0.0.1:8001/x")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(302, headers={"location": "http://169.254.169.254/"}),
        httpx.Response(500),
        httpx.Response(204),
        httpx.Response(200, headers={"content-encoding": "gzip"}, content=b""),
        httpx.Response(200, headers={"content-length": str(10 * 1024**3)}),
        httpx.Response(200, headers={"content-length": "many"}),
    ],
)
def test_anything_but_a_film_is_refused(answer, sandbox, resolved_names, media_host):
    media_host[1].append(answer)
    with pytest.raises(MediaUnavailable):
        fetched("http://127.0.0.1:8001/x")
    assert len(media_host[0]) == 1


def test_a_film_without_an_end_is_cut(sandbox, resolved_names, media_host, monkeypatch):
    monkeypatch.setattr(media_proxy, "MAX_MEDIA_BYTES", 100)

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 30

    media_host[1].append(httpx.Response(200, content=endless()))
    assert len(fetched("http://127.0.0.1:8001/x")[1]) == 90


class ScriptedFilmSource:
    """Stands for `open_film`: answers in turn, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), list[Any]()

    async def __call__(self, address: str, wishes: Any, *, head: bool = False) -> Any:
        self.asked.append((address, wishes, head))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def movie(status: int = 200, **headers: str) -> MediaStream:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return MediaStream(status, named, flowing())


@pytest.fixture
def upstream(monkeypatch):
    def answering(*answers):
        stand_in = ScriptedFilmSource(*answers)
        monkeypatch.setattr(view, "open_media_stream", stand_in)
        monkeypatch.setattr(view, "RENEWAL_CHECK_INTERVAL_S", 0)
        return stand_in

    return answering


@pytest.mark.parametrize("role", ["mira", "jonas", "thea", "priya", "luca", "vera"])
def test_every_member_plays_it(role, request, make_video_job, upstream, client_of):
    upstream(movie(content_length="10000", etag='"e"'))
    client = client_of(request.getfixturevalue(role))
    answer = client.get(
        f"/videos/{make_video_job('completed').pk}/media/", headers={"Accept-Encoding": "gzip"}
    )
    assert answer.status_code == 200
    assert answer["Content-Type"] == "video/mp4"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Length"] == "10000"
    assert answer["Content-Encoding"] == "identity"
    assert "sandbox" in answer["Content-Security-Policy"]


def test_for_an_outsider_there_is_no_film(make_video_job, otto, upstream, client_of):
    asked = upstream(movie()).asked
    assert (
        client_of(otto).get(f"/videos/{make_video_job('completed').pk}/media/").status_code == 404
    )
    assert not asked


@pytest.mark.parametrize("state", ["draft", "running", "failed"])
def test_pitfall_10_an_address_is_used_only_once_the_video_is_completed(
    state, make_video_job, vera, upstream, client_of
):
    asked = upstream(movie()).asked
    job = make_video_job(state, media_url="http://127.0.0.1:8001/early.mp4")
    assert client_of(vera).get(f"/videos/{job.pk}/media/").status_code == 404
    assert not asked


def test_a_range_is_passed_on_both_ways(make_video_job, vera, upstream, client_of):
    asked = upstream(movie(206, content_range="bytes 0-9/10000", content_length="10")).asked
    client = client_of(vera)
    answer = client.get(
        f"/videos/{make_video_job('completed').pk}/media/", headers={"Range": "bytes=0-9"}
    )
    assert (answer.status_code, answer["Content-Range"]) == (206, "bytes 0-9/10000")
    assert asked[0][1]["range"] == "bytes=0-9"


def test_a_download_has_a_safe_file_name(make_video_job, vera, upstream, client_of):
    upstream(movie(content_length="10000", last_modified="Tue, 24 Nov 2026 04:00:00 GMT"))
    job = make_video_job("completed", title='../../"evil";\r\nX: Ümläut')
    answer = client_of(vera).get(f"/videos/{job.pk}/media/?download=1")
    assert answer["Content-Disposition"] == 'attachment; filename="evil-x-umlaut.mp4"'


@pytest.mark.parametrize(
    ("kind", "told", "type_", "name"),
    [
        ("faceless", "", "video/mp4", "glacier.mp4"),
        ("faceless", "video/webm", "video/webm", "glacier.webm"),
        ("clone", "", "audio/mpeg", "glacier.mp3"),
        ("clone", "audio/wav", "audio/wav", "glacier.wav"),
    ],
)
def test_type_and_file_name_are_those_of_the_answer_or_else_of_the_kind(
    kind, told, type_, name, make_video_job, vera, upstream, client_of
):
    upstream(MediaStream(200, {}, flowing(), told))
    job = make_video_job("completed", kind=kind, title="Glacier")
    answer = client_of(vera).get(f"/videos/{job.pk}/media/?download=1")
    assert answer["Content-Type"] == type_
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("audio/mpeg", "audio/mpeg"),
        ("Video/MP4; codecs=avc1", "video/mp4"),
        ("text/html", ""),
        ("image/svg+xml", ""),
        ("binary/octet-stream", ""),
        ("", ""),
    ],
)
def test_only_a_film_or_a_recording_is_passed_on_as_what_the_host_calls_it(
    told, known, sandbox, resolved_names, media_host
):
    media_host[1].append(httpx.Response(200, headers={"content-type": told}, content=flowing()))
    assert fetched("http://127.0.0.1:8001/x")[0].content_type == known


def test_an_expired_address_is_read_again_once(
    make_video_job, vera, upstream, client_of, monkeypatch
):
    refresh = Mock(return_value=True)
    monkeypatch.setattr(view, "refresh_media_url", refresh)
    upstream(MediaGone(), movie())
    job = make_video_job("completed")
    assert client_of(vera).get(f"/videos/{job.pk}/media/").status_code == 200
    refresh.assert_called_once_with(job)
    upstream(MediaGone(), MediaGone())
    answer = client_of(vera).get(f"/videos/{job.pk}/media/")
    assert answer.status_code == 502
    assert "It is not lost" in answer.content.decode()


def test_an_address_that_cannot_be_renewed_is_asked_for_once_a_minute(
    make_video_job, vera, upstream, client_of, monkeypatch
):
    refresh = Mock(return_value=False)
    monkeypatch.setattr(view, "refresh_media_url", refresh)
    gone, other = make_video_job("completed"), make_video_job("completed")
    client = client_of(vera)
    for job in (gone, gone, gone, other):
        upstream(MediaGone())
        assert client.get(f"/videos/{job.pk}/media/").status_code == 502
    assert [call.args for call in refresh.call_args_list] == [(gone,), (other,)]


@pytest.mark.parametrize(("read_ago", "asked"), [(30, False), (90, True), (-3600, True)])
def test_an_address_that_was_read_just_now_is_not_read_again_and_one_of_the_future_is(
    read_ago, asked, make_video_job, monkeypatch
):
    """A clock that was put back since says nothing of when it was read."""
    monkeypatch.setattr(view, "refresh_media_url", lambda job: True)
    assert view.renew_media_url(make_video_job("completed", media_as_of=ago(read_ago))) is asked


def test_without_redis_no_address_is_renewed(make_video_job, vera, settings, tmp_path, monkeypatch):
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    monkeypatch.setattr(view, "refresh_media_url", lambda job: pytest.fail("it was read again"))
    assert not view.renew_media_url(make_video_job("completed"))


def test_a_still_never_costs_a_request_to_the_service(
    make_video_job, vera, upstream, client_of, monkeypatch
):
    monkeypatch.setattr(view, "refresh_media_url", lambda job: pytest.fail("it was read again"))
    upstream(MediaGone())
    client = client_of(vera)
    assert client.get(f"/videos/{make_video_job('completed').pk}/media/?still=1").status_code == 204


@pytest.mark.parametrize("error", [UnsafeMediaAddress("http://10.0.0.1/"), MediaUnavailable("x")])
def test_what_cannot_be_had_says_nothing_about_where_it_is(
    error, make_video_job, vera, upstream, client_of
):
    upstream(error)
    answer = client_of(vera).get(f"/videos/{make_video_job('completed').pk}/media/")
    assert answer.status_code == 502
    assert "10.0.0.1" not in answer.content.decode()
