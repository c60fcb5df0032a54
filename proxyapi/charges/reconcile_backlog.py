"""Charges that nobody could be asked about. After a quarter of an hour one is read every ten
minutes only (settle.py); an outage that ends meanwhile is not to be waited for as long.

So the oldest of those of a service asks for all, and the first answer makes them due. A flushed
Redis forgets them, until the next one fails.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import cast
from uuid import UUID

import redis
from django.db.models import QuerySet
from django.utils import timezone

from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import MAX_CHARGE_CRASHES
from proxyapi.polling import circuit_breaker
from proxyapi.redis_client import connect_redis
from proxyapi.upstream import errors

PROBE_INTERVAL = timedelta(seconds=40)
SLOW_READS_AFTER = timedelta(minutes=15)  # since it was sent, it is read every ten minutes
MAX_BACKLOG_AGE = timedelta(
    days=1
)  # since it was sent; a record that stays broken is not asked for like that
BACKLOG_TTL_S = 1200  # seconds; longer than between two readings
MAX_READ_DURATION = timedelta(seconds=25)  # as long as a worker has it at most (`watching.due`)


def join_backlog(charge: Charge, error: errors.UpstreamError) -> bool:
    """Note that its reading failed; whether it is the one that is read again soon."""
    is_new = timezone.now() - (charge.sent_at or charge.created_at) < MAX_BACKLOG_AGE
    if not is_new or not circuit_breaker.is_outage_error(error):
        return False
    with suppress(redis.RedisError):
        connect_redis().sadd(_backlog_key(charge), str(charge.pk))
        connect_redis().expire(_backlog_key(charge), BACKLOG_TTL_S)
        oldest = (
            backlogged_charges(charge)
            .filter(failures__lt=MAX_CHARGE_CRASHES)
            .order_by("sent_at", "pk")
        )
        return oldest.values_list("pk", flat=True).first() == charge.pk
    return False


def wake_backlog(charge: Charge) -> None:
    """Its reading was answered: those of the same service that were not are due now. No others, or
    one whose record is broken would have them all read for ever."""
    with suppress(redis.RedisError):
        others, now = backlogged_charges(charge).exclude(pk=charge.pk), timezone.now()
        if connect_redis().delete(_backlog_key(charge)):
            others.filter(due_at__gt=now + MAX_READ_DURATION).update(due_at=now)


def backlogged_charges(charge: Charge) -> QuerySet[Charge]:
    """Those of its service whose last reading failed."""
    noted = cast("set[bytes]", connect_redis().smembers(_backlog_key(charge)))
    ids = [UUID(id.decode()) for id in noted]
    return Charge.objects.filter(pk__in=ids, state=ChargeState.UNKNOWN)


def _backlog_key(charge: Charge) -> str:
    return f"charges:unread:{charge.account.environment}"
