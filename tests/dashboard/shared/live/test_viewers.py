"""An open page records viewers: its team's videos are polled sooner, its own first."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.shared.live import event_stream
from dashboard.shared.live.stream_sessions import StreamSession
from dashboard.shared.live.views import referring_video_id
from proxyapi.polling import viewers
from proxyapi.redis_client import connect_redis
from tests.dashboard.shared.live.hub_listener import RecordedPage, stream_ticket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def instant_hub(monkeypatch):
    """The hub says at once, not in five seconds, which pages are open."""
    monkeypatch.setattr(event_stream, "SESSION_CHECK_INTERVAL_S", 0.01)


def test_an_open_page_is_marked_with_its_team_and_its_video(vera, client_of, instant_hub):
    key = client_of(vera).session.session_key  # signed in, so that the stream stays
    team, video, other = vera.team, uuid4(), uuid4()
    ticket = StreamSession(team.tenant_id, team.pk, vera.user_id, key)

    async def scene() -> list[float]:
        hub = event_stream.LiveHub()
        await hub.wait_until_ready()
        hub.open_stream(stream_ticket(ticket, video), RecordedPage().send)
        jobs = [(team.tenant_id, video), (team.tenant_id, other), (uuid4(), video)]
        weights = [viewers.UNWATCHED_WEIGHT]
        while weights[0] == viewers.UNWATCHED_WEIGHT:
            weights = await asyncio.to_thread(viewers.viewer_weights, jobs)
        await hub.close()
        return weights

    assert asyncio.run(scene()) == [
        viewers.VIDEO_WATCHED_WEIGHT,
        viewers.TEAM_WATCHED_WEIGHT,
        viewers.UNWATCHED_WEIGHT,
    ]


@pytest.mark.parametrize("address", ["", "http://testserver/nowhere/", "http://[", "/library/"])
def test_a_page_that_is_no_video_names_none(rf, address):
    assert referring_video_id(rf.get("/live/", headers={"referer": address})) is None


def test_the_video_is_the_one_whose_page_opens_the_stream(rf):
    job = uuid4()
    address = f"http://testserver{reverse('video', args=[job])}?from={timezone.now():%Y}"
    assert referring_video_id(rf.get("/live/", headers={"referer": address})) == job


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
