"""Charges that nobody could be asked about. After a quarter of an hour one is read every ten
minutes only (settle.py); an outage that ends meanwhile is not to be waited for as long.

So one of a service asks for all, and the first answer makes the others due. A flushed Redis forgets
who asks, and the next one that fails does.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import redis
from django.utils import timezone

from proxyapi.allowance import connection
from proxyapi.models import Charge, ChargeState
from proxyapi.upstream import errors
from proxyapi.watching import outage

ASKS_EVERY = timedelta(seconds=40)
FOR = timedelta(days=1)  # since it was sent; a record that stays broken is not asked for like that
REMEMBERED = 1200  # seconds; longer than between two readings
UNDER_WAY = timedelta(seconds=25)  # as long as a worker has it at most (`watching.due`)


def asks_for_all(charge: Charge, error: errors.UpstreamError) -> bool:
    """Note that its reading failed; whether it is the one that is read again soon."""
    is_new = timezone.now() - (charge.sent_at or charge.created_at) < FOR
    if not is_new or not outage.says(error):
        return False
    with suppress(redis.RedisError):
        connection().set(_unread(charge), 1, ex=REMEMBERED)
        turn = ASKS_EVERY - timedelta(seconds=5)
        return bool(connection().set(f"{_unread(charge)}:asks", 1, nx=True, ex=turn))
    return False


def answered(charge: Charge) -> None:
    """Its reading was answered: those of the same service that were not are due now."""
    with suppress(redis.RedisError):
        if connection().delete(_unread(charge)):
            now = timezone.now()
            others = Charge.objects.filter(account__environment=charge.account.environment)
            others = others.filter(state=ChargeState.UNKNOWN, due_at__gt=now + UNDER_WAY)
            others.exclude(pk=charge.pk).update(due_at=now)


def _unread(charge: Charge) -> str:
    return f"charges:unread:{charge.account.environment}"
