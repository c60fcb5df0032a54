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

from proxyapi.allowance import connection
from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import PARKED_AFTER
from proxyapi.upstream import errors
from proxyapi.watching import outage

ASKS_EVERY = timedelta(seconds=40)
SELDOM_AFTER = timedelta(minutes=15)  # since it was sent, it is read every ten minutes
FOR = timedelta(days=1)  # since it was sent; a record that stays broken is not asked for like that
REMEMBERED = 1200  # seconds; longer than between two readings
UNDER_WAY = timedelta(seconds=25)  # as long as a worker has it at most (`watching.due`)


def asks_for_all(charge: Charge, error: errors.UpstreamError) -> bool:
    """Note that its reading failed; whether it is the one that is read again soon."""
    is_new = timezone.now() - (charge.sent_at or charge.created_at) < FOR
    if not is_new or not outage.says(error):
        return False
    with suppress(redis.RedisError):
        connection().sadd(_unread(charge), str(charge.pk))
        connection().expire(_unread(charge), REMEMBERED)
        oldest = unread(charge).filter(crashes__lt=PARKED_AFTER).order_by("sent_at", "pk")
        return oldest.values_list("pk", flat=True).first() == charge.pk
    return False


def answered(charge: Charge) -> None:
    """Its reading was answered: those of the same service that were not are due now. No others, or
    one whose record is broken would have them all read for ever."""
    with suppress(redis.RedisError):
        others, now = unread(charge).exclude(pk=charge.pk), timezone.now()
        if connection().delete(_unread(charge)):
            others.filter(due_at__gt=now + UNDER_WAY).update(due_at=now)


def unread(charge: Charge) -> QuerySet[Charge]:
    """Those of its service whose last reading failed."""
    noted = cast("set[bytes]", connection().smembers(_unread(charge)))
    ids = [UUID(id.decode()) for id in noted]
    return Charge.objects.filter(pk__in=ids, state=ChargeState.UNKNOWN)


def _unread(charge: Charge) -> str:
    return f"charges:unread:{charge.account.environment}"
