"""One subscription, and what becomes of its listeners when Redis ends, hangs or is not there."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from uuid import uuid4

import pytest
import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from dashboard.shared.live import event_stream
from dashboard.shared.live.event_stream import HubUnavailable, LiveHub
from dashboard.up import valkey
from proxyapi.events import ChangeEvent, EventType
from tests.dashboard.shared.live.hub_listener import announce, next_message, run_with_hub
from tests.servers import wait_until_ready

pytestmark = pytest.mark.django_db(transaction=True)


def test_tenants_are_notified_in_the_order_of_their_events(monkeypatch):
    """However many events the others have while one is notified."""
    first, second, third = uuid4(), uuid4(), uuid4()
    hub, told = LiveHub(), []

    async def push(tenant, news):
        told.append(tenant)
        if len(told) < 4:
            hub._news[first].add(ChangeEvent(first, EventType.JOB, uuid4()))
        else:
            raise asyncio.CancelledError

    monkeypatch.setattr(hub, "_push_changes", push)
    for tenant in (first, second, third):
        hub._news[tenant].add(ChangeEvent(tenant, EventType.JOB, uuid4()))
    hub._woken.set()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(hub._push_pending())
    assert told == [first, second, third, first]


def test_without_redis_there_is_no_stream(settings):
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"

    async def scene() -> None:
        with pytest.raises(HubUnavailable):
            await LiveHub().wait_until_ready()

    asyncio.run(scene())


def test_a_subscription_that_broke_ends_the_streams(priya, stream_session_of):
    """Events in between were lost: the pages reconnect and are notified of that."""
    tenant = priya.team.tenant_id

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.client_kill_filter(_type="pubsub")
        assert await next_message(page) == ""
        await hub.wait_until_ready()
        assert hub.has_missed_changes(tenant, hub.since - 1), "it hears anew"


@pytest.fixture
def freezable_valkey(settings, tmp_path, monkeypatch) -> Iterator[subprocess.Popen[bytes]]:
    """A Valkey of one's own that may be suspended: it accepts connections and answers nothing."""
    monkeypatch.setattr(event_stream, "REDIS_PING_INTERVAL_S", 1.0)
    process = subprocess.Popen(valkey.valkey_command(tmp_path / "valkey.sock"))
    settings.REDIS_URL = f"unix://{tmp_path}/valkey.sock"
    with redis.Redis.from_url(settings.REDIS_URL, retry=Retry(NoBackoff(), 0)) as client:
        wait_until_ready(process, client.ping, redis.ConnectionError)
    yield process
    process.send_signal(signal.SIGCONT)
    process.terminate()
    process.wait()


def test_a_redis_that_hangs_ends_the_streams_and_one_that_is_quiet_does_not(
    freezable_valkey, priya, stream_session_of, monkeypatch
):
    """Otherwise a page would look live without events: publishers give up after 5 s."""

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(page.messages.get(), 3)  # pings pass
        announce(priya.team.tenant_id, EventType.ALERT, uuid4())
        assert "event: touched" in await next_message(page)
        freezable_valkey.send_signal(signal.SIGSTOP)
        assert await next_message(page) == ""
        with monkeypatch.context() as patch:
            patch.setattr(event_stream, "REDIS_TIMEOUT_S", 0.1)
            for _ in range(2):
                with pytest.raises(HubUnavailable):
                    await hub.wait_until_ready()
        freezable_valkey.send_signal(signal.SIGCONT)
        await hub.wait_until_ready()
