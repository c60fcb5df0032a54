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
from proxyapi.allowance import connection

CHANNEL = "reelroom:events"
NOT_ANNOUNCED = "an event was not announced: Redis is away"
log = logging.getLogger(__name__)


class Event(StrEnum):
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
class News:
    vault: UUID
    event: Event
    id: UUID

    def dump(self) -> str:
        return json.dumps([str(self.vault), self.event, str(self.id)])

    @classmethod
    def load(cls, text: str | bytes) -> News:
        vault, event, id = json.loads(text)
        return cls(UUID(vault), Event(event), UUID(id))


def publish(vault: UUID, event: Event, id: UUID) -> None:
    """Announce after commit. Without Redis nobody hears it, and nothing else happens."""
    transaction.on_commit(lambda: _send(News(vault, event, id)))


def _send(news: News) -> None:
    if news.event is Event.CHARGE:
        failpoints.reach("publish")
    try:
        connection().publish(CHANNEL, news.dump())
    except redis.RedisError:
        if redis_client.is_hasty():
            Thread(target=_send_patiently, args=(news,), daemon=True).start()
        else:
            log.warning(NOT_ANNOUNCED)


def _send_patiently(news: News) -> None:
    """Those who listen end the streams of their pages after 4 s without Redis (dashboard/live.py).
    Of a shorter silence they know nothing: what is announced in it must come once it is over."""
    try:
        redis_client.connect_patiently().publish(CHANNEL, news.dump())
    except redis.RedisError:
        log.warning(NOT_ANNOUNCED)
