"""An open page records viewers: its team's videos are polled sooner, its own first."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from django.urls import reverse

from dashboard.shared.live import event_stream
from dashboard.shared.live.stream_sessions import StreamSession
from dashboard.shared.live.views import MAX_VIDEOS_PER_STREAM
from proxyapi import viewers
from proxyapi.redis_client import connect_redis
from tests.dashboard.shared.live.hub_listener import RecordedPage, request_ticket, stream_ticket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def instant_hub(monkeypatch):
    """The hub says at once, not in five seconds, which pages are open."""
    monkeypatch.setattr(event_stream, "SESSION_CHECK_INTERVAL_S", 0.01)


def test_open_pages_are_marked_with_their_team_and_their_videos(vera, client_of, instant_hub):
    key = client_of(vera).session.session_key  # signed in, so that the stream stays
    team, videos, other = vera.team, [uuid4(), uuid4()], uuid4()
    ticket = StreamSession(team.tenant_id, team.pk, vera.user_id, key)

    async def scene() -> list[float]:
        hub = event_stream.LiveHub()
        await hub.wait_until_ready()
        hub.open_stream(stream_ticket(ticket, *videos), RecordedPage().send)
        jobs = [(team.tenant_id, job) for job in [*videos, other]] + [(uuid4(), videos[0])]
        weights = [viewers.UNWATCHED_WEIGHT]
        while weights[0] == viewers.UNWATCHED_WEIGHT:
            weights = await asyncio.to_thread(viewers.viewer_weights, jobs)
        await hub.close()
        return weights

    assert asyncio.run(scene()) == [
        *[viewers.VIDEO_WATCHED_WEIGHT] * 2,
        viewers.TEAM_WATCHED_WEIGHT,
        viewers.UNWATCHED_WEIGHT,
    ]


def test_a_stream_is_of_the_videos_that_its_pages_name(vera):
    jobs = [uuid4() for _ in range(MAX_VIDEOS_PER_STREAM + 5)]
    assert request_ticket(vera).job_ids == frozenset()
    assert request_ticket(vera, videos=f"{jobs[0]},nothing,{jobs[1]}").job_ids == set(jobs[:2])
    named = request_ticket(vera, videos=",".join(map(str, jobs)))
    assert named.job_ids == set(jobs[:MAX_VIDEOS_PER_STREAM])


def test_a_page_names_the_video_that_it_shows(vera, make_video_job, client_of):
    job = make_video_job("running")
    for path, video in ((reverse("video", args=[job.pk]), job.pk), ("/library/", "")):
        assert f'data-video="{video}"' in client_of(vera).get(path).content.decode()


def test_marks_go_by_themselves():
    tenant, job = uuid4(), uuid4()
    viewers.record_viewers([tenant], [(tenant, job)])
    keys = connect_redis().keys("polling:viewers:*")
    assert len(keys) == 2
    assert all(0 < connect_redis().ttl(key) <= viewers.VIEWER_TTL_S for key in keys)


def test_without_redis_nobody_is_preferred(settings, tmp_path):
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    viewers.record_viewers([uuid4()])
    assert viewers.viewer_weights([(uuid4(), uuid4())]) == [viewers.UNWATCHED_WEIGHT]
