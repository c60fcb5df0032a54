"""Which ledgers are due, and one sync: mirror, match, take a checkpoint, schedule the next.

An account is read every minute, seconds after one of its charges was settled, and as soon as the
rate limit allows where it ran out. While the service is in trouble the syncs become rare.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

import redis
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from proxyapi.backoff import Backoff
from proxyapi.ledger import api_view_sync, mirror_range
from proxyapi.ledger.balance_checkpoint import CHECKPOINT_REQUESTS, take_checkpoint
from proxyapi.ledger.mirror import mirror_entries
from proxyapi.ledger.page_reader import open_ledger_reader
from proxyapi.models import Account, Charge, LedgerMirror, Token
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.rate_limiter import Priority, RateLimitExhausted, available, try_acquire
from proxyapi.redis_client import connect_redis
from proxyapi.upstream import errors

SYNC_INTERVAL = timedelta(minutes=1)
SCHEDULE_BEAT = timedelta(seconds=5)  # between two looks at whose turn it is (dashboard/celery.py)
READ_AGE_SLACK = timedelta(seconds=10)
MAX_URGENT_READS_PER_MINUTE = (
    4  # readings a minute that go before the looks, because people wait for their charges
)
FAILURE_BACKOFF = Backoff(timedelta(minutes=2), timedelta(minutes=15))
SYNC_LEASE_DURATION = timedelta(
    minutes=2
)  # after which a turn that did not end belongs to a dead worker
CHECKPOINT_INTERVAL = timedelta(minutes=10)  # while rows come
IDLE_CHECKPOINT_INTERVAL = timedelta(hours=1)  # while none do
NEVER_READ_AT = datetime(1970, 1, 1, tzinfo=UTC)  # when a ledger was read that was not read yet


def accounts_due_for_sync(now: datetime, of: UUID | None = None) -> list[UUID]:
    """Accounts whose ledger should be read now; `of`: this one, if it is among them."""
    read_at = Coalesce(OuterRef("ledger__read_at"), NEVER_READ_AT)
    settled = Charge.objects.filter(account=OuterRef("pk"), state__in=CHARGED_STATES)
    # What was settled before the clock was put back does not count for as long as it lies ahead.
    settled = settled.filter(settled_at__gt=read_at, settled_at__lte=now)
    is_due = Q(ledger__isnull=True) | Q(ledger__due_at__isnull=True) | Q(ledger__due_at__lte=now)
    soon = Q(ledger__troubles=0, ledger__problem="") & Exists(settled)
    free = Q(ledger__lease_expires_at__isnull=True) | Q(ledger__lease_expires_at__lt=now)
    readable = Exists(Token.objects.usable().filter(account=OuterRef("pk")))
    accounts = Account.objects.filter(is_due | soon, free, readable)
    found = accounts if of is None else accounts.filter(pk=of)
    return list(found.values_list("pk", flat=True))


def sync_account(account_id: UUID) -> None:
    """Read the account's ledger as far as it can be read now. Two workers do not do it at once."""
    account = Account.objects.select_related("tenant").get(pk=account_id)
    lease_expires_at = acquire_lease(account)
    if lease_expires_at is None:
        return
    troubles = 0
    try:
        mirror_and_take_checkpoint(account)
    except RateLimitExhausted as error:
        wait = timedelta(seconds=max(1.0, error.wait))
    except errors.UpstreamError:
        troubles = min(mirror_range.get_or_create_ledger(account).troubles + 1, 10)
        wait = FAILURE_BACKOFF.delay_after(SYNC_INTERVAL * 2**troubles)
    else:
        wait = next_sync_delay(mirror_range.get_or_create_ledger(account), timezone.now())
    mine = LedgerMirror.objects.filter(pk=account_id, lease_expires_at=lease_expires_at)
    mine.update(due_at=timezone.now() + wait, troubles=troubles, lease_expires_at=None)


def next_sync_delay(ledger: LedgerMirror, now: datetime) -> timedelta:
    """How long until the ledger's end was read a minute ago, less the beat."""
    wait = SYNC_INTERVAL - SCHEDULE_BEAT
    age = now - ledger.read_at if ledger.read_at else wait
    return wait - age if age < wait and not ledger.problem else wait


