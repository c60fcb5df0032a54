"""Whether the service answers is told at once when it changes, and seldom while it does not."""

from __future__ import annotations

from uuid import uuid4

import pytest

from proxyapi import heard
from proxyapi.events import Event


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    events: list[Event] = []
    monkeypatch.setattr(heard, "publish", lambda vault, event, id: events.append(event))
    return events


def test_a_change_is_told_at_once_and_so_is_its_second_call_but_no_third(
    told: list[Event],
) -> None:
    """One failed call alone says nothing (`dashboard.queries.service`): the second has to ring."""
    vault, token, expected = uuid4(), uuid4(), 0
    for answered, rings in ((True, (1, 1, 0)), (False, (1, 1, 0, 0)), (True, (1,))):
        for ring in rings:
            heard.tell(vault, token, answered=answered)
            expected += ring
            assert told == [Event.SERVICE] * expected


def test_one_vault_keeps_no_other_from_being_told(told: list[Event]) -> None:
    for vault in (uuid4(), uuid4()):
        heard.tell(vault, uuid4(), answered=True)
    assert len(told) == 2


def test_without_redis_a_call_is_not_lost_to_it(
    told: list[Event], settings: pytest.FixtureRequest
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"  # type: ignore[attr-defined]
    heard.tell(uuid4(), uuid4(), answered=True)
    assert told == []
