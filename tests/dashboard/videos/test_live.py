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

from dashboard import fragments, live
from dashboard.fragments import bundle
from dashboard.live import BRIEF, DEPTH, Listener
from dashboard.models import Membership
from dashboard.queries.videos.library import library_of
from dashboard.tickets import lapsed
from proxyapi.events import ChangeEvent, EventType
from tests.dashboard.videos.listening import announce, heard, listening

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_page_of_the_team_gets_the_change_and_no_other_team_does(
    film, priya, vera, otto, ticket_of
):
    job = film("running")

    @listening(ticket_of(priya), ticket_of(vera), ticket_of(otto))
    async def _(hub, first, second, stranger):
        announce(job.vault_id, EventType.JOB, job.pk)
        messages = [await heard(first), await heard(second)]
        assert messages[0] == messages[1]
        assert "event: news" in messages[0]
        assert f'id="job-{job.pk}"' in messages[0]
        assert stranger.queue.empty()


@pytest.mark.parametrize("event", EventType)
def test_a_page_is_told_what_was_touched(event, priya, otto, ticket_of):
    vault = priya.team.vault_id

    @listening(ticket_of(priya), ticket_of(otto))
    async def _(hub, listener, stranger):
        announce(vault, event, vault)
        assert f"event: touched\ndata: {event}\n" in await heard(listener)
        assert stranger.queue.empty()


def test_several_news_of_one_kind_are_one_word(priya):
    vault = priya.team.vault_id
    news = [
        ChangeEvent(vault, EventType.LEDGER, uuid4()),
        ChangeEvent(vault, EventType.LEDGER, uuid4()),
    ]
    assert live.topics([*news, ChangeEvent(vault, EventType.CHARGE, vault)]) == "charge ledger"


def test_a_change_is_rendered_once_for_all(film, priya, ticket_of, monkeypatch):
    job, ticket = film("running"), ticket_of(priya)
    bundle = Mock(return_value="<p>once</p>")
    monkeypatch.setattr(live, "bundle", bundle)

    @listening(*[ticket] * 20)
    async def _(hub, *listeners):
        announce(job.vault_id, EventType.JOB, job.pk)
        for listener in listeners:
            assert "once" in await heard(listener)
        assert bundle.call_count == 1


def test_one_process_has_one_subscription(priya, ticket_of, monkeypatch):
    connect = Mock(wraps=Redis.from_url)
    monkeypatch.setattr(Redis, "from_url", connect)

    @listening(*[ticket_of(priya)] * 30)
    async def _(hub, *listeners):
        assert len(hub.listeners) == 30
        assert connect.call_count == 1


def test_a_page_that_does_not_read_keeps_eight_messages_at_most(priya, ticket_of):
    async def scene() -> None:
        listener = Listener(ticket_of_priya)
        for number in range(DEPTH + 1):
            listener.offer(f"event: news\ndata: {number}\n\n".encode())
        assert listener.queue.qsize() == 1
        assert b"refetch" in listener.queue.get_nowait()

    ticket_of_priya = ticket_of(priya)
    asyncio.run(scene())


def sign_out(membership: Membership) -> None:
    Session.objects.all().delete()


def disable(membership: Membership) -> None:
    membership.user.is_active = False
    membership.user.save()


def change_password(membership: Membership) -> None:
    membership.user.set_password("another one")
    membership.user.save()


@pytest.mark.parametrize("leave", [sign_out, disable, change_password, Membership.delete])
def test_who_leaves_hears_nothing_more(leave, film, luca, ticket_of):
    job, ticket = film("running"), ticket_of(luca)
    leave(luca)

    @listening(ticket)
    async def _(hub, listener):
        announce(job.vault_id, EventType.JOB, job.pk)
        assert await heard(listener) == ""


def test_who_leaves_in_silence_is_let_go_within_five_seconds(luca, ticket_of, monkeypatch):
    assert live.GUARD <= 5
    monkeypatch.setattr(live, "GUARD", 0.01)
    ticket = ticket_of(luca)
    luca.delete()

    @listening(ticket)
    async def _(hub, listener):
        assert await heard(listener) == ""


def test_another_members_leaving_ends_nobody_elses_stream(luca, priya, ticket_of):
    tickets = [ticket_of(luca), ticket_of(priya)]
    luca.delete()
    assert lapsed(tickets) == {tickets[0]}


def test_a_change_that_cannot_be_drawn_sends_the_pages_to_look(
    film, priya, ticket_of, monkeypatch, caplog
):
    job = film("running")
    monkeypatch.setattr(live, "bundle", lambda *_: 1 / 0)

    @listening(ticket_of(priya))
    async def _(hub, listener):
        announce(job.vault_id, EventType.JOB, job.pk)
        assert "event: refetch" in await heard(listener)


def test_news_of_more_videos_than_a_bundle_holds_sends_the_pages_to_look(
    film, priya, token, ticket_of, monkeypatch
):
    monkeypatch.setattr(fragments, "MOST", 2)
    first, second = film("running"), film("running")
    html = bundle(token.vault_id, {ChangeEvent(token.vault_id, EventType.TOKEN, token.pk)})
    assert all(f'id="job-{job.pk}"' in html for job in (first, second))
    film("running")

    @listening(ticket_of(priya))
    async def _(hub, listener):
        announce(token.vault_id, EventType.TOKEN, token.pk)
        message = await heard(listener)
        assert "event: refetch\ndata: many\n" in message
        assert "event: news" not in message


