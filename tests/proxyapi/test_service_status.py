"""Whether the service answers is told at once when it changes, and seldom while it does not."""

from __future__ import annotations

from uuid import uuid4

import pytest

from proxyapi import service_status
from proxyapi.events import EventType
from proxyapi.redis_client import connect_redis


@pytest.fixture
def announcements(monkeypatch: pytest.MonkeyPatch) -> list[EventType]:
    events: list[EventType] = []
    monkeypatch.setattr(
        service_status, "publish_event", lambda tenant, event, id: events.append(event)
    )
    return events


def test_a_change_is_announced_at_once_and_so_is_its_second_call_but_no_third(
    announcements: list[EventType],
) -> None:
    """One failed call alone says nothing (`dashboard.shared.service_status`): the second has to
    ring."""
    tenant, token, expected = uuid4(), uuid4(), 0
    for answered, rings in ((True, (1, 1, 0)), (False, (1, 1, 0, 0)), (True, (1,))):
        for ring in rings:
            service_status.announce_reachability(tenant, token, answered=answered)
            expected += ring
            assert announcements == [EventType.SERVICE] * expected


def test_one_tenant_does_not_suppress_the_announcement_to_another(
    announcements: list[EventType],
) -> None:
    for tenant in (uuid4(), uuid4()):
        service_status.announce_reachability(tenant, uuid4(), answered=True)
    assert len(announcements) == 2


def test_more_of_the_same_does_not_delay_the_next_announcement(
    announcements: list[EventType],
) -> None:
    tenant = uuid4()
    key = service_status._counter_key(tenant, answered=True)
    service_status.announce_reachability(tenant, uuid4(), answered=True)
    assert 0 < connect_redis().ttl(key) <= service_status.ANNOUNCE_INTERVAL_S
    connect_redis().expire(key, 3)
    service_status.announce_reachability(tenant, uuid4(), answered=True)
    assert 0 < connect_redis().ttl(key) <= 3


def test_a_redis_before_its_version_7_is_asked_for_nothing_that_it_does_not_know(
    announcements: list[EventType],
) -> None:
    """EXPIRE took no words behind its seconds then."""
    with connect_redis().monitor() as overheard:
        service_status.announce_reachability(uuid4(), uuid4(), answered=True)
        asked: list[str] = []
        while "EXEC" not in asked:
            asked.append(overheard.next_command()["command"])
    assert [it for it in asked if it.startswith("EXPIRE ") and len(it.split()) > 3] == []
    assert announcements


def test_without_redis_a_call_is_not_lost_to_it(
    announcements: list[EventType], settings: pytest.FixtureRequest
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"  # type: ignore[attr-defined]
    service_status.announce_reachability(uuid4(), uuid4(), answered=True)
    assert announcements == []
