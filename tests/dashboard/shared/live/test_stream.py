"""The stream of a page, with a real Valkey, and once through a real server."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from redis.asyncio import Redis

from dashboard.library.queries.video_list import load_library_page
from dashboard.models import Membership
from dashboard.shared.live import change_rendering, event_stream
from dashboard.shared.live.change_rendering import render_tenant_changes
from dashboard.shared.live.event_stream import (
    MAX_QUEUED_MESSAGES,
    SERVICE_NEWS_GRACE_S,
)
from dashboard.shared.live.stream_sessions import expired_sessions
from proxyapi.events import ChangeEvent, EventType
from tests.dashboard.shared.live.hub_listener import (
    announce,
    next_message,
    request_ticket,
    run_with_hub,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_page_of_the_team_gets_the_change_and_no_other_team_does(
    make_video_job, priya, vera, otto, stream_session_of
):
    job = make_video_job("running")

    @run_with_hub(stream_session_of(priya), stream_session_of(vera), stream_session_of(otto))
    async def _(hub, first, second, stranger):
        announce(job.tenant_id, EventType.JOB, job.pk)
        messages = [await next_message(first), await next_message(second)]
        assert messages[0] == messages[1]
        assert first.messages.empty(), "a change is one message"
        assert "event: news" in messages[0]
        assert f'id="job-{job.pk}"' in messages[0]
        assert stranger.messages.empty()


@pytest.mark.parametrize("event", EventType)
def test_a_page_receives_the_topics_that_changed(event, priya, otto, stream_session_of):
    tenant = priya.team.tenant_id

    @run_with_hub(stream_session_of(priya), stream_session_of(otto))
    async def _(hub, page, stranger):
        announce(tenant, event, tenant)
        assert f"event: touched\ndata: {event}\n" in await next_message(page)
        assert stranger.messages.empty()


def test_several_news_of_one_kind_are_one_word(priya):
    tenant = priya.team.tenant_id
    news = [
        ChangeEvent(tenant, EventType.LEDGER, uuid4()),
        ChangeEvent(tenant, EventType.LEDGER, uuid4()),
    ]
    assert (
        event_stream.event_names([*news, ChangeEvent(tenant, EventType.CHARGE, tenant)])
        == "charge ledger"
    )


def test_a_change_is_rendered_once_for_all(make_video_job, priya, stream_session_of, monkeypatch):
    job, ticket = make_video_job("running"), stream_session_of(priya)
    bundle = Mock(return_value="<p>once</p>")
    monkeypatch.setattr(event_stream, "render_tenant_changes", bundle)

    @run_with_hub(*[ticket] * 20)
    async def _(hub, *pages):
        announce(job.tenant_id, EventType.JOB, job.pk)
        for page in pages:
            assert "once" in await next_message(page)
        assert bundle.call_count == 1


def test_one_process_has_one_subscription(priya, stream_session_of, monkeypatch):
    connect = Mock(wraps=Redis.from_url)
    monkeypatch.setattr(Redis, "from_url", connect)

    @run_with_hub(*[stream_session_of(priya)] * 30)
    async def _(hub, *pages):
        assert len(hub.listeners) == 30
        assert connect.call_count == 1


def test_all_pages_are_sent_the_same_bytes(priya, vera, stream_session_of):
    @run_with_hub(stream_session_of(priya), stream_session_of(vera))
    async def _(hub, first, second):
        announce(priya.team.tenant_id, EventType.ALERT, uuid4())
        bodies = [await asyncio.wait_for(page.messages.get(), 5) for page in (first, second)]
        assert bodies[0] is bodies[1]


def test_a_page_that_does_not_read_keeps_eight_messages_at_most(priya, stream_session_of):
    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        (listener,) = hub.listeners
        page.reads.clear()
        listener.offer(b"data: being sent\n\n")
        await asyncio.sleep(0)
        for number in range(MAX_QUEUED_MESSAGES):
            listener.offer(f"data: {number}\n\n".encode())
        assert len(listener.queue) == MAX_QUEUED_MESSAGES
        listener.offer(b"data: too many\n\n")
        page.reads.set()
        assert "being sent" in await next_message(page)
        assert "event: refetch\ndata: overflow" in await next_message(page)
        page.reads.clear()
        listener.offer(b"data: being sent\n\n")
        await asyncio.sleep(0)
        listener.end()
        for number in range(MAX_QUEUED_MESSAGES + 1):
            listener.offer(f"data: {number}\n\n".encode())
        page.reads.set()
        assert "being sent" in await next_message(page)
        assert await next_message(page) == "", "what is offered after the end revives no stream"


def test_a_page_that_does_not_read_holds_nobody_else_up(priya, vera, stream_session_of):
    @run_with_hub(stream_session_of(priya), stream_session_of(vera))
    async def _(hub, slow, page):
        slow.reads.clear()
        for _ in range(2):
            announce(priya.team.tenant_id, EventType.ALERT, uuid4())
            assert "event: touched" in await next_message(page)


def sign_out(membership: Membership) -> None:
    Session.objects.all().delete()


def disable(membership: Membership) -> None:
    membership.user.is_active = False
    membership.user.save()


def change_password(membership: Membership) -> None:
    membership.user.set_password("another one")
    membership.user.save()


@pytest.mark.parametrize("leave", [sign_out, disable, change_password, Membership.delete])
def test_who_leaves_hears_nothing_more(leave, make_video_job, luca, stream_session_of):
    job, ticket = make_video_job("running"), stream_session_of(luca)
    leave(luca)

    @run_with_hub(ticket)
    async def _(hub, page):
        announce(job.tenant_id, EventType.JOB, job.pk)
        assert await next_message(page) == ""


def test_who_leaves_in_silence_is_let_go_within_five_seconds(luca, stream_session_of, monkeypatch):
    assert event_stream.SESSION_CHECK_INTERVAL_S < 5
    monkeypatch.setattr(event_stream, "SESSION_CHECK_INTERVAL_S", 0.01)
    ticket = stream_session_of(luca)
    luca.delete()

    @run_with_hub(ticket)
    async def _(hub, page):
        assert await next_message(page) == ""


def test_another_members_leaving_ends_nobody_elses_stream(luca, priya, stream_session_of):
    tickets = [stream_session_of(luca), stream_session_of(priya)]
    luca.delete()
    assert expired_sessions(tickets) == {tickets[0]}


def test_a_change_that_cannot_be_rendered_makes_the_pages_refetch(
    make_video_job, priya, stream_session_of, monkeypatch, caplog
):
    job = make_video_job("running")
    monkeypatch.setattr(event_stream, "render_tenant_changes", lambda *_: 1 / 0)

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        announce(job.tenant_id, EventType.JOB, job.pk)
        assert "event: refetch" in await next_message(page)


def test_more_changes_than_a_message_holds_make_the_pages_refetch(
    make_video_job, priya, token, stream_session_of, monkeypatch
):
    monkeypatch.setattr(change_rendering, "MAX_VIDEOS_PER_PUSH", 2)
    first, second = make_video_job("running"), make_video_job("running")
    html = render_tenant_changes(
        token.tenant_id, {ChangeEvent(token.tenant_id, EventType.TOKEN, token.pk)}
    )
    assert all(f'id="job-{job.pk}"' in html for job in (first, second))
    make_video_job("running")

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        announce(token.tenant_id, EventType.TOKEN, token.pk)
        message = await next_message(page)
        assert "event: refetch\ndata: many\n" in message
        assert "event: news" not in message


def test_a_page_is_notified_when_it_missed_something(make_video_job, priya, stream_session_of):
    job, made_at = make_video_job("running"), time.time()

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        assert hub.has_missed_changes(job.tenant_id, made_at), "it was made before anybody listened"
        assert not hub.has_missed_changes(job.tenant_id, time.time() + 1)
        announce(job.tenant_id, EventType.JOB, job.pk)
        await next_message(page)
        assert hub.has_missed_changes(job.tenant_id, hub.since)


def id_of(message: str) -> float:
    """What the browser names when it comes back; both events of a message stand behind it."""
    before, _, after = message.partition("id: ")
    assert "event: news" in before
    assert after.partition("\n")[2].startswith("event: touched")
    return float(after.partition("\n")[0])


def test_what_comes_while_a_bundle_is_drawn_is_missed_by_who_has_only_that_bundle(
    make_video_job, priya, stream_session_of, monkeypatch
):
    job, clock = make_video_job("running"), Mock(wraps=time)
    monkeypatch.setattr(event_stream, "time", clock)

    def slowly(*_: object) -> str:
        clock.time.return_value = began + 60
        return "<p>drawn</p>"

    monkeypatch.setattr(event_stream, "render_tenant_changes", slowly)
    began = clock.time.return_value = time.time() + 60

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        announce(job.tenant_id, EventType.JOB, job.pk)
        id = id_of(await next_message(page))
        assert began - 2 <= id <= began
        assert hub.has_missed_changes(job.tenant_id, id + 3600), (
            "an id of before the clock was put back"
        )


def test_news_that_another_process_heard_a_little_sooner_is_not_hidden_by_an_id_of_this_one():
    at = 1_800_000_000.01
    assert b"id: 1799999999\n" in event_stream.format_event("touched", "job", at)


def test_a_new_page_does_not_refetch_for_a_service_response(priya, stream_session_of):
    """It receives the next one; a page that was away for longer refetches."""
    tenant = priya.team.tenant_id

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        announce(tenant, EventType.SERVICE, tenant)
        assert 'id="service"' in await next_message(page)
        hub.since = 0.0
        assert not hub.has_missed_changes(tenant, time.time() - 1)
        assert hub.has_missed_changes(tenant, time.time() - SERVICE_NEWS_GRACE_S - 1)


@pytest.mark.parametrize("event", [EventType.JOB, EventType.CHARGE, EventType.TOKEN])
def test_what_is_news_of_a_video(event, make_video_job, add_open_charge, token):
    job = make_video_job("running")
    ids = {
        EventType.JOB: job.pk,
        EventType.CHARGE: add_open_charge(job, "held").pk,
        EventType.TOKEN: token.pk,
    }
    html = render_tenant_changes(job.tenant_id, {ChangeEvent(job.tenant_id, event, ids[event])})
    for part in ("", "-player", "-status-wide", "-lineage", "-head-acts"):
        assert f'id="job-{job.pk}{part}"' in html
    assert 'id="team-balance"' in html


def test_a_bundle_holds_nothing_that_depends_on_the_reader(make_video_job, add_settled_charge):
    job = make_video_job("failed")
    add_settled_charge(job)
    html = render_tenant_changes(job.tenant_id, {ChangeEvent(job.tenant_id, EventType.JOB, job.pk)})
    assert "btn" not in html
    assert "csrf" not in html


def test_events_of_another_tenant_bring_nothing_of_ours(make_video_job, otto):
    job = make_video_job("running")
    html = render_tenant_changes(
        otto.team.tenant_id, {ChangeEvent(otto.team.tenant_id, EventType.JOB, job.pk)}
    )
    assert str(job.pk) not in html


def test_a_bundle_takes_the_same_queries_for_one_change_and_for_twenty(
    make_video_job, add_settled_charge, django_assert_max_num_queries
):
    jobs = [make_video_job("running") for _ in range(20)]
    for job in jobs:
        add_settled_charge(job)
    with django_assert_max_num_queries(9):
        render_tenant_changes(
            jobs[0].tenant_id, {ChangeEvent(job.tenant_id, EventType.JOB, job.pk) for job in jobs}
        )


def test_without_the_application_in_front_there_is_no_stream(vera, client_of):
    """An empty answer would have pages open streams again and again."""
    assert client_of(vera).get("/live/").status_code == 503


def test_nobody_listens_without_signing_in(client):
    """A page that it was led to would be an error in the console: a stream is closed by 204."""
    assert client.get("/live/").status_code == 204


def test_the_page_names_its_stream_and_when_it_was_made(vera, client_of):
    page = client_of(vera).get("/library/").content.decode()
    address = rf"/live/\?team={vera.team_id}&amp;user={vera.user_id}"
    assert re.search(rf'data-live="{address}" data-video="" data-since="\d{{10}}"', page)
    assert page.count("data-live=") == 1


def test_a_page_of_another_team_or_user_than_the_present_one_hears_nothing(vera, luca, otto):
    assert request_ticket(vera, team=vera.team_id, user=vera.user_id)
    assert not request_ticket(vera, team=otto.team_id, user=vera.user_id)
    assert not request_ticket(vera, team=vera.team_id, user=luca.user_id)


def test_what_comes_while_a_page_is_made_is_news_to_it(vera, client_of, monkeypatch, time_machine):
    browser, requested_at = client_of(vera), int(time.time())
    time_machine.move_to(requested_at, tick=False)

    def slowly(*args: Any) -> Any:
        time_machine.shift(5)
        return load_library_page(*args)

    monkeypatch.setattr("dashboard.library.queries.video_list.load_library_page", slowly)
    assert f'data-since="{requested_at}"' in browser.get("/library/").content.decode()
