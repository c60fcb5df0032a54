"""Events for pages: what changed, by id, published over Redis after the commit.

A listener that misses an event loses nothing: the database is the truth, and an event only says
that something should be read again.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from enum import StrEnum
from threading import Thread
from uuid import UUID

import redis
from django.db import transaction

from proxyapi import failpoints, redis_client
from proxyapi.redis_client import connect_redis

EVENTS_CHANNEL = "reelroom:events"
PUBLISH_FAILED = "an event was not published: Redis does not respond"
log = logging.getLogger(__name__)


class EventType(StrEnum):
    JOB = "job"
    DRAFT = "draft"  # a draft was started, edited, deleted or restored; the id is the job's
    CHARGE = "charge"
    ACCOUNT = "account"
    TOKEN = "token"  # noqa: S105 - the name of an event
    LEDGER = "ledger"  # entries were added or matched; the id is the account's
    TOP_UP = "top_up"  # the id is the account's
    BUDGET = "budget"  # a limit or an approval request changed
    ALERT = "alert"
    PRESET = "preset"  # presets or the brand kit changed; the id is the team's
    STORYBOARD = "storyboard"  # its title, engine, scenes or the people in them changed
    BATCH = "batch"  # a batch or one of its rows changed
    IDEA = "idea"  # ideas were added, or their list was read; the id is the account's
    AUDIT = "audit"  # the audit log grew or was verified; the id is the team's
    MEMBER = "member"  # a member, a role or an invitation changed; the id is the team's
    SERVICE = "service"  # the upstream answered or did not; the id is the calling token's


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    tenant_id: UUID
    event_type: EventType
    id: UUID

    def to_json(self) -> str:
        return json.dumps([str(self.tenant_id), self.event_type, str(self.id)])

    @classmethod
    def from_json(cls, text: str | bytes) -> ChangeEvent:
        tenant, event, id = json.loads(text)
        return cls(UUID(tenant), EventType(event), UUID(id))


def publish_event(tenant: UUID, event: EventType, id: UUID) -> None:
    """Publish after the commit. Without Redis the event is dropped."""
    transaction.on_commit(lambda: _publish_now(ChangeEvent(tenant, event, id)))


def _publish_now(event: ChangeEvent) -> None:
    if event.event_type is EventType.CHARGE:
        failpoints.hit_failpoint("publish")
    try:
        connect_redis().publish(EVENTS_CHANNEL, event.to_json())
    except redis.RedisError:
        if redis_client.uses_page_timeout():
            Thread(target=_publish_in_background, args=(event,), daemon=True).start()
        else:
            log.warning(PUBLISH_FAILED)


def _publish_in_background(event: ChangeEvent) -> None:
    """Retry briefly: event streams end 4 s after Redis stops answering
    (dashboard/shared/live/event_stream.py) but do not notice a shorter gap, so an event published
    during the gap must arrive after it."""
    try:
        redis_client.connect_redis_patiently().publish(EVENTS_CHANNEL, event.to_json())
    except redis.RedisError:
        log.warning(PUBLISH_FAILED)
