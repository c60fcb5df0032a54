"""Actions on series: save one, start or resume it, pause it, delete it, and start its next batch.

The member confirms what one time and one month may cost. Each batch is made and started by the
functions that a person's batch uses, in the one transaction that takes its topics from the list
and sets the next time: it is started once or not at all.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from decimal import Decimal
from itertools import accumulate, takewhile
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.text import Truncator

from dashboard.batches.actions import create_batch, dry_run_version, start_batch
from dashboard.batches.dry_run import DryRun, load_dry_run
from dashboard.batches.runner import find_runner, load_used_credits
from dashboard.batches.table_file import Table
from dashboard.models import (
    AuditAction,
    Batch,
    BatchRow,
    BatchState,
    Membership,
    Series,
)
from dashboard.shared import enqueue
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event, system_actor
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission
from dashboard.shared.start_times import resolve_wall_time, wall_time
from proxyapi.charges import check_charges_allowed
from proxyapi.models import DatabaseEpoch
from proxyapi.models.account import amount_text
from proxyapi.refusals import NotReady, Refusal, StaleData

TOPIC_COLUMN = "topic"
NOT_OWN = "Only {name} can do this: the series uses their token and their budgets."
PRESET_GONE = "The preset of the series was deleted. Choose another one."
TOPICS_USED_UP = "All topics are used. Add more, and start it again."
TOPIC_REFUSED = "The topic “{topic}” cannot be made: {problem}"
ALL_DUPLICATES = "The next topics were made in the last 90 days, or are twice in the list."
LIMIT_TOO_LOW = "One video may cost {next} cr, more than the {limit} cr a month. Raise the limit."
LIMIT_REACHED = (
    "{used} of {limit} cr of this month are spent or held, and the next video may cost {next} cr."
)
DATABASE_RESTORED = (
    "The database was restored from a backup. Look for the videos of its topics in the library, "
    "then start it again."
)
CHANGED_MEANWHILE = (
    "Not saved. The series was changed, or started a batch, since this page was opened. Compare "
    "your topics with those that are left, and save again."
)
SERIES_GONE = "This series was deleted."
SERIES_CHANGED = "Nothing was started. The series or its prices have changed; confirm again."


class MonthUsedUp(NotReady):
    """The next video fits the limit of a month, but not what is left of this one."""


def next_time(series: Series, after: datetime) -> datetime:
    """Return the first time of the series after this instant. Its wall-clock time is kept when the
    clocks change."""
    today = wall_time(after, series.zone).date()
    days = (today + timedelta(days=ahead) for ahead in range(9))
    times = (datetime.combine(day, series.at) for day in days if day.weekday() in series.weekdays)
    return next(at for local in times if (at := resolve_wall_time(local, series.zone)) > after)


@transaction.atomic
def save_series(
    *, by: Membership, series: Series, changes: dict[str, Any], drawn: str = ""
) -> Series:
    """Save a new series or changed settings. It is paused then, but for changed topics alone, until
    its member confirms it; nothing is sent. Raises `StaleData` if `drawn` is not its version."""
    check_permission(by, Permission.RENDER)
    is_new = series._state.adding
    row = series if is_new else lock_series(series.pk)
    if not is_new:
        require_own(by, row)
        if drawn and drawn != row.version:
            raise StaleData(CHANGED_MEANWHILE)
    keeps_running = {name for name in changes if getattr(row, name) != changes[name]} <= {"topics"}
    for name, value in changes.items():
        setattr(row, name, value)
    if not keeps_running:
        row.paused_at, row.pause_reason = timezone.now(), ""
        row.next_at = next_time(row, timezone.now())
    row.save()
    action = AuditAction.SERIES_ADD if is_new else AuditAction.SERIES_CHANGE
    after = {"name": row.name, "limit": amount_text(row.monthly_credits)}
    record_audit_event(by, action, row.pk, after=after)
    return row


@transaction.atomic
def resume_series(*, by: Membership, series: Series, seen: Decimal, version: str) -> None:
    """Let a series run, as its member confirmed it: `seen` is the usual price of one time that was
    shown, in credits, `version` that of its settings. A form that is sent twice starts it once."""
    check_permission(by, Permission.RENDER)
    row = lock_series(series.pk)
    require_own(by, row)
    if row.is_running:
        return
    run = load_next_run(row)
    if row.version != version or run.total.usual != seen:
        raise StaleData(SERIES_CHANGED)
    row.next_at = first_time(row, run)
    row.paused_at, row.pause_reason = None, ""
    row.epoch = DatabaseEpoch.objects.get_or_create_current().number
    row.save()
    after = {"limit": amount_text(row.monthly_credits)}
    record_audit_event(by, AuditAction.SERIES_RESUME, row.pk, after=after)


def first_time(series: Series, run: DryRun) -> datetime:
    """Return the first time of a series that is confirmed now: in the next month, if this one is
    used up. Raises `Refusal` as `check_next_run` does."""
    try:
        check_next_run(series, run)
    except MonthUsedUp:
        later = month_start(series) + timedelta(days=32)
        return next_time(series, month_start(series, later) - timedelta(seconds=1))
    return next_time(series, timezone.now())


@transaction.atomic
def pause_series(*, by: Membership, series: Series) -> None:
    """Start no further batch; those that were started go on."""
    check_permission(by, Permission.RENDER)
    if Series.objects.filter(pk=series.pk).pause():
        record_audit_event(by, AuditAction.SERIES_PAUSE, series.pk)


@transaction.atomic
def remove_series(*, by: Membership, series: Series) -> None:
    """Delete a series. Its batches stay, and go on."""
    check_permission(by, Permission.RENDER)
    row = lock_series(series.pk)
    record_audit_event(by, AuditAction.SERIES_REMOVE, row.pk, before={"name": row.name})
    row.delete()


def run_series(series_id: UUID) -> None:
    """Start the next batch of a series that is due, or pause it with a sentence. Times that were
    missed count once."""
    try:
        start_next_batch(series_id)
    except Refusal as refusal:
        pause_by_itself(series_id, refusal.sentence)


@transaction.atomic
@append_audit_rows_last()
def start_next_batch(series_id: UUID) -> None:
    """Raises `Refusal` for what stands in its way; nothing was changed then."""
    series = Series.objects.due().select_for_update().filter(pk=series_id).first()
    if series is None:
        return
    if series.epoch != DatabaseEpoch.objects.get_or_create_current().number:
        raise NotReady(DATABASE_RESTORED)
    by, run = find_runner(draft_of(series)), load_next_run(series)
    check_charges_allowed(series.team.tenant_id)
    count = check_next_run(series, run)
    lines = series.topic_lines
    table = Table([TOPIC_COLUMN], {at: [text] for at, text in enumerate(lines[:count], start=1)})
    batch = create_batch(by=by, name=series.name, file_name="", table=table, preset=series.preset)
    Batch.objects.filter(pk=batch.pk).update(series=series)
    run = load_dry_run(by, batch, list(batch.rows.all()))
    start_batch(by=by, batch=batch, seen=run.total.usual, version=dry_run_version(run))
    series.topics = "\n".join(lines[count:])
    series.next_at = next_time(series, timezone.now())
    series.save()
    if not series.topics:
        pause_by_itself(series_id, TOPICS_USED_UP)


@transaction.atomic
def pause_by_itself(series_id: UUID, reason: str) -> None:
    """Pause a running series with a sentence, and have its member notified once."""
    if Series.objects.filter(pk=series_id).pause(reason):
        series = Series.objects.select_related("team").get(pk=series_id)
        actor = system_actor(series.team, "Series")
        record_audit_event(actor, AuditAction.SERIES_PAUSE, series_id, reason=reason)
        enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, series.team_id)


def load_next_run(series: Series) -> DryRun:
    """Return the dry run of the next topics, as if they were a batch now. Raises `Refusal` without
    a member, preset or token."""
    if series.preset is None:
        raise NotReady(PRESET_GONE)
    batch = draft_of(series)
    texts = series.topic_lines[: series.count]
    rows = [BatchRow(batch=batch, number=at, cells=[text]) for at, text in enumerate(texts, 1)]
    return load_dry_run(find_runner(batch), batch, rows)


def draft_of(series: Series) -> Batch:
    """Return an unsaved batch with what is common to those of the series."""
    columns = [TOPIC_COLUMN]
    return Batch(
        team=series.team,
        member=series.member,
        columns=columns,
        headers=columns,
        preset=series.preset,
    )


def check_next_run(series: Series, run: DryRun) -> int:
    """Return how many of the topics of a dry run fit the credits that are left of this month.
    Raises `Refusal` if none does, or if one of them cannot be made."""
    if not run.checks:
        raise NotReady(TOPICS_USED_UP)
    for check in run.checks:
        if check.problems:
            topic = Truncator(check.row.cells[0]).chars(60)
            sentence = check.problems[0].sentence
            raise NotReady(TOPIC_REFUSED.format(topic=topic, problem=sentence))
    if not run.ready:
        raise NotReady(ALL_DUPLICATES)
    used = load_used_of_month(series)
    ready = {check.row.number for check in run.ready}
    limits = [
        run.prices[check.row.number].limit if check.row.number in ready else Decimal(0)
        for check in run.checks
    ]
    fits = len(
        list(takewhile(lambda sum_: used + sum_ <= series.monthly_credits, accumulate(limits)))
    )
    if not any(limits[:fits]):
        first, monthly = next(filter(None, limits)), credits(series.monthly_credits)
        if first > series.monthly_credits:
            raise NotReady(LIMIT_TOO_LOW.format(next=credits(first), limit=monthly))
        amounts = {"used": credits(used), "limit": monthly, "next": credits(first)}
        raise MonthUsedUp(LIMIT_REACHED.format(**amounts))
    return fits


def load_used_of_month(series: Series) -> Decimal:
    """Return the credits of the batches that were started this month: what ended ones have used,
    and what others may use at most. Four queries."""
    since = month_start(series)
    batches = series.batches.filter(started_at__gte=since).prefetch_related("rows")
    used = load_used_credits(batches)
    total = Decimal(0)
    for batch in batches:
        spent = sum((used[row.pk] for row in batch.rows.all()), Decimal(0))
        is_over = batch.state == BatchState.FINISHED
        total += spent if is_over else max(spent, batch.max_credits or Decimal(0))
    return total


def month_start(series: Series, at: datetime | None = None) -> datetime:
    """Return when the month of this instant, or of now, began in the zone of the series."""
    first = wall_time(at or timezone.now(), series.zone).date().replace(day=1)
    return resolve_wall_time(datetime.combine(first, time.min), series.zone)


def lock_series(series_id: UUID) -> Series:
    series = Series.objects.select_for_update().filter(pk=series_id).first()
    if series is None:
        raise StaleData(SERIES_GONE)
    return series


def require_own(by: Membership, series: Series) -> None:
    """Raise `PermissionDenied` for everybody but the member who made the series."""
    if series.member_id != by.user_id:
        raise PermissionDenied(NOT_OWN.format(name=series.member.first_name))
