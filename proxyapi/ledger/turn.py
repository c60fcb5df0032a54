"""Whose turn it is to be read, and one turn: mirror, match, weigh, and say when to come again.

An account is read every minute, within seconds after one of its charges was settled, and as soon
as the allowance goes on where it ran out. While the service is in trouble the turns become rare.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

import redis
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from proxyapi.ledger import api_view, segment
from proxyapi.ledger.mirror import mirror
from proxyapi.ledger.page import reader
from proxyapi.ledger.weighing import REQUESTS, weigh
from proxyapi.models import Account, Charge, LedgerMirror, Token
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.rate_limiter import (
    Priority,
    RateLimitExhausted,
    available,
    redis_connection,
    try_acquire,
)
from proxyapi.upstream import errors

EVERY = timedelta(minutes=1)
BEAT = timedelta(seconds=5)  # between two looks at whose turn it is (dashboard/celery.py)
SLACK = timedelta(seconds=10)
AWAITED = 4  # readings a minute that go before the looks, because people wait for their charges
LONGEST = timedelta(minutes=15)  # between two tries while the service is in trouble
HELD = timedelta(minutes=2)  # after which a turn that did not end belongs to a dead worker
WEIGHED_EVERY = timedelta(minutes=10)  # while rows come
WEIGHED_AGAIN = timedelta(hours=1)  # while none do
NEVER = datetime(1970, 1, 1, tzinfo=UTC)  # when a ledger was read that was not read yet


def due(now: datetime, of: UUID | None = None) -> list[UUID]:
    """Accounts whose ledger should be read now; `of`: this one, if it is among them."""
    read_at = Coalesce(OuterRef("ledger__read_at"), NEVER)
    settled = Charge.objects.filter(account=OuterRef("pk"), state__in=CHARGED_STATES)
    # What was settled before the clock was put back does not count for as long as it lies ahead.
    settled = settled.filter(settled_at__gt=read_at, settled_at__lte=now)
    is_due = Q(ledger__isnull=True) | Q(ledger__due_at__isnull=True) | Q(ledger__due_at__lte=now)
    soon = Q(ledger__troubles=0, ledger__problem="") & Exists(settled)
    free = Q(ledger__held_until__isnull=True) | Q(ledger__held_until__lt=now)
    readable = Exists(Token.objects.usable().filter(account=OuterRef("pk")))
    accounts = Account.objects.filter(is_due | soon, free, readable)
    found = accounts if of is None else accounts.filter(pk=of)
    return list(found.values_list("pk", flat=True))


def take_turn(account_id: UUID) -> None:
    """Read the account's ledger as far as it can be read now. Two workers do not do it at once."""
    account = Account.objects.select_related("vault").get(pk=account_id)
    held_until = hold(account)
    if held_until is None:
        return
    troubles = 0
    try:
        mirror_and_weigh(account)
    except RateLimitExhausted as error:
        wait = timedelta(seconds=max(1.0, error.wait))
    except errors.UpstreamError:
        troubles = min(segment.of(account).troubles + 1, 10)
        wait = min(EVERY * 2**troubles, LONGEST)
    else:
        wait = rest(segment.of(account), timezone.now())
    mine = LedgerMirror.objects.filter(pk=account_id, held_until=held_until)
    mine.update(due_at=timezone.now() + wait, troubles=troubles, held_until=None)


def rest(ledger: LedgerMirror, now: datetime) -> timedelta:
    """How long until the ledger's end was read a minute ago, less the beat; a turn that spent its
    requests on older rows did not read it."""
    wait = EVERY - BEAT
    age = now - ledger.read_at if ledger.read_at else wait
    return wait - age if age < wait and not ledger.problem else wait


def hold(account: Account) -> datetime | None:
    """Take the turn by conditional update; None when another worker has it."""
    segment.of(account)
    now = timezone.now()
    until = now + HELD
    free = Q(held_until__isnull=True) | Q(held_until__lt=now)
    return (
        until if LedgerMirror.objects.filter(free, pk=account.pk).update(held_until=until) else None
    )


def mirror_and_weigh(account: Account) -> None:
    """The anchor first: a long history is filled up for many turns, and nothing waits for that.

    Nor does the mirror wait for a balance that cannot be read, nor people for the anchor.
    """
    awaited = is_awaited(segment.of(account))
    if segment.of(account).anchor_balance is None and not awaited and may_weigh(account):
        with suppress(errors.UpstreamError):
            weigh(account)
    ledger = segment.of(account)
    mirror(account, newest=is_old(ledger, timezone.now()), awaited=awaited)
    now = timezone.now()
    if is_weighing_due(ledger := segment.of(account), now):
        weigh(
            account, Priority.SETTLEMENT if is_weighing_late(ledger, now) else Priority.LEDGER_SYNC
        )


def may_weigh(account: Account) -> bool:
    """Whether all that a weighing asks fits now. The one request that is lent each half minute
    while videos are looked at would read the ledger's end for it, and nothing else, every time."""
    source = reader(account, Priority.LEDGER_SYNC)
    if source is None:
        return False
    return available(redis_connection(), source.token.bucket, Priority.LEDGER_SYNC) >= REQUESTS


def is_old(ledger: LedgerMirror, now: datetime) -> bool:
    """Whether the ledger's end is worth a request before what else is to be read."""
    if ledger.read_at is None or ledger.high < ledger.total:
        return True
    return (
        ledger.read_at < now - EVERY + SLACK
        or has_settled(ledger)
        or (ledger.low == 0 and not api_view.is_open(ledger))
    )


def is_awaited(ledger: LedgerMirror) -> bool:
    """Whether people look for the row of what they did just now. However much they do, it is so a
    few times a minute only: else watching would pay for it. Raises `AllowanceUnknown`."""
    if not has_settled(ledger):
        return False
    name = f"awaited:{ledger.pk}"
    return try_acquire(redis_connection(), name, Priority.PERSON, limit=AWAITED).is_granted


def has_settled(ledger: LedgerMirror) -> bool:
    """Whether one of our charges was settled since the ledger's end was read."""
    settled = Charge.objects.filter(account_id=ledger.pk, state__in=CHARGED_STATES)
    since = ledger.read_at or NEVER
    return settled.filter(settled_at__gt=since, settled_at__lte=timezone.now()).exists()


def is_weighing_late(ledger: LedgerMirror, now: datetime) -> bool:
    """Of an account whose videos are looked at all day long nothing would be weighed: its three
    requests go before the looks then, each hour; where that fails, not at once again."""
    if (ledger.weighed_at or ledger.account.created_at) > now - WEIGHED_AGAIN:
        return False
    with suppress(redis.RedisError):
        return bool(
            redis_connection().set(f"weighing-late:{ledger.pk}", 1, nx=True, ex=WEIGHED_EVERY)
        )
    return False


def is_weighing_due(ledger: LedgerMirror, now: datetime) -> bool:
    if ledger.problem:
        return False
    if ledger.weighed_high is None or ledger.weighed_at is None:
        return True
    every = WEIGHED_AGAIN if ledger.weighed_high == ledger.high else WEIGHED_EVERY
    return ledger.weighed_at < now - every
