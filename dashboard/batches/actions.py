"""Actions on batches: create one from a table, repair it, start it, pause, resume, cancel, retry.

Only the member who made a batch starts, resumes and retries it: it uses their token and their
budgets. Everyone who may render repairs it, pauses it and cancels the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from dashboard.batches.dry_run import DryRun, load_dry_run
from dashboard.batches.row_checks import find_columns
from dashboard.batches.runner import (
    RETRIED_WITH,
    change_state,
    find_runner,
    load_facts,
    lock_batch,
    publish_batch,
    run_batch,
)
from dashboard.batches.table_file import Table
from dashboard.batches.team_limits import NEEDS_SECOND_PERSON, check_team_rules
from dashboard.library.actions import find_or_create_label
from dashboard.models import (
    AuditAction,
    Batch,
    BatchRow,
    BatchRowState,
    BatchState,
    Membership,
    Preset,
    RowChoice,
)
from dashboard.models.batch import MAX_BATCH_NAME_CHARS
from dashboard.models.label import MAX_LABEL_NAME_CHARS
from dashboard.shared import enqueue
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.charging import lock_spending_rules
from dashboard.shared.formatting import credits
from dashboard.shared.key_limits import require_usable_key
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.start_times import StartTime
from proxyapi import pricing
from proxyapi.models import ApiKey, Idea
from proxyapi.models.account import amount_text
from proxyapi.refusals import NotReady, Refusal, StaleData

NOT_OWN = "Only {name} can do this: the batch uses their token and their budgets."
HAS_STARTED = "The batch has started. Its rows cannot be changed any more."
PRESET_GONE = "The preset “{name}” was deleted. Choose another one, or none."
NOTHING_READY = "No row is ready. Repair one first."
DRY_RUN_CHANGED = "Nothing was started. Rows or prices have changed; review them and confirm again."
NOT_REQUESTED = "Nobody has asked for the approval of this batch, or it was changed since."
OWN_APPROVAL = "You made this batch: another treasurer or owner has to approve it."
NOT_RUNNING = "The batch is not running."
NOT_PAUSED = "The batch is not paused."
LIMIT_USED_UP = "{used} cr are spent or held already. Enter more."
FAILURES_USED_UP = "{count} videos have failed already. Enter more, or 0 for no limit."
NOTHING_FAILED = "No video of this batch has failed. Nothing was sent."
NOTHING_WAITS = "No row waits any more."


@transaction.atomic
def create_batch(
    *,
    by: Membership,
    name: str,
    table: Table,
    file_name: str = "",
    preset: Preset | None = None,
    ideas: Sequence[Idea] = (),
    **settings: Any,
) -> Batch:
    """Store the rows of a table; nothing is sent and nothing is charged. `ideas` are those of the
    rows, if they are made of some; `settings` other fields of the batch."""
    check_permission(by, Permission.RENDER)
    batch = Batch.objects.create(
        team=by.team,
        member=by.user,
        name=name[:MAX_BATCH_NAME_CHARS],
        file_name=file_name[:200],
        headers=table.headers,
        columns=find_columns(table.headers),
        preset=preset,
        preset_name=preset.name if preset else "",
        **settings,
    )
    BatchRow.objects.bulk_create(
        BatchRow(batch=batch, number=number, cells=cells, idea=ideas[number - 1] if ideas else None)
        for number, cells in table.rows.items()
    )
    record_audit_event(by, AuditAction.BATCH_CREATE, batch.pk, after={"rows": len(table.rows)})
    publish_batch(batch)
    return batch


@transaction.atomic
def change_batch(*, by: Membership, batch: Batch, **changes: Any) -> Batch:
    """Change the name, columns, preset or limits of a batch that has not started."""
    locked = lock_draft_batch(by, batch)
    for name, value in changes.items():
        setattr(locked, name, value)
    locked.preset_name = locked.preset.name if locked.preset else ""
    locked.save()
    record_audit_event(by, AuditAction.BATCH_CHANGE, batch.pk, after={"name": locked.name})
    publish_batch(locked)
    return locked


@transaction.atomic
def change_row(
    *,
    by: Membership,
    batch: Batch,
    number: int,
    cells: Mapping[int, str],
    choice: RowChoice | None = None,
) -> None:
    """Change cells of our copy of a row, by column, and whether the row is made."""
    locked = lock_draft_batch(by, batch)
    row = locked.rows.get(number=number)
    row.set_cells(cells)
    row.choice = row.choice if choice is None else choice
    row.save(update_fields=["cells", "choice"])
    record_audit_event(by, AuditAction.BATCH_CHANGE, batch.pk, row=number)
    publish_batch(locked)


@transaction.atomic
def remove_batch(*, by: Membership, batch: Batch) -> None:
    """Delete a batch that has not started."""
    locked = lock_draft_batch(by, batch)
    record_audit_event(by, AuditAction.BATCH_REMOVE, batch.pk, before={"name": locked.name})
    locked.delete()
    publish_batch(batch)


def lock_draft_batch(by: Membership, batch: Batch) -> Batch:
    check_permission(by, Permission.RENDER)
    locked = lock_batch(batch.pk, BatchState.DRAFT)
    if locked is None:
        raise StaleData(HAS_STARTED)
    if locked.approval_requested_at is not None:
        locked.approval_requested_at = None
        locked.save(update_fields=["approval_requested_at"])
    return locked


@transaction.atomic
@append_audit_rows_last()
def start_batch(
    *,
    by: Membership,
    batch: Batch,
    seen: Decimal,
    version: str,
    approved_by: Membership | None = None,
    start: StartTime | None = None,
    key: ApiKey | None = None,
) -> Batch:
    """Start a batch, which may spend up to its limit. A form that is sent twice starts it once.
    With `start` it starts by itself then (`start_times`): the credits and budgets count then.

    `seen` is the usual price that was shown, in credits, `version` what `dry_run_version` was
    then: the rows that are ready, and their limits, are those that were confirmed. With a `key`
    its charges are those of that script. Raises `Refusal`, also if a rule of the team refuses all
    rows together.
    """
    check_permission(by, Permission.RENDER)
    require_own(by, batch)
    locked = lock_batch(batch.pk, BatchState.DRAFT)
    if locked is None:
        return Batch.objects.get(pk=batch.pk)
    rows = list(locked.rows.all())
    if locked.lost_preset:
        raise NotReady(PRESET_GONE.format(name=locked.preset_name))
    run = load_confirmed_run(by, locked, rows, seen, version)
    require_usable_key(key, run.token)
    limit, is_approved = max_credits_of(locked, run), approved_by is not None
    check_team_rules(by, run, limit, is_approved=is_approved, start=start, key=key)
    locked.approved_by = approved_by.user if approved_by else None
    locked.label = find_or_create_label(by=by, name=locked.name[:MAX_LABEL_NAME_CHARS])
    labels = {key.job_label if key else "", *(check.label for check in run.ready)}
    for name in sorted(filter(None, labels)):
        find_or_create_label(by=by, name=name)
    set_row_states(run, rows)
    locked.max_credits, locked.key = limit, key
    locked.script_price, locked.started_at = run.script_price, timezone.now()
    run_batch(locked, start)
    after = {"rows": len(run.ready), "limit": amount_text(locked.max_credits)}
    action = AuditAction.BATCH_SCHEDULE if start else AuditAction.BATCH_START
    record_audit_event(by, action, batch.pk, after=after)
    return locked


def max_credits_of(batch: Batch, run: DryRun) -> Decimal:
    """Return what the batch may spend: what all rows may cost, or less if a person said so."""
    limits = (run.total.limit, batch.max_credits)
    return min(limit for limit in limits if limit is not None)


def set_row_states(run: DryRun, rows: Iterable[BatchRow]) -> None:
    ready = {check.row.number for check in run.ready}
    for row in rows:
        if row.number in ready:
            queue_row(run, row)
        else:
            row.state = BatchRowState.LEFT_OUT
    BatchRow.objects.bulk_update(rows, ["state", "limit", "usual", "usual_s"])


def queue_row(run: DryRun, row: BatchRow) -> None:
    """Keep what was confirmed of a ready row."""
    price, seconds = run.prices[row.number], run.seconds.get(row.number)
    row.state, row.limit, row.usual = BatchRowState.WAITING, price.limit, price.usual
    row.usual_s = None if seconds is None else round(seconds)


def load_confirmed_run(
    by: Membership, batch: Batch, rows: Sequence[BatchRow], seen: Decimal, version: str
) -> DryRun:
    """Return the dry run of these rows. Raises `Refusal` if it is another one than was
    confirmed."""
    run = load_dry_run(by, batch, rows)
    if not run.ready:
        raise NotReady(NOTHING_READY)
    if run.total.usual != seen or dry_run_version(run) != version:
        raise StaleData(DRY_RUN_CHANGED)
    return run


@transaction.atomic
def request_batch_approval(
    *, by: Membership, batch: Batch, seen: Decimal, version: str, start: StartTime | None = None
) -> None:
    """Ask a second person to start the batch, now or at `start`; a change of it withdraws this."""
    check_permission(by, Permission.RENDER)
    require_own(by, batch)
    locked = lock_draft_batch(by, batch)
    run = load_confirmed_run(by, locked, list(locked.rows.all()), seen, version)
    check_team_rules(by, run, max_credits_of(locked, run), is_approved=True, start=start)
    locked.approval_requested_at = timezone.now()
    locked.starts_at, locked.gives_up_at = start or (None, None)
    locked.save()
    after = {"limit": amount_text(max_credits_of(locked, run))}
    record_audit_event(by, AuditAction.BATCH_REQUEST, batch.pk, after=after)
    publish_batch(locked)


@transaction.atomic
@append_audit_rows_last()
def approve_batch(*, by: Membership, batch: Batch, seen: Decimal, version: str) -> None:
    """Start a batch, as `start_batch` does, for the member who asked and with their token."""
    check_permission(by, Permission.MANAGE_MONEY)
    if by.user_id == batch.member_id:
        raise PermissionDenied(OWN_APPROVAL)
    locked = lock_batch(batch.pk, BatchState.DRAFT)
    if locked is None or locked.approval_requested_at is None:
        raise StaleData(NOT_REQUESTED)
    maker = find_runner(locked)
    start = StartTime(locked.starts_at, locked.gives_up_at) if locked.starts_at else None
    start_batch(by=maker, batch=locked, seen=seen, version=version, approved_by=by, start=start)
    record_audit_event(by, AuditAction.BATCH_APPROVE, batch.pk)


def dry_run_version(run: DryRun) -> str:
    """Return what identifies the ready rows and what each may cost."""
    limits = (f"{one.row.number}:{run.prices[one.row.number].limit}" for one in run.ready)
    text = " ".join(map(str, (run.token.account_id, run.script_price, *limits)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@transaction.atomic
def pause_by_person(*, by: Membership, batch: Batch) -> None:
    """Begin no further row; what has begun goes on."""
    check_permission(by, Permission.RENDER)
    locked = lock_batch(batch.pk, BatchState.RUNNING)
    if locked is None:
        raise StaleData(NOT_RUNNING)
    change_state(locked, BatchState.PAUSED)
    record_audit_event(by, AuditAction.BATCH_PAUSE, batch.pk)


@transaction.atomic
def resume_batch(
    *,
    by: Membership,
    batch: Batch,
    max_credits: Decimal,
    max_failures: int,
    key: ApiKey | None = None,
) -> None:
    """Go on with the waiting rows, within these limits. `key` is as in `start_batch`. Raises
    `Refusal` if a limit is used up."""
    check_permission(by, Permission.RENDER)
    require_own(by, batch)
    locked = lock_batch(batch.pk, BatchState.PAUSED)
    if locked is None:
        raise StaleData(NOT_PAUSED)
    facts = load_facts(locked)
    used = sum((row.committed for row in facts), Decimal(0))
    if max_credits < used:
        raise Refusal(LIMIT_USED_UP.format(used=credits(used)), field="max_credits")
    failed = sum(row.state == BatchRowState.FAILED for row in facts)
    if max_failures and failed >= max_failures:
        raise Refusal(FAILURES_USED_UP.format(count=failed), field="max_failures")
    before = {"limit": amount_text(locked.max_credits or Decimal(0))}
    rules, _ = lock_spending_rules(by, key).covered(max_credits - used)
    rules.check_key(by, max_credits - used)
    above = rules.second_person_above
    more = max_credits - (locked.max_credits or Decimal(0))
    if above is not None and more > above:
        text = NEEDS_SECOND_PERSON.format(above=credits(above), hold=credits(more))
        raise Refusal(text, field="max_credits")
    locked.max_credits, locked.max_failures, locked.key = max_credits, max_failures, key
    locked.preset_name = locked.preset.name if locked.preset else ""  # a deleted one was shown
    token = require_member_token(by)
    require_usable_key(key, token)
    locked.script_price = pricing.script_credits(token.account)
    run_batch(locked)
    after = {"limit": amount_text(max_credits), "failures": max_failures}
    record_audit_event(by, AuditAction.BATCH_RESUME, batch.pk, before=before, after=after)


@transaction.atomic
@append_audit_rows_last()
def retry_failed_rows(*, by: Membership, batch: Batch, seen: Decimal, version: str) -> int:
    """Send all failed rows again; return how many. The limit of the batch rises by what they may
    cost. `seen` and `version` are as in `start_batch`; a form that is sent twice finds them gone.
    """
    check_permission(by, Permission.RENDER)
    require_own(by, batch)
    states = (BatchState.RUNNING, BatchState.PAUSED, BatchState.FINISHED)
    locked = lock_batch(batch.pk, *states)
    rows = load_failed_rows(locked) if locked else []
    if locked is None or not rows:
        raise StaleData(NOTHING_FAILED)
    run = load_confirmed_run(by, locked, rows, seen, version)
    check_team_rules(by, run, run.total.limit)
    for check in run.ready:
        row = check.row
        if row.job is not None:
            row.earlier_jobs.add(row.job)
        row.job, row.reason = None, ""
        queue_row(run, row)
        row.save()
    locked.max_credits = (locked.max_credits or Decimal(0)) + run.total.limit
    locked.script_price, locked.key = run.script_price, None
    run_batch(locked)
    after = {"rows": len(run.ready), "limit": amount_text(run.total.limit)}
    record_audit_event(by, AuditAction.BATCH_RETRY, batch.pk, after=after)
    return len(run.ready)


def load_failed_rows(batch: Batch) -> list[BatchRow]:
    """Return the failed rows with what a retry of them needs."""
    failed = batch.rows.filter(state=BatchRowState.FAILED)
    related = (f"job__{name}" for name in RETRIED_WITH)
    return list(failed.select_related(*related).order_by("number"))


@transaction.atomic
def cancel_waiting_rows(*, by: Membership, batch: Batch) -> int:
    """Cancel the rows that have not begun; return how many. What has begun goes on."""
    check_permission(by, Permission.RENDER)
    locked = lock_batch(batch.pk, BatchState.RUNNING, BatchState.PAUSED)
    waiting = locked.rows.filter(state=BatchRowState.WAITING) if locked else None
    count = waiting.update(state=BatchRowState.CANCELLED) if waiting is not None else 0
    if locked is None or not count:
        raise StaleData(NOTHING_WAITS)
    change_state(locked, BatchState.RUNNING)  # what has begun ends it
    record_audit_event(by, AuditAction.BATCH_CANCEL, batch.pk, after={"rows": count})
    enqueue.enqueue_after_commit(enqueue.ADVANCE_BATCH_TASK, batch.pk)
    return count


def require_own(by: Membership, batch: Batch) -> None:
    """Raise `PermissionDenied` for everybody but the member who made the batch."""
    if batch.member_id != by.user_id:
        raise PermissionDenied(NOT_OWN.format(name=batch.member.first_name))
