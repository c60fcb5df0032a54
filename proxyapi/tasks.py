"""Celery tasks: one to three lines over the modules. They take ids, may run twice and may be lost.

A task that every round of the beat enqueues again expires (seconds) within the next round or two.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from uuid import UUID

from celery import Task, shared_task
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from proxyapi import (
    call_retention,
    charge_log,
    cloned_voices,
    failpoints,
    ideas,
    ledger,
    redis_client,
    service_quarters,
    stored_files,
    tokens,
    top_up,
)
from proxyapi.charges import charges_with_late_debit, dispatch_charge, reconcile_charge, recovery
from proxyapi.kinds import KINDS
from proxyapi.kinds.character_genres import read_genres
from proxyapi.kinds.page_reading import read_page
from proxyapi.models import (
    Account,
    CharacterGenres,
    ChargeState,
    IdeaRefresh,
    Job,
    TopUpChange,
    VoiceSlots,
)
from proxyapi.polling import due_work
from proxyapi.polling.job_quarantine import quarantine_failing_job
from proxyapi.polling.part_reads import read_job_parts
from proxyapi.polling.poller import poll_job
from proxyapi.rate_limiter import RateLimitExhausted
from proxyapi.redis_client import connect_redis
from proxyapi.rollups import daily_totals
from proxyapi.upstream import errors

log = logging.getLogger(__name__)
TICK_DELAY = timedelta(seconds=15)  # after which the tick takes rows whose queued task was lost
TICK_HEARTBEAT_KEY = "reelroom:heartbeat"


def enqueue_task_after_commit(task: Task[[str], None], id: UUID) -> None:
    """Enqueue the task after commit. If the queue is unavailable, `tick` enqueues it later."""
    transaction.on_commit(lambda: _enqueue(task, str(id)))


def _enqueue(task: Task[[str], None], id: str) -> None:
    if task is dispatch_charge_task:
        failpoints.hit_failpoint("enqueue")
    try:
        if redis_client.is_redis_up():  # the queue itself has a timeout of 5 s
            task.apply_async((id,), retry=False)
            return
    except OperationalError:
        pass
    log.warning(
        "%s was not enqueued because the queue does not respond; the next sweep runs it", task.name
    )


@shared_task
def tick() -> None:
    """Every second: enqueue a task for whatever is due (rule 7), charges before any read."""
    connect_redis().set(TICK_HEARTBEAT_KEY, timezone.now().isoformat(), ex=30)
    for charge_id, state in due_work.lease_due_charges():
        held = state == ChargeState.HELD
        task = dispatch_charge_task if held else reconcile_charge_task
        task.delay(str(charge_id))
    enqueue_due_reads()


def enqueue_due_reads() -> None:
    """Enqueue reads of jobs, parts, pages, ideas, slots and genres, and prices of drafts."""
    for job_id, until in due_work.lease_due_jobs():
        poll_job_task.delay(str(job_id), until.isoformat())
    for job_id, until in due_work.lease_due_part_reads():
        read_job_parts_task.delay(str(job_id), until.isoformat())
    for job_id in due_work.lease_due_quotes():
        quote_draft_task.delay(str(job_id))
    for job_id in due_work.lease_due_page_reads():
        read_page_task.delay(str(job_id))
    for rows, task in ACCOUNT_READ_TASKS:
        for account_id in due_work.lease_due_account_reads(rows):
            task.delay(str(account_id))


@shared_task
def answer_ping() -> None:
    """Every 5 s, on each queue: it has a worker. The age of the oldest message says so."""


@shared_task
def dispatch_charge_task(charge_id: str) -> None:
    failpoints.hit_failpoint("dequeue")
    dispatch_charge(UUID(charge_id))
    failpoints.hit_failpoint("recorded")


@shared_task
def reconcile_charge_task(charge_id: str) -> None:
    reconcile_charge(UUID(charge_id))


@shared_task
def poll_job_task(job_id: str, until: str) -> None:
    if account_id := poll_job(UUID(job_id), datetime.fromisoformat(until)):
        refresh_account_task.delay(str(account_id))


@shared_task
def read_job_parts_task(job_id: str, until: str) -> None:
    read_job_parts(UUID(job_id), datetime.fromisoformat(until))


@shared_task
def quote_draft_task(job_id: str) -> None:
    job = Job.objects.select_related("token__account", "account", "draft").get(pk=job_id)
    with quarantine_failing_job(job):
        if quote := KINDS[job.kind].quote:
            quote(job)


@shared_task(expires=60)
def read_page_task(job_id: str) -> None:
    read_page(Job.objects.select_related("token__account", "account", "draft").get(pk=job_id))


@shared_task(expires=20)
def read_genres_task(account_id: str) -> None:
    read_genres(UUID(account_id))


@shared_task(expires=60)
def refresh_ideas_task(account_id: str) -> None:
    ideas.refresh_ideas(UUID(account_id))


@shared_task(expires=60)
def read_voice_slots_task(account_id: str) -> None:
    cloned_voices.read_voice_slots(UUID(account_id))


ACCOUNT_READ_TASKS = (
    (IdeaRefresh, refresh_ideas_task),
    (VoiceSlots, read_voice_slots_task),
    (CharacterGenres, read_genres_task),
)


@shared_task(expires=60)
def refresh_account_task(account_id: str) -> None:
    try:
        tokens.refresh_account_profile(Account.objects.get(pk=account_id))
    except RateLimitExhausted:
        Account.objects.filter(pk=account_id).update(refreshed_at=None)  # in the next round
    except errors.UpstreamError:
        return  # the stored profile keeps its age


@shared_task
def refresh_due_accounts() -> None:
    """Every minute: refresh old account profiles. Also reschedule jobs after a clock rollback, mark
    refunds that were missed, request new prices for stale ones, and have the ideas of new accounts
    read."""
    due_work.reschedule_after_clock_rollback()
    due_work.mark_missed_refunds()
    due_work.requeue_stale_quotes()
    IdeaRefresh.objects.schedule_first_reads()
    accounts = Account.objects.of_current_upstream().due_for_refresh(timezone.now())
    for account_id in accounts.values_list("pk", flat=True):
        refresh_account_task.delay(str(account_id))


@shared_task(expires=30)
def save_top_up_task(change_id: str) -> None:
    top_up.process_change(UUID(change_id))


@shared_task(expires=30)
def refresh_top_up_task(account_id: str) -> None:
    top_up.refresh_preference(Account.objects.get(pk=account_id))


@shared_task
def sweep_top_ups() -> None:
    """Every 15 s: changes of a top-up that no worker picked up, and preferences that are due."""
    now = timezone.now()
    for change_id in TopUpChange.objects.due(now).values_list("pk", flat=True):
        save_top_up_task.delay(str(change_id))
    for account_id in top_up.accounts_due_for_preference_read(now):
        refresh_top_up_task.delay(str(account_id))


@shared_task(expires=ledger.MESSAGE_LIFETIME_S)
def sync_ledger_task(account_id: str) -> None:
    """A second message for the same read costs one query and does not sync."""
    ledger.forget_message(UUID(account_id))
    if ledger.accounts_due_for_sync(timezone.now(), of=UUID(account_id)):
        ledger.sync_account(UUID(account_id))
        for charge_id in charges_with_late_debit(UUID(account_id)):
            reconcile_charge_task.delay(str(charge_id))


@shared_task
def sync_due_ledgers() -> None:
    """Every 5 s: accounts whose ledger is due, or of which a charge was settled meanwhile."""
    for account_id in ledger.accounts_to_enqueue(timezone.now()):
        sync_ledger_task.delay(str(account_id))


@shared_task
def prune_calls() -> None:
    """Each quarter of an hour: delete old records of calls that did not charge."""
    call_retention.prune_old_calls()


@shared_task
def count_service_quarters() -> None:
    """Once a minute: sum the calls of this quarter of an hour and the one before for each team."""
    service_quarters.update_service_quarters()


@shared_task
def check_database_restored() -> None:
    """Every 10 s: whether the database went back in time, by a restored backup or a failover."""
    recovery.recover_if_restored()


@shared_task
def prune_charge_log() -> None:
    """Four times a day: delete files of the charge log older than their retention."""
    charge_log.prune_log_files()


@shared_task
def prune_stored_files_task() -> None:
    """Four times a day: delete members' files that nobody sent."""
    stored_files.prune_stored_files()


@shared_task(expires=60)
def recount_days_task(account_id: str) -> None:
    account = Account.objects.select_related("tenant").get(pk=account_id)
    daily_totals.rebuild_if_zone_changed(account)
    daily_totals.rebuild_stale_days(account)


@shared_task
def sweep_moved_days() -> None:
    """Every minute: sums of a team that changed its time zone, and marked days that a worker
    left."""
    stale = {*daily_totals.accounts_with_stale_zone(), *daily_totals.accounts_with_stale_days()}
    for account_id in stale:
        recount_days_task.delay(str(account_id))
