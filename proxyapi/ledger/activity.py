"""Which accounts are idle: their ledgers are read rarely, since nobody waits for what they say.

An account is active while somebody of its team has a page open, while a charge of it is not
settled, and for `ACTIVE_FOR` after a row, a charge or a refund that is owed. What needs fresher
rows than an idle ledger gives is thereby active: the price of a charge, budgets, a refund. What
does without: the forecast, which is computed each quarter of an hour from whole days; the alerts
on a low balance, automatic top-ups and spend outside the portal, which tell of an idle account
within `MAX_IDLE_AGE`, and from then on each minute.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from proxyapi import viewers
from proxyapi.ledger import api_view_sync
from proxyapi.models import Charge, LedgerEntry, LedgerMirror

ACTIVE_FOR = timedelta(minutes=30)
REFUND_AWAITED_FOR = timedelta(days=1)  # an older one that is owed is not read for each minute
# The time between two reads of an idle ledger is drawn, so that many do not become due together.
MIN_IDLE_AGE, MAX_IDLE_AGE = timedelta(minutes=10), timedelta(minutes=14)


def is_idle(ledger: LedgerMirror, now: datetime) -> bool:
    """Whether nobody waits for rows of this ledger, and none is known to be missing."""
    account, since = ledger.account, now - ACTIVE_FOR
    if not ledger.is_complete or ledger.doubts or account.created_at > since:
        return False
    charges = Charge.objects.filter(account=account)
    owed = charges.with_refund_owed().filter(refund_owed_at__gt=now - REFUND_AWAITED_FOR)
    return not (
        viewers.is_viewed(account.tenant_id)
        or LedgerEntry.objects.filter(account=account, happened_at__gt=since).exists()
        or charges.holding().exists()
        or charges.filter(sent_at__gt=since).exists()
        or owed.exists()
        or (not ledger.api_problem and api_view_sync.is_api_view_behind(ledger))
    )


def draw_idle_delay() -> timedelta:
    return MIN_IDLE_AGE + (MAX_IDLE_AGE - MIN_IDLE_AGE) * random.random()  # noqa: S311 - no secret
