"""Which ledgers are due, and one sync: mirror, match, take a checkpoint, schedule the next.

An active account is read every minute, an idle one each twelve (`activity`); both seconds after one
of their charges was settled, and, if the rate limit was exhausted, as soon as it allows. During
upstream errors syncs become rare.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

import redis
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from proxyapi.backoff import Backoff
from proxyapi.ledger import activity, api_view_sync, mirror_range
from proxyapi.ledger.balance_checkpoint import CHECKPOINT_REQUESTS, take_checkpoint
from proxyapi.ledger.mirror import mirror_entries
from proxyapi.ledger.page_reader import open_ledger_reader
from proxyapi.models import Account, Charge, LedgerMirror, Token
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.rate_limiter import Priority, RateLimitExhausted, available, try_acquire
from proxyapi.redis_client import connect_redis
from proxyapi.upstream import errors

SYNC_INTERVAL = timedelta(minutes=1)
SCHEDULE_BEAT = timedelta(seconds=5)  # between two checks for due ledgers (dashboard/celery.py)
MESSAGE_LIFETIME_S = 30  # seconds that a message to read a ledger waits for a worker
READ_AGE_SLACK = timedelta(seconds=10)
# Reads a minute that go before polls, because people wait for their charges
MAX_URGENT_READS_PER_MINUTE = 4
FAILURE_BACKOFF = Backoff(timedelta(minutes=2), timedelta(minutes=15))
# A sync that takes longer counts as abandoned by a dead worker.
SYNC_LEASE_DURATION = timedelta(minutes=2)
CHECKPOINT_INTERVAL = timedelta(minutes=1)  # while rows are added or the balance moves
OVERDUE_CHECKPOINT_INTERVAL = timedelta(minutes=10)  # between attempts that go before polling
IDLE_CHECKPOINT_INTERVAL = timedelta(hours=1)  # while none do
RARE_CHECKPOINT_INTERVAL = timedelta(hours=6)  # of an idle account
NEVER_READ_AT = datetime(1970, 1, 1, tzinfo=UTC)  # stands for the last read of an unread ledger


def accounts_due_for_sync(now: datetime, of: UUID | None = None) -> list[UUID]:
    """Accounts whose ledger should be read now; with `of`, only this one if it is due."""
    read_at = Coalesce(OuterRef("ledger__read_at"), NEVER_READ_AT)
    settled = Charge.objects.filter(account=OuterRef("pk"), state__in=CHARGED_STATES)
    # Charges settled before a clock rollback do not count while that time is in the future.
    settled = settled.filter(settled_at__gt=read_at, settled_at__lte=now)
    is_due = Q(ledger__isnull=True) | Q(ledger__due_at__isnull=True) | Q(ledger__due_at__lte=now)
    soon = Q(ledger__troubles=0, ledger__problem="") & Exists(settled)
    is_unleased = Q(ledger__lease_expires_at__isnull=True) | Q(ledger__lease_expires_at__lt=now)
    readable = Exists(Token.objects.usable().filter(account=OuterRef("pk")))
    accounts = Account.objects.filter(is_due | soon, is_unleased, readable)
    due = accounts if of is None else accounts.filter(pk=of)
    return list(due.values_list("pk", flat=True))


def accounts_to_enqueue(now: datetime) -> list[UUID]:
    """Accounts that are due and for which no message waits: each check would add one more, as long
    as the workers are busy. A message that was lost is sent again when it would have expired."""
    due = accounts_due_for_sync(now)
    with connect_redis().pipeline(transaction=False) as pipeline:
        for account_id in due:
            pipeline.set(_queued_key(account_id), 1, nx=True, ex=MESSAGE_LIFETIME_S)
        is_new = pipeline.execute()
    return [account_id for account_id, new in zip(due, is_new, strict=True) if new]


def forget_message(account_id: UUID) -> None:
    """The account's message has arrived."""
    with suppress(redis.RedisError):
        connect_redis().delete(_queued_key(account_id))


def _queued_key(account_id: UUID) -> str:
    return f"ledger-sync-queued:{account_id}"


def sync_account(account_id: UUID) -> None:
    """Read the account's ledger as far as it can be read now. A lease keeps other workers out."""
    account = Account.objects.select_related("tenant").get(pk=account_id)
    lease_expires_at = acquire_lease(account)
    if lease_expires_at is None:
        return
    troubles, is_idle = 0, False
    try:
        mirror_and_take_checkpoint(account)
    except RateLimitExhausted as error:
        wait = timedelta(seconds=max(1.0, error.wait))
    except errors.UpstreamError:
        ledger = mirror_range.get_or_create_ledger(account)
        troubles = 0 if ledger.doubts else min(ledger.troubles + 1, 10)
        wait = FAILURE_BACKOFF.delay_after(SYNC_INTERVAL * 2**troubles)
        if ledger.doubts:  # it is answered, but not as before: read it again soon
            wait = SCHEDULE_BEAT
    else:
        ledger, now = mirror_range.get_or_create_ledger(account), timezone.now()
        is_idle = activity.is_idle(ledger, now)
        wait = activity.draw_idle_delay() if is_idle else next_sync_delay(ledger, now)
    leased = LedgerMirror.objects.filter(pk=account_id, lease_expires_at=lease_expires_at)
    leased.update(
        due_at=timezone.now() + wait, troubles=troubles, is_idle=is_idle, lease_expires_at=None
    )


