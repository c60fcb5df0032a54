"""The instance page of an operator refreshes itself when any team changes, and is told no more
than that."""

from __future__ import annotations

import asyncio
import time

import pytest
from django.urls import reverse

from dashboard.shared.live import event_stream
from dashboard.shared.live.event_stream import LiveHub
from dashboard.shared.live.stream_sessions import StreamSession, StreamTicket
from proxyapi.events import EventType
from tests.dashboard.shared.live.hub_listener import (
    RecordedPage,
    announce,
    next_message,
    request_ticket,
)

INSTANCE_TOUCHED = "event: touched\ndata: instance\n\n"


@pytest.fixture
def quick_hub(monkeypatch):
    monkeypatch.setattr(event_stream, "INSTANCE_PUSH_INTERVAL_S", 0.01)


def ticket_of(member, client_of, *, watches_instance, since=None):
    session = StreamSession(
        member.team.tenant_id,
        member.team_id,
        member.user_id,
        client_of(member).session.session_key,
    )
    return StreamTicket(session, frozenset(), since or time.time(), watches_instance)


async def open_page(hub, ticket):
    page = RecordedPage()
    hub.open_stream(ticket, page.send)
    hello = await next_message(page)
    return page, hello


@pytest.mark.django_db(transaction=True)
def test_a_change_of_another_team_is_told_to_the_instance_page_as_one_word(
    operator, otto, client_of, quick_hub
):
    tickets = [ticket_of(operator, client_of, watches_instance=watch) for watch in (True, False)]

    async def scene():
        hub = LiveHub()
        await hub.wait_until_ready()
        (instance, _), (library, _) = [await open_page(hub, ticket) for ticket in tickets]
        announce(otto.team.tenant_id, EventType.MEMBER, otto.team_id)
        assert await next_message(instance) == INSTANCE_TOUCHED
        announce(operator.team.tenant_id, EventType.MEMBER, operator.team_id)
        assert "data: member" in await next_message(library)
        assert "data: instance" not in "".join(map(bytes.decode, library.messages._queue))
        await hub.close()

    asyncio.run(scene())


@pytest.mark.django_db(transaction=True)
def test_a_page_that_missed_a_change_of_another_team_is_stale(operator, otto, client_of, quick_hub):
    made_at = time.time() + 1
    watching, other = (
        ticket_of(operator, client_of, watches_instance=watch, since=made_at)
        for watch in (True, False)
    )

    async def scene():
        hub = LiveHub()
        await hub.wait_until_ready()
        hub.since = made_at - 60
        hub._latest[otto.team.tenant_id] = made_at + 1
        assert "data: stale" in (await open_page(hub, watching))[1]
        assert "data: fresh" in (await open_page(hub, other))[1]
        await hub.close()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("path", "is_named"), [("/instance/", True), ("/instance/teams/", True), ("/members/", False)]
)
def test_the_stream_of_an_instance_page_is_another_one_than_of_the_teams_pages(
    path, is_named, operator, client_of
):
    page = client_of(operator).get(path).content.decode()
    address = f"/live/?team={operator.team_id}&amp;user={operator.user_id}"
    assert f'data-live="{address}{"&amp;instance=1" * is_named}"' in page


def test_only_an_operators_instance_page_watches_the_instance(operator, priya):
    assert request_ticket(operator, instance=1).watches_instance
    assert not request_ticket(operator).watches_instance
    assert not request_ticket(priya, instance=1).watches_instance


def test_the_part_that_refreshes_has_all_teams_and_no_shell(operator, otto, client_of):
    part = client_of(operator).get(reverse("instance"), {"part": "body"}).content.decode()
    assert 'hx-trigger="reelroom:instance from:body"' in part
    assert "Otherwhere" in part
    assert "<html" not in part
    assert client_of(otto).get(reverse("instance"), {"part": "body"}).status_code == 404
