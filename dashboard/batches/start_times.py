"""Batches that start later: when they are due, and what a person changes about it.

What was confirmed are the rows and what each may cost at most; that stays, however long it waits.
The credits and budgets are looked at when it starts.
"""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from dashboard.batches.actions import require_own
from dashboard.batches.runner import (
    change_state,
    find_runner,
    lock_batch,
    pause_batch,
    run_batch,
)
from dashboard.models import AuditAction, Batch, BatchRowState, BatchState, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event, system_actor
from dashboard.shared.charging import check_room_for, credits_allow
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.start_times import CREDITS_NOT_FREE
from proxyapi.models.account import amount_text
from proxyapi.refusals import NotReady, Refusal, StaleData

NOT_SCHEDULED = "The batch has started already, or its start was cancelled."


def start_when_due(batch_id: UUID) -> None:
    """Start a batch whose time has come, or pause it with a sentence. Two workers start it once."""
    try:
        start_scheduled_batch(batch_id)
    except Refusal as refusal:
        pause_batch(batch_id, refusal.sentence, BatchState.SCHEDULED)


@transaction.atomic
@append_audit_rows_last()
def start_scheduled_batch(batch_id: UUID) -> None:
    """Start the batch if it is due and its credits are free; wait for them if that was chosen.
    Raises `Refusal` for what stands in its way."""
    batch, now = lock_batch(batch_id, BatchState.SCHEDULED), timezone.now()
    if batch is None or batch.starts_at is None or batch.starts_at > now:
        return
    by, limit = find_runner(batch), needed_credits(batch)
    account_id = require_member_token(by).account_id
    if batch.gives_up_at is None:
        check_room_for(by, account_id, limit)
    elif not credits_allow(by, account_id, limit):
        if batch.gives_up_at <= now:
            raise NotReady(CREDITS_NOT_FREE)
        return
    run_batch(batch)
    actor = system_actor(batch.team, "Batches")
    after = {"limit": amount_text(limit)}
    record_audit_event(actor, AuditAction.BATCH_START, batch.pk, after=after)


def needed_credits(batch: Batch) -> Decimal:
    """Return what the batch may still cost: the limits of its rows, within its own."""
    waiting = batch.rows.filter(state=BatchRowState.WAITING)
    limits = waiting.aggregate(sum=Sum("limit"))["sum"] or Decimal(0)
    return min(limits, batch.max_credits or Decimal(0))


@transaction.atomic
@append_audit_rows_last()
def start_now(*, by: Membership, batch: Batch) -> None:
    """Start a scheduled batch now, within what was confirmed. Raises `Refusal` if the credits or
    budgets do not carry it; it stays scheduled then."""
    check_permission(by, Permission.RENDER)
    require_own(by, batch)
    locked = lock_scheduled_batch(batch)
    limit = needed_credits(locked)
    check_room_for(by, require_member_token(by).account_id, limit)
    run_batch(locked)
    after = {"limit": amount_text(limit)}
    record_audit_event(by, AuditAction.BATCH_START, batch.pk, after=after)


@transaction.atomic
def cancel_start(*, by: Membership, batch: Batch) -> None:
    """Make a scheduled batch one that has not started again: it can be changed and confirmed."""
    check_permission(by, Permission.RENDER)
    locked = lock_scheduled_batch(batch)
    limits = locked.rows.aggregate(sum=Sum("limit"))["sum"] or Decimal(0)
    if locked.max_credits == limits:
        locked.max_credits = None  # nobody entered a limit of its own
    locked.rows.update(state=BatchRowState.NEW, limit=None, usual=None, usual_s=None)
    locked.starts_at = locked.gives_up_at = locked.started_at = locked.approved_by = None
    locked.approval_requested_at = None
    change_state(locked, BatchState.DRAFT)
    record_audit_event(by, AuditAction.BATCH_UNSCHEDULE, batch.pk)


def lock_scheduled_batch(batch: Batch) -> Batch:
    locked = lock_batch(batch.pk, BatchState.SCHEDULED)
    if locked is None:
        raise StaleData(NOT_SCHEDULED)
    return locked
