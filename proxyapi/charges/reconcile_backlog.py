"""Backlog of charges that could not be read while the service was down.

After 15 minutes a charge is read every ten minutes only (reconcile.py), too slow when an outage
ends. So only the oldest of the backlog is read often, and when it gets an answer all others become
due. If Redis loses the backlog, the next failed read starts it again.
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
SLOW_READS_AFTER = timedelta(minutes=15)  # since the sending; then it is read every ten minutes
# Since the sending; a record that stays broken is not probed any more.
MAX_BACKLOG_AGE = timedelta(days=1)
BACKLOG_TTL_S = 1200  # seconds; longer than the interval between two reads
MAX_READ_DURATION = timedelta(seconds=25)  # the lease of a worker (`polling.due_work`)


def join_backlog(charge: Charge, error: errors.UpstreamError) -> bool:
    """Record that reading the charge failed; return whether it is the one that is read again
    soon."""
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
    """The charge was read: make the backlog of the same service due. Only once, or a single charge
    with a broken record would make all of them due for ever."""
    with suppress(redis.RedisError):
        backlog, now = backlogged_charges(charge).exclude(pk=charge.pk), timezone.now()
        if connect_redis().delete(_backlog_key(charge)):
            backlog.filter(due_at__gt=now + MAX_READ_DURATION).update(due_at=now)


def backlogged_charges(charge: Charge) -> QuerySet[Charge]:
    """The unknown charges of the same service whose last read failed."""
    members = cast("set[bytes]", connect_redis().smembers(_backlog_key(charge)))
    ids = [UUID(id.decode()) for id in members]
    return Charge.objects.filter(pk__in=ids, state=ChargeState.UNKNOWN)


def _backlog_key(charge: Charge) -> str:
    return f"charges:reconcile-backlog:{charge.account.environment}"
