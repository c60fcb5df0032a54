"""GET /_events: what happened to a script's jobs and charges, once each, from where it left off."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone
from redis.asyncio.client import PubSub

from dashboard.models import Membership
from proxyapi import redis_client
from proxyapi.charges import transitions
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType
from proxyapi.gateway import event_stream, keys
from proxyapi.gateway.request_log import prune_events
from proxyapi.gateway.threads import in_thread
from proxyapi.models import (
    ApiEvent,
    ApiEventType,
    ApiKey,
    Charge,
    ChargeState,
    GatewayRequest,
    Job,
    KeyScope,
    Tenant,
    Token,
)
from proxyapi.polling.poller import poll_job
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.gateway.event_client import FROM_THE_BEGINNING, Client, read, watch
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    make_response,
)

RENDER = ("POST", "/faceless/7/render")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "CHECK_INTERVAL_S", 0.02)


def record(key: ApiKey, event_type: str, **fields: Any) -> None:
    fields = {"tenant_id": key.tenant_id, "member_id": key.owner_id, **fields}
    ApiEvent.objects.record(ApiEventType(event_type), uuid4(), {"url": "/"}, **fields)


def test_a_render_from_its_charge_to_its_end(script: Script, upstream: ScriptedUpstream) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 10))
    script.call(*RENDER)
    job, charge = Job.objects.get(), Charge.objects.get()
    video = {"id": 7, "video": {"status": "completed", "url": "http://127.0.0.1/a.mp4"}}
    upstream.respond("GET", "/faceless/7", make_response(video))
    before = timezone.now() - timedelta(seconds=6)
    Job.objects.update(polled_at=before, next_poll_at=before)
    poll_job(job.pk)
    settled, completed = read(script, 2, **FROM_THE_BEGINNING)
    assert (settled["type"], completed["type"]) == ("charge.settled", "video.completed")
    assert settled["data"] == {
        "charge": str(charge.pk),
        "operation": "faceless.render",
        "state": "confirmed",
        "price": "10",
        "cost": "10",
        "job": str(job.pk),
        "resource": "7",
        "key": str(script.key.pk),
        "url": f"/api/v2/_charges/{charge.pk}",
    }
    assert completed["data"] == {
        "job": str(job.pk),
        "resource": "7",
        "credits": "10",
        "failure_code": None,
        "key": str(script.key.pk),
        "url": "/api/v2/faceless/7",
    }
    assert settled["timestamp"].endswith("Z")


def test_each_state_of_a_charge_is_told_once_however_often_it_is_settled(
    script: Script, token: Token, priya: Membership
) -> None:
    job = JobFactory.create(account=token.account, token=token, member=priya.user)
    fields = {"api_key": script.key, "member": priya.user, "sent_at": timezone.now()}
    charge = ChargeFactory.create(job=job, state=ChargeState.SENDING, **fields)
    again = Charge.objects.get_with_relations(charge.pk)
    transitions.mark_unknown(charge, None)
    transitions.mark_unknown(again, None)
    again = Charge.objects.get_with_relations(charge.pk)
    for row in (charge, again):
        transitions.mark_charged(row, ChargeState.MATCHED, Decimal(12))
    told = read(script, 2, **FROM_THE_BEGINNING)
    assert [(one["type"], one["data"]["state"], one["data"]["cost"]) for one in told] == [
        ("charge.unknown", "unknown", None),
        ("charge.settled", "matched", "12"),
    ]


def test_the_event_of_a_change_that_is_rolled_back_is_not_told(script: Script) -> None:
    with suppress(RuntimeError), transaction.atomic():
        record(script.key, "video.completed")
        raise RuntimeError
    record(script.key, "clip.completed")
    assert [one["type"] for one in read(script, 1, **FROM_THE_BEGINNING)] == ["clip.completed"]


def test_a_new_stream_begins_with_what_happens_now(script: Script) -> None:
    record(script.key, "video.failed")

    async def story(client: Client) -> None:
        await in_thread(record, script.key, "video.completed")
        await client.wait(lambda: client.messages)

    client = watch(script, story)
    assert client.types == ["video.completed"]
    assert client.start_headers["content-type"] == "text/event-stream"
    assert client.start_headers["cache-control"] == "no-store"


def test_a_stream_goes_on_where_the_one_before_ended(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "EVENTS_AT_ONCE", 3)
    for _ in range(7):
        record(script.key, "video.completed")
    first = read(script, 7, **FROM_THE_BEGINNING)
    assert [one["position"] for one in first] == list(range(1, 8))
    rest = read(script, 4, headers={"last-event-id": str(first[2]["position"])})
    assert rest == first[3:]


def test_an_event_that_is_committed_late_is_not_left_out(script: Script) -> None:
    """Its time is before that of one which was read already."""
    record(script.key, "video.completed")
    (first,) = read(script, 1, **FROM_THE_BEGINNING)
    record(script.key, "clip.completed")
    ApiEvent.objects.filter(position=None).update(happened_at=timezone.now() - timedelta(days=1))
    (late,) = read(script, 1, headers={"last-event-id": str(first["position"])})
    assert (late["type"], late["position"]) == ("clip.completed", 2)


@pytest.mark.parametrize("types", ["clip.failed,approval.sent", "clip.failed, approval.sent,"])
def test_only_the_types_that_are_asked_for_are_sent(script: Script, types: str) -> None:
    for name in ("video.completed", "clip.failed", "approval.failed", "approval.sent"):
        record(script.key, name)
    told = read(script, 2, params={"types": types}, **FROM_THE_BEGINNING)
    assert {one["type"] for one in told} == {"clip.failed", "approval.sent"}


def test_a_key_sees_what_its_owner_did_and_what_is_for_the_whole_team(
    make_script: Callable[..., Script], mira: Membership, otto: Membership
) -> None:
    script, of_owner = make_script(), make_script(owner=mira)
    record(script.key, "video.completed")
    record(of_owner.key, "clip.completed")
    record(script.key, "credits.low", member_id=None)
    record(make_script(owner=otto).key, "storyboard.completed")
    own = read(script, 2, **FROM_THE_BEGINNING)
    assert {one["type"] for one in own} == {"video.completed", "credits.low"}
    of_team = read(of_owner, 3, **FROM_THE_BEGINNING)
    assert {one["type"] for one in of_team} == {"video.completed", "clip.completed", "credits.low"}


ENDS: dict[str, Callable[[ApiKey, Membership], object]] = {
    "revoked": lambda key, _: keys.revoke_keys([key], timezone.now()),
    "expired": lambda key, _: ApiKey.objects.update(expires_at=timezone.now()),
    "rotated": lambda key, _: keys.rotate_key(key, timedelta()),
    "address": lambda key, _: ApiKey.objects.update(networks=["192.0.2.0/24"]),
    "scope": lambda key, _: ApiKey.objects.update(scopes=["create"]),
    "removed": lambda _, owner: owner.delete(),
    "suspended": lambda key, _: Tenant.objects.update(
        suspended_at=timezone.now(), suspension_reason="x"
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_stream_ends_with_its_key(script: Script, priya: Membership, end: str) -> None:
    async def story(client: Client) -> None:
        await in_thread(ENDS[end], script.key, priya)
        await client.wait(lambda: client.has_ended)
        await in_thread(record, script.key, "video.completed")

    client = watch(script, story)
    assert client.has_ended and client.types == []


def test_a_stream_with_the_value_before_the_rotation_lasts_as_long_as_that(script: Script) -> None:
    async def story(client: Client) -> None:
        await in_thread(keys.rotate_key, script.key, timedelta(hours=1))
        await in_thread(record, script.key, "video.completed")
        await client.wait(lambda: client.messages)
        assert not client.has_ended
        await in_thread(ApiKey.objects.update, previous_until=timezone.now())
        await client.wait(lambda: client.has_ended)

    assert watch(script, story).types == ["video.completed"]


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"headers": {"authorization": "Bearer rr_live_x"}}, 401, "GEN-UNAUTHORIZED"),
        ({"params": {"types": "video.completed,video.done"}}, 400, "GEN-WRONG-ARGS"),
        ({"headers": {"last-event-id": "1"}}, 400, "GEN-WRONG-ARGS"),
        ({"headers": {"last-event-id": "x"}}, 400, "GEN-WRONG-ARGS"),
        ({"headers": {"last-event-id": "9" * 30}}, 400, "GEN-WRONG-ARGS"),
    ],
)
def test_a_wrong_request_gets_no_stream(
    script: Script, asked: dict[str, Any], status: int, code: str
) -> None:
    response = script.call("GET", "/_events", **asked)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


def test_head_has_the_headers_alone(script: Script) -> None:
    response = script.call("HEAD", "/_events")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/event-stream"


def test_the_scope_read_is_needed(make_script: Callable[..., Script]) -> None:
    response = make_script(scopes=(KeyScope.RENDER,)).call("GET", "/_events")
    assert (response.status_code, response.json()["error"]["scope"]) == (403, "read")


def test_an_idle_stream_gets_a_heartbeat(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_INTERVAL_S", 0.0)

    async def story(client: Client) -> None:
        await client.wait(lambda: client.text.count("\n:\n\n") >= 2)

    assert watch(script, story).messages == []


def test_a_stream_that_opens_during_a_check_stays_open(
    make_script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, other = make_script(), make_script()
    checking, may_end = threading.Event(), threading.Event()
    real = event_stream.find_readers

    def check_slowly(found: Any) -> Any:
        readers = real(found)
        if threading.current_thread() is not threading.main_thread() and opened:
            opened.pop()
            checking.set()
            may_end.wait()
        return readers

    monkeypatch.setattr(event_stream, "find_readers", check_slowly)
    opened: list[Client] = []

    async def play() -> bool:
        first = Client(script)
        await first.wait(lambda: first.text)
        opened.append(first)
        await first.wait(checking.is_set)
        second = Client(other)
        await second.wait(lambda: second.text)
        may_end.set()
        await in_thread(record, script.key, "clip.failed")
        await second.wait(lambda: second.messages)
        for client in (first, second):
            await client.close()
        return first.has_ended or second.has_ended

    assert script.loop.run(play()) is False


def test_without_redis_a_stream_goes_on(script: Script, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    async def story(client: Client) -> None:
        await in_thread(record, script.key, "video.completed")
        await client.wait(lambda: client.messages)

    assert watch(script, story).types == ["video.completed"]


def test_a_listener_ends_although_its_cancellation_is_caught(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As inside redis-py, when closing a connection fails meanwhile."""
    real, told = PubSub.get_message, list[str]()

    async def catch(pubsub: PubSub, *args: Any, **named: Any) -> Any:
        told.append("waits")
        try:
            return await real(pubsub, *args, **named)
        except asyncio.CancelledError:
            told.append("caught")
            return None

    async def play() -> None:
        listening = asyncio.create_task(event_stream.EventStreams().listen())
        while "waits" not in told:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0)
        listening.cancel()
        await asyncio.wait_for(listening, 60)

    monkeypatch.setattr(PubSub, "get_message", catch)
    script.loop.run(play())
    assert "caught" in told