def test_a_page_is_told_when_it_missed_something(film, priya, ticket_of):
    job, made_at = film("running"), time.time()

    @listening(ticket_of(priya))
    async def _(hub, listener):
        assert hub.missed(job.vault_id, made_at), "it was made before anybody listened"
        assert not hub.missed(job.vault_id, time.time() + 1)
        announce(job.vault_id, EventType.JOB, job.pk)
        await heard(listener)
        assert hub.missed(job.vault_id, hub.since)


def id_of(message: str) -> float:
    """What the browser names when it comes back; both events of a message stand behind it."""
    before, _, after = message.partition("id: ")
    assert "event: news" in before
    assert after.partition("\n")[2].startswith("event: touched")
    return float(after.partition("\n")[0])


def test_what_comes_while_a_bundle_is_drawn_is_missed_by_who_has_only_that_bundle(
    film, priya, ticket_of, monkeypatch
):
    job, clock = film("running"), Mock(wraps=time)
    monkeypatch.setattr(live, "time", clock)

    def slowly(*_: object) -> str:
        clock.time.return_value = began + 60
        return "<p>drawn</p>"

    monkeypatch.setattr(live, "bundle", slowly)
    began = clock.time.return_value = time.time() + 60

    @listening(ticket_of(priya))
    async def _(hub, listener):
        announce(job.vault_id, EventType.JOB, job.pk)
        id = id_of(await heard(listener))
        assert began - 2 <= id <= began
        assert hub.missed(job.vault_id, id + 3600), "an id of before the clock was put back"


def test_news_that_another_process_heard_a_little_sooner_is_not_hidden_by_an_id_of_this_one():
    at = 1_800_000_000.01
    assert b"id: 1799999999\n" in live.event("touched", "job", at)


def test_a_new_page_is_not_sent_to_look_for_an_answer_of_the_service(priya, ticket_of):
    """It is told of the next one; who was away for longer looks."""
    vault = priya.team.vault_id

    @listening(ticket_of(priya))
    async def _(hub, listener):
        announce(vault, EventType.SERVICE, vault)
        assert 'id="service"' in await heard(listener)
        hub.since = 0.0
        assert not hub.missed(vault, time.time() - 1)
        assert hub.missed(vault, time.time() - BRIEF - 1)


@pytest.mark.parametrize("event", [EventType.JOB, EventType.CHARGE, EventType.TOKEN])
def test_what_is_news_of_a_video(event, film, hold, token):
    job = film("running")
    ids = {EventType.JOB: job.pk, EventType.CHARGE: hold(job, "held").pk, EventType.TOKEN: token.pk}
    html = bundle(job.vault_id, {ChangeEvent(job.vault_id, event, ids[event])})
    for part in ("", "-player", "-status-wide", "-lineage", "-head-acts"):
        assert f'id="job-{job.pk}{part}"' in html
    assert 'id="purse"' in html


def test_a_bundle_holds_nothing_that_depends_on_the_reader(film, spend):
    job = film("failed")
    spend(job)
    html = bundle(job.vault_id, {ChangeEvent(job.vault_id, EventType.JOB, job.pk)})
    assert "btn" not in html
    assert "csrf" not in html


def test_news_of_another_vault_brings_nothing_of_ours(film, otto):
    job = film("running")
    html = bundle(otto.team.vault_id, {ChangeEvent(otto.team.vault_id, EventType.JOB, job.pk)})
    assert str(job.pk) not in html


def test_a_bundle_takes_the_same_queries_for_one_change_and_for_twenty(
    film, spend, django_assert_max_num_queries
):
    jobs = [film("running") for _ in range(20)]
    for job in jobs:
        spend(job)
    with django_assert_max_num_queries(8):
        bundle(jobs[0].vault_id, {ChangeEvent(job.vault_id, EventType.JOB, job.pk) for job in jobs})


def test_a_browser_that_left_before_its_stream_began_leaves_no_listener(priya, ticket_of):
    """What is never iterated never ends; after twenty of these its person would get 503."""
    ticket = ticket_of(priya)

    async def scene() -> tuple[int, int]:
        hub = live.hub()
        await hub.ready()
        left, stays = (live.stream(Listener(ticket), 0.0) for _ in range(2))
        await left.aclose()
        await anext(stays)
        during = len(hub.listeners)
        await stays.aclose()
        after = len(hub.listeners)
        await hub.close()
        return during, after

    assert asyncio.run(scene()) == (1, 0)


def test_a_stream_of_a_hub_that_hears_nothing_any_more_ends_at_once(priya, ticket_of):
    listener = Listener(ticket_of(priya))

    async def scene() -> list[bytes]:
        return [message async for message in live.stream(listener, 0.0)]

    (hello,) = asyncio.run(scene())
    assert b"event: hello" in hello
    wait = int(re.findall(rb"retry: (\d+)\n", hello)[0])
    assert wait < 3_000, "pages would say that live news is interrupted"


def test_nobody_listens_without_signing_in(client):
    assert client.get("/live/").status_code == 302


def test_the_page_names_its_stream_and_when_it_was_made(vera, client_of):
    page = client_of(vera).get("/library/").content.decode()
    assert re.search(rf'data-live="/live/\?team={vera.team_id}" data-since="\d{{10}}"', page)
    assert page.count("data-live=") == 1


def test_what_comes_while_a_page_is_made_is_news_to_it(vera, client_of, monkeypatch, time_machine):
    browser, asked_at = client_of(vera), int(time.time())
    time_machine.move_to(asked_at, tick=False)

    def slowly(*args: Any) -> Any:
        time_machine.shift(5)
        return library_of(*args)

    monkeypatch.setattr("dashboard.views.library.library_of", slowly)
    assert f'data-since="{asked_at}"' in browser.get("/library/").content.decode()
