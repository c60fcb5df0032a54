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


def test_the_same_is_told_once_and_a_change_at_once(told: list[Event]) -> None:
    vault, token = uuid4(), uuid4()
    for answered, count in ((True, 1), (True, 1), (False, 2), (False, 2), (True, 3)):
        heard.tell(vault, token, answered=answered)
        assert told == [Event.SERVICE] * count


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