def test_a_published_change_wakes_a_stream_at_once(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "CHECK_INTERVAL_S", 3600.0)

    async def story(client: Client) -> None:
        await in_thread(record, script.key, "video.completed")
        change = ChangeEvent(script.key.tenant_id, EventType.JOB, script.key.pk)
        while not client.messages:  # until it has subscribed
            await in_thread(redis_client.connect_redis().publish, EVENTS_CHANNEL, change.to_json())
            await asyncio.sleep(0.01)

    client = watch(script, story)
    assert client.types == ["video.completed"]


def test_streams_of_a_team_share_a_read(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    real = event_stream.read_messages

    def count(tenant_id: Any, position: int) -> Any:
        reads.append(position)
        return real(tenant_id, position)

    monkeypatch.setattr(event_stream, "read_messages", count)

    async def play() -> list[str]:
        clients = [Client(script) for _ in range(20)]
        for client in clients:
            await client.wait(lambda client=client: client.text)  # type: ignore[misc]
        await in_thread(record, script.key, "video.completed")
        for client in clients:
            await client.wait(lambda client=client: client.messages)  # type: ignore[misc]
            await client.close()
        return [name for client in clients for name in client.types]

    assert script.loop.run(play()) == ["video.completed"] * 20
    assert reads == [0]


def test_events_are_kept_as_long_as_the_setting_says(script: Script, settings: Any) -> None:
    settings.GATEWAY_EVENT_DAYS = 7
    for name in ("video.completed", "clip.completed"):
        record(script.key, name)
    read(script, 2, **FROM_THE_BEGINNING)
    ApiEvent.objects.filter(position=1).update(happened_at=timezone.now() - timedelta(days=8))
    prune_events()
    assert [one["position"] for one in read(script, 1, **FROM_THE_BEGINNING)] == [2]
    ApiEvent.objects.all().delete()
    record(script.key, "video.failed")
    assert [one["position"] for one in read(script, 1, **FROM_THE_BEGINNING)] == [3]


def test_a_key_may_have_only_so_many_streams_open(
    make_script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "MAX_STREAMS_OF_KEY", 1)
    script, other = make_script(), make_script()
    refused: list[Client] = []

    async def open_more(_: Client) -> None:
        for reader in (script, other):
            refused.append(client := Client(reader))
            await client.wait(lambda: client.text)
            await client.close()

    watch(script, open_more)
    assert [client.status for client in refused] == [429, 200]
    error = json.loads(refused[0].text)["error"]
    assert error["code"] == "TOO-MANY-STREAMS"
    row = GatewayRequest.objects.get(status=429)
    assert (str(row.pk), row.code) == (error["request_id"], "TOO-MANY-STREAMS")
    assert refused[0].start_headers["retry-after"] == "10"
    watch(script, lambda client: asyncio.sleep(0))  # the first one has ended
    assert GatewayRequest.objects.filter(operation="_events", status=200).count() == 3
