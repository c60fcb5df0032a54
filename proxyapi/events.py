"""News for whoever shows pages: what changed, by id, over Redis once the change is committed.

A listener that misses one loses nothing: the database is the truth, an event only says "look
again".
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
PUBLISH_FAILED = "an event was not announced: Redis is away"
log = logging.getLogger(__name__)


class EventType(StrEnum):
    JOB = "job"
    CHARGE = "charge"
    ACCOUNT = "account"
    TOKEN = "token"  # noqa: S105 - the name of an event
    LEDGER = "ledger"  # entries came or were matched; the id is the account's
    TOP_UP = "top_up"  # the id is the account's
    BUDGET = "budget"  # a cap or an ask changed
    ALERT = "alert"
    SERVICE = "service"  # it answered or did not; the id is the token's that asked


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
    """Announce after commit. Without Redis nobody hears it, and nothing else happens."""
    transaction.on_commit(lambda: _publish_now(ChangeEvent(tenant, event, id)))


def _publish_now(news: ChangeEvent) -> None:
    if news.event_type is EventType.CHARGE:
        failpoints.hit_failpoint("publish")
    try:
        connect_redis().publish(EVENTS_CHANNEL, news.to_json())
    except redis.RedisError:
        if redis_client.uses_page_timeout():
            Thread(target=_publish_in_background, args=(news,), daemon=True).start()
        else:
            log.warning(PUBLISH_FAILED)


def _publish_in_background(news: ChangeEvent) -> None:
    """Those who listen end the streams of their pages after 4 s without Redis
    (dashboard/shared/live/event_stream.py). Of a shorter silence they know nothing: what is
    announced in it must come once it is over."""
    try:
        redis_client.connect_redis_patiently().publish(EVENTS_CHANNEL, news.to_json())
    except redis.RedisError:
        log.warning(PUBLISH_FAILED)
