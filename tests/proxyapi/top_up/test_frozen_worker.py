"""A worker that froze for longer than a change is its own: another one took it, and one sends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from proxyapi import top_up
from proxyapi.models import TopUpChange, TopUpChangeState
from proxyapi.top_up.change_dispatch import CHANGE_ABANDONED_AFTER, recover_abandoned_change
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response
from tests.proxyapi.top_up.conftest import MORE, PATH, preference

Asked = Callable[..., TopUpChange]
Gone = Callable[[TopUpChange], object]
BUSY = httpx.Response(429, headers={"Retry-After": "7"})


def sent(change: TopUpChange) -> None:
    """The beat gave it to another worker, and that one is done."""
    TopUpChange.objects.filter(pk=change.pk).update(due_at=timezone.now())
    top_up.process_change(change.pk)


def taken(change: TopUpChange) -> None:
    """Another worker has it, and reads the preference first."""
    due_at = timezone.now() + CHANGE_ABANDONED_AFTER + timedelta(seconds=9)
    TopUpChange.objects.filter(pk=change.pk).update(due_at=due_at)


def on_its_way(change: TopUpChange) -> None:
    """Another worker has it, and waits for the answer to its PUT."""
    taken(change)
    TopUpChange.objects.filter(pk=change.pk).update(sent_at=timezone.now())


def freeze(
    upstream: ScriptedUpstream, change: TopUpChange, gone: Gone, then: httpx.Response
) -> None:
    """The first worker reads the preference; before it goes on with `then`, `gone` happens."""

    def late(_: httpx.Request) -> httpx.Response:
        gone(change)
        return then

    upstream.respond("GET", PATH, late, make_response(preference()))


@pytest.mark.parametrize(
    ("gone", "puts", "state"),
    [(sent, 1, TopUpChangeState.SAVED), (taken, 0, TopUpChangeState.SENDING)],
)
def test_who_lost_the_change_to_another_sends_nothing(
    gone: Gone,
    puts: int,
    state: TopUpChangeState,
    requested_change: Asked,
    upstream: ScriptedUpstream,
) -> None:
    change = requested_change()
    upstream.respond("PUT", PATH, make_response(preference(MORE)))
    freeze(upstream, change, gone, make_response(preference()))
    top_up.process_change(change.pk)
    change.refresh_from_db()
    assert (len(upstream.request_bodies("PUT", PATH)), change.state) == (puts, state)
    assert (change.sent_at is None) == (gone is taken)


@pytest.mark.parametrize(
    "found", [make_response(preference(MORE)), BUSY], ids=["changed", "no request"]
)
def test_what_another_sends_is_neither_ended_nor_asked_for_again(
    found: httpx.Response, requested_change: Asked, upstream: ScriptedUpstream
) -> None:
    change = requested_change()
    freeze(upstream, change, on_its_way, found)
    top_up.process_change(change.pk)
    change.refresh_from_db()
    assert (change.state, change.sent_at is None) == (TopUpChangeState.SENDING, False)


def test_what_leaves_just_when_it_is_given_up_is_not_asked_for_again(
    requested_change: Asked,
) -> None:
    change, now = requested_change(), timezone.now()
    rows = TopUpChange.objects.filter(pk=change.pk)
    rows.update(state=TopUpChangeState.SENDING, due_at=now)
    read = rows.get()
    rows.update(sent_at=now)
    recover_abandoned_change(read)
    assert rows.get().state == TopUpChangeState.SENDING