def acquire_lease(account: Account) -> datetime | None:
    """Take the turn by conditional update; None when another worker has it."""
    mirror_range.get_or_create_ledger(account)
    now = timezone.now()
    until = now + SYNC_LEASE_DURATION
    free = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=now)
    return (
        until
        if LedgerMirror.objects.filter(free, pk=account.pk).update(lease_expires_at=until)
        else None
    )


def mirror_and_take_checkpoint(account: Account) -> None:
    """The first checkpoint does not wait for the older rows, which take many syncs, nor the mirror
    for a balance that cannot be read, nor people for the checkpoint."""
    awaited = is_sync_urgent(mirror_range.get_or_create_ledger(account))
    if (
        mirror_range.get_or_create_ledger(account).anchor_balance is None
        and not awaited
        and can_take_checkpoint(account)
    ):
        with suppress(errors.UpstreamError):
            take_checkpoint(account)
    ledger = mirror_range.get_or_create_ledger(account)
    mirror_entries(account, newest=is_ledger_end_stale(ledger, timezone.now()), awaited=awaited)
    now = timezone.now()
    if is_checkpoint_due(ledger := mirror_range.get_or_create_ledger(account), now):
        take_checkpoint(
            account,
            Priority.SETTLEMENT if is_checkpoint_overdue(ledger, now) else Priority.LEDGER_SYNC,
        )


def can_take_checkpoint(account: Account) -> bool:
    """Whether all requests of a checkpoint fit now; a part of them would be spent for nothing."""
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    if source is None:
        return False
    return (
        available(connect_redis(), source.token.bucket, Priority.LEDGER_SYNC) >= CHECKPOINT_REQUESTS
    )


def is_ledger_end_stale(ledger: LedgerMirror, now: datetime) -> bool:
    """Whether the ledger's end is worth a request before what else is to be read."""
    if ledger.read_at is None or ledger.high < ledger.total:
        return True
    return (
        ledger.read_at < now - SYNC_INTERVAL + READ_AGE_SLACK
        or has_newly_settled_charge(ledger)
        or (ledger.low == 0 and not api_view_sync.is_api_view_behind(ledger))
    )


def is_sync_urgent(ledger: LedgerMirror) -> bool:
    """Whether somebody waits for the entry of a new charge; a few times a minute, or polling would
    pay for it. Raises `RateLimiterUnavailable`."""
    if not has_newly_settled_charge(ledger):
        return False
    name = f"awaited:{ledger.pk}"
    return try_acquire(
        connect_redis(), name, Priority.PERSON, limit=MAX_URGENT_READS_PER_MINUTE
    ).is_granted


def has_newly_settled_charge(ledger: LedgerMirror) -> bool:
    """Whether one of our charges was settled since the ledger's end was read."""
    settled = Charge.objects.filter(account_id=ledger.pk, state__in=CHARGED_STATES)
    since = ledger.read_at or NEVER_READ_AT
    return settled.filter(settled_at__gt=since, settled_at__lte=timezone.now()).exists()


def is_checkpoint_overdue(ledger: LedgerMirror, now: datetime) -> bool:
    """Whether the checkpoint's requests go before polling, once an hour: an account that is polled
    all day would get none."""
    if (ledger.checkpoint_at or ledger.account.created_at) > now - IDLE_CHECKPOINT_INTERVAL:
        return False
    with suppress(redis.RedisError):
        return bool(
            connect_redis().set(f"weighing-late:{ledger.pk}", 1, nx=True, ex=CHECKPOINT_INTERVAL)
        )
    return False


def is_checkpoint_due(ledger: LedgerMirror, now: datetime) -> bool:
    if ledger.problem:
        return False
    if ledger.checkpoint_high is None or ledger.checkpoint_at is None:
        return True
    every = (
        IDLE_CHECKPOINT_INTERVAL if ledger.checkpoint_high == ledger.high else CHECKPOINT_INTERVAL
    )
    return ledger.checkpoint_at < now - every
