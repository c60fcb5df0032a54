"""Charges that nobody could be asked about. After a quarter of an hour one is read every ten
minutes only (settle.py); an outage that ends meanwhile is not to be waited for as long.

So the oldest of a service asks for all, and the first answer makes the others due. A flushed Redis
forgets that there are any, until the next one fails.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import redis
from django.db.models import QuerySet
from django.utils import timezone

from proxyapi.allowance import connection
from proxyapi.models import Charge, ChargeState
from proxyapi.upstream import errors
from proxyapi.watching import outage

ASKS_EVERY = timedelta(seconds=40)
SELDOM_AFTER = timedelta(minutes=15)  # since it was sent, it is read every ten minutes
FOR = timedelta(days=1)  # since it was sent; a record that stays broken is not asked for like that
REMEMBERED = 1200  # seconds; longer than between two readings
UNDER_WAY = timedelta(seconds=25)  # as long as a worker has it at most (`watching.due`)


def asks_for_all(charge: Charge, error: errors.UpstreamError) -> bool:
    """Note that its reading failed; whether it is the one that is read again soon."""
    if not outage.says(error):
        return False
    with suppress(redis.RedisError):
        connection().set(_unread(charge), 1, ex=REMEMBERED)
    now = timezone.now()
    oldest = of_its_service(charge).filter(sent_at__range=(now - FOR, now - SELDOM_AFTER))
    return oldest.order_by("sent_at", "pk").values_list("pk", flat=True).first() == charge.pk


def answered(charge: Charge) -> None:
    """Its reading was answered: those of the same service that were not are due now."""
    with suppress(redis.RedisError):
        if connection().delete(_unread(charge)):
            now = timezone.now()
            others = of_its_service(charge).exclude(pk=charge.pk)
            others.filter(due_at__gt=now + UNDER_WAY).update(due_at=now)


def of_its_service(charge: Charge) -> QuerySet[Charge]:
    return Charge.objects.filter(
        state=ChargeState.UNKNOWN, account__environment=charge.account.environment
    )


def _unread(charge: Charge) -> str:
    return f"charges:unread:{charge.account.environment}"