def next_sync_delay(ledger: LedgerMirror, now: datetime) -> timedelta:
    """Of an active account: the time until the last read of the ledger's end is a minute old, less
    the beat."""
    wait = SYNC_INTERVAL - SCHEDULE_BEAT
    age = now - ledger.read_at if ledger.read_at else wait
    return wait - age if age < wait and not ledger.problem else wait


def read_ledgers_of_viewed_teams(tenants: Collection[UUID]) -> None:
    """Somebody came to these teams: their accounts are idle no more, and their ledgers are due
    unless they cannot be read or were, less long ago than those of active accounts are."""
    now = timezone.now()
    ledgers = LedgerMirror.objects.filter(account__tenant__in=tenants, is_idle=True)
    unread = ledgers.filter(read_at__lt=now - SYNC_INTERVAL, due_at__gt=now, troubles=0)
    unread.update(due_at=now)
    ledgers.update(is_idle=False)


def acquire_lease(account: Account) -> datetime | None:
    """Acquire the lease by conditional update and return its end; None if another worker has it."""
    mirror_range.get_or_create_ledger(account)
    now = timezone.now()
    until = now + SYNC_LEASE_DURATION
    is_unleased = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lt=now)
    return (
        until
        if LedgerMirror.objects.filter(is_unleased, pk=account.pk).update(lease_expires_at=until)
        else None
    )


def mirror_and_take_checkpoint(account: Account) -> None:
    """Mirror the ledger, and take a checkpoint if one is due.

    The first checkpoint does not wait for the older rows, which take many syncs; an unreadable
    balance does not stop the mirror; and an urgent read comes before the checkpoint.
    """
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
    """Whether all requests of a checkpoint fit in the rate limit now; a part of them would be
    wasted."""
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    if source is None:
        return False
    return (
        available(connect_redis(), source.token.bucket, Priority.LEDGER_SYNC) >= CHECKPOINT_REQUESTS
    )


def is_ledger_end_stale(ledger: LedgerMirror, now: datetime) -> bool:
    """Whether the ledger's end should be read before older rows."""
    if ledger.read_at is None or ledger.high < ledger.total:
        return True
    return (
        ledger.read_at < now - SYNC_INTERVAL + READ_AGE_SLACK
        or has_newly_settled_charge(ledger)
        or (ledger.low == 0 and not api_view_sync.is_api_view_behind(ledger))
    )


def is_sync_urgent(ledger: LedgerMirror) -> bool:
    """Whether somebody waits for the entry of a new charge. Limited to a few times a minute,
    because the requests are taken from polling. Raises `RateLimiterUnavailable`."""
    if not has_newly_settled_charge(ledger):
        return False
    name = f"urgent-ledger-sync:{ledger.pk}"
    return try_acquire(
        connect_redis(), name, Priority.PERSON, limit=MAX_URGENT_READS_PER_MINUTE
    ).is_granted


def has_newly_settled_charge(ledger: LedgerMirror) -> bool:
    """Whether one of our charges was settled since the ledger's end was read."""
    settled = Charge.objects.filter(account_id=ledger.pk, state__in=CHARGED_STATES)
    since = ledger.read_at or NEVER_READ_AT
    return settled.filter(settled_at__gt=since, settled_at__lte=timezone.now()).exists()


def is_checkpoint_overdue(ledger: LedgerMirror, now: datetime) -> bool:
    """Whether the checkpoint's requests go before polling, once an hour: on an account that is
    polled all day no checkpoint would be taken otherwise."""
    if (ledger.checkpoint_at or ledger.account.created_at) > now - IDLE_CHECKPOINT_INTERVAL:
        return False
    with suppress(redis.RedisError):
        return bool(
            connect_redis().set(
                f"overdue-checkpoint:{ledger.pk}", 1, nx=True, ex=OVERDUE_CHECKPOINT_INTERVAL
            )
        )
    return False


def is_checkpoint_due(ledger: LedgerMirror, now: datetime) -> bool:
    if ledger.problem:
        return False
    if ledger.checkpoint_high is None or ledger.checkpoint_at is None:
        return True
    account = ledger.account
    is_moved = ledger.checkpoint_high != ledger.high or (
        account.balance != ledger.balance_exact
        and account.balance_as_of is not None
        and account.balance_as_of > ledger.checkpoint_at
    )
    unmoved = RARE_CHECKPOINT_INTERVAL if ledger.is_idle else IDLE_CHECKPOINT_INTERVAL
    interval = CHECKPOINT_INTERVAL if is_moved else unmoved
    return ledger.checkpoint_at < now - interval
