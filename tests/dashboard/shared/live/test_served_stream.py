"""The stream of a page through a real server."""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from django.core.asgi import get_asgi_application
from django.db import connection, connections
from django.test import Client

from dashboard.members.actions.deactivation import deactivate_member
from dashboard.members.actions.removal import remove_member, sign_member_out
from dashboard.models import Membership
from dashboard.shared.live import event_stream, views
from dashboard.shared.live.stream_app import StreamApp
from proxyapi.events import EventType, publish_event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
ENDINGS: dict[str, Callable[[Membership, Membership], object]] = {
    "removed": lambda mira, luca: remove_member(luca, by=mira),
    "deactivated": lambda mira, luca: deactivate_member(by=mira, member=luca),
    "signed out": lambda mira, luca: sign_member_out(by=mira, member=luca),
}


@pytest.fixture
def site():
    """The site behind a real uvicorn on a free port, all middleware in place."""
    app = StreamApp(get_asgi_application())
    config = uvicorn.Config(
        app, port=0, lifespan="off", log_config=None, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    patience = threading.Event()
    while not server.started:
        patience.wait(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
    connections.close_all()


@contextlib.contextmanager
def stream_of(site: str, client: Client, **headers: str) -> Iterator[Any]:
    cookies = {"sessionid": client.cookies["sessionid"].value}
    headers = {"Accept-Encoding": "gzip, deflate, br", **headers}
    with (
        httpx.Client(base_url=site, cookies=cookies, timeout=None) as http,  # noqa: S113 - the test has a limit
        http.stream("GET", f"/live/?since={int(time.time())}", headers=headers) as answer,
    ):
        yield answer, answer.iter_raw()


def test_through_a_server_an_event_arrives_at_once_and_uncompressed(
    site, make_video_job, vera, client_of
):
    """Starts a server and talks to it over sockets."""
    job = make_video_job("running")
    with stream_of(site, client_of(vera)) as (answer, chunks):
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["content-encoding"] == "identity"
        assert b"event: hello" in next(chunks)
        publish_event(job.tenant_id, EventType.JOB, job.pk)
        assert f"job-{job.pk}".encode() in next(chunks), "a beat came first"


def test_a_stream_holds_no_database_connection(site, make_video_job, vera, client_of):
    """Starts a server; PostgreSQL counts connections, SQLite has none to count."""
    job = make_video_job("running")
    with stream_of(site, client_of(vera)) as (_, chunks):
        next(chunks)
        publish_event(job.tenant_id, EventType.JOB, job.pk)
        next(chunks)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND state <> 'idle'"
                )
                assert cursor.fetchone() == (0,)


def test_nothing_of_the_request_outlives_the_opening(site, vera, client_of, monkeypatch, caplog):
    caplog.set_level(logging.CRITICAL, "django_structlog")  # pytest keeps what is logged
    requests: list[weakref.ref[Any]] = []
    original = views.build_stream_session

    def remember(request):
        requests.append(weakref.ref(request))
        return original(request)

    monkeypatch.setattr(views, "build_stream_session", remember)
    with stream_of(site, client_of(vera)) as (answer, chunks):
        assert b"event: hello" in next(chunks)
        assert "content-length" not in answer.headers
        gc.collect()
        assert [request() for request in requests] == [None]
        left = [t for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]
        for thread in left:  # it was told to end, and has to be scheduled once more for that
            thread.join(5)
        assert not [thread for thread in left if thread.is_alive()]


def test_a_stream_ends_with_the_session(site, luca, make_video_job, client_of, monkeypatch):
    """Starts a server and waits until it lets go."""
    monkeypatch.setattr(event_stream, "SESSION_CHECK_INTERVAL_S", 0.05)
    client = client_of(luca)
    with stream_of(site, client) as (_, chunks):
        next(chunks)
        client.logout()
        # The sign-out's own audit row may be announced before the session is checked.
        assert [chunk for chunk in chunks if b"data: audit\n" not in chunk] == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_stream_of_who_may_not_enter_any_more_ends_with_no_more_news(
    ending, site, mira, luca, make_video_job, client_of
):
    """A change of the team comes after it, and is not sent. `make bench` says when."""
    job = make_video_job("running")
    with stream_of(site, client_of(luca)) as (_, chunks):
        assert b"event: hello" in next(chunks)
        ENDINGS[ending](mira, luca)
        publish_event(job.tenant_id, EventType.JOB, job.pk)
        rest = b"".join(chunks)
    assert str(job.pk).encode() not in rest
    assert b"event: news" not in rest
