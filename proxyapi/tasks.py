"""Celery tasks: one to three lines over the modules. They take ids, may run twice and may be lost.

What a round of the beat rings for again anyway expires (seconds) by the next round or two.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from uuid import UUID

from celery import Task, shared_task
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from proxyapi import (
    call_record,
    charge_log,
    day_sums,
    drafts,
    failpoints,
    ledger,
    redis_client,
    tokens,
    top_up,
)
from proxyapi.allowance import AllowanceExhausted, connection
from proxyapi.charges import debited_late, recovery, send, settle
from proxyapi.models import Account, Charge, ChargeState, Job, Plan, TopUpChange
from proxyapi.upstream import errors
from proxyapi.upstream.catalog import operation
from proxyapi.watching import due
from proxyapi.watching.look import look
from proxyapi.watching.parking import counted

log = logging.getLogger(__name__)
SWEEP_AFTER = timedelta(seconds=15)  # when the tick does what no doorbell rang for
HEARTBEAT = "reelroom:heartbeat"
SLOW_ASKED = "reelroom:slow-asked"  # since when the slow worker has not answered
LONG_CALL = 60.0  # seconds; a charge that may wait longer for its answer goes the slow way
REFRESH_AFTER = timedelta(minutes=10)
LAPSED_REFRESH_AFTER = timedelta(minutes=2)
BARE_REFRESH_AFTER = timedelta(seconds=50)  # the next round


def ring(task: Task[[str], None], id: UUID) -> None:
    """Ring for a worker after commit. Without the queue it is done later: see `tick`."""
    transaction.on_commit(lambda: _ring(task, str(id)))


def _ring(task: Task[[str], None], id: str) -> None:
    if task in (send_charge, send_long_charge):
        failpoints.reach("enqueue")
    try:
        if redis_client.answers():  # the queue itself would be waited for for 5 s
            task.apply_async((id,), retry=False)
            return
    except OperationalError:
        pass
    log.warning("the doorbell of %s is dead; the tick finds it", task.name)


@shared_task
def tick() -> None:
    """Every second: ring for whatever is due (law 7)."""
    now = timezone.now().isoformat()
    connection().set(HEARTBEAT, now, ex=30)
    connection().set(SLOW_ASKED, now, nx=True)
    for job_id, until in due.jobs():
        look_at.delay(str(job_id), until.isoformat())
    for job_id in due.quotes():
        quote.delay(str(job_id))
    for charge_id, state in due.charges():
        held = state == ChargeState.HELD
        task = sender(Charge.objects.get(pk=charge_id)) if held else settle_charge
        task.delay(str(charge_id))


@shared_task
def answer_slow() -> None:
    """Every 10 s, the slow way: the worker there is alive."""
    connection().delete(SLOW_ASKED)


def sender(charge: Charge) -> Task[[str], None]:
    """Who sends the charge: one that may take minutes does not hold up the others."""
    is_long = operation(charge.operation).timeout > LONG_CALL
    return send_long_charge if is_long else send_charge


@shared_task
def send_charge(charge_id: str) -> None:
    failpoints.reach("dequeue")
    send(UUID(charge_id))
    failpoints.reach("recorded")


@shared_task
def send_long_charge(charge_id: str) -> None:
    send_charge(charge_id)


@shared_task
def settle_charge(charge_id: str) -> None:
    settle(UUID(charge_id))


@shared_task
def look_at(job_id: str, until: str) -> None:
    look(UUID(job_id), datetime.fromisoformat(until))


@shared_task
def quote(job_id: str) -> None:
    job = Job.objects.select_related("token__account", "account").get(pk=job_id)
    with counted(job):
        drafts.quote(job)


@shared_task(expires=60)
def refresh_account(account_id: str) -> None:
    try:
        tokens.refresh(Account.objects.get(pk=account_id))
    except AllowanceExhausted:
        Account.objects.filter(pk=account_id).update(refreshed_at=None)  # in the next round
    except errors.UpstreamError:
        return  # what we know keeps its age


@shared_task
def refresh_accounts() -> None:
    """Every minute: accounts whose profile is old; lapsed ones sooner, so that they resume by
    themselves. And jobs that a clock put back left behind, refunds that nobody noted, prices that
    grew old."""
    due.mend()
    due.owe()
    due.age_prices()
    now = timezone.now()
    old = Q(refreshed_at__isnull=True) | Q(refreshed_at__lt=now - REFRESH_AFTER)
    lapsed = ~Q(plan=Plan.PAID) & Q(refreshed_at__lt=now - LAPSED_REFRESH_AFTER)
    # Its reading failed half-way: nothing can be made with it before the voices are known.
    bare = Q(plan=Plan.PAID, options_as_of=None, refreshed_at__lt=now - BARE_REFRESH_AFTER)
    accounts = Account.objects.of_current_upstream().filter(old | lapsed | bare)
    for account_id in accounts.values_list("pk", flat=True):
        refresh_account.delay(str(account_id))


@shared_task(expires=30)
def save_top_up(change_id: str) -> None:
    top_up.save(UUID(change_id))


@shared_task(expires=30)
def refresh_top_up(account_id: str) -> None:
    top_up.refresh(Account.objects.get(pk=account_id))


@shared_task
def keep_top_ups() -> None:
    """Every 15 s: changes of a top-up that no doorbell rang for, and preferences grown old."""
    now = timezone.now()
    for change_id in TopUpChange.objects.due(now).values_list("pk", flat=True):
        save_top_up.delay(str(change_id))
    for account_id in top_up.due(now):
        refresh_top_up.delay(str(account_id))


@shared_task(expires=30)
def mirror_ledger(account_id: str) -> None:
    """Rung every 5 s for as long as it is due: what piled up while no worker took it is one query
    each, and no turn."""
    if ledger.due(timezone.now(), of=UUID(account_id)):
        ledger.take_turn(UUID(account_id))
        for charge_id in debited_late(UUID(account_id)):
            settle_charge.delay(str(charge_id))


@shared_task
def mirror_ledgers() -> None:
    """Every 5 s: accounts whose ledger is due, or of which a charge was settled meanwhile."""
    for account_id in ledger.due(timezone.now()):
        mirror_ledger.delay(str(account_id))


@shared_task
def prune_calls() -> None:
    """Four times a day: the records of calls that only looked, and are old."""
    call_record.prune()


@shared_task
def recover_if_restored() -> None:
    """Every 10 s: whether the database went back in time, by a restored backup or a failover."""
    recovery.recover_if_restored()


@shared_task
def prune_charge_log() -> None:
    """Four times a day: files of the charge log that are older than it is kept."""
    charge_log.prune()


@shared_task(expires=60)
def recount_days(account_id: str) -> None:
    day_sums.recount_moved(Account.objects.select_related("vault").get(pk=account_id))


@shared_task
def recount_moved_days() -> None:
    """Every minute: sums of a team that changed its time zone, whose doorbell was lost."""
    for account_id in day_sums.in_another_zone():
        recount_days.delay(str(account_id))
