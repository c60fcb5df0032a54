"""Ledger conflicts: rows that the upstream shows differently, or no longer. They stop the mirror.

Nothing is overwritten until a person accepts the upstream's version, of one row or of all. Then the
mirror resumes and compares the page below next, because more rows may have changed. It also resumes
when the rows read as known again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.ledger import entry_changes
from proxyapi.ledger.api_attribution import reset_attribution_from
from proxyapi.ledger.page_reader import LEDGER_PAGE_SIZE, UpstreamLedgerPage
from proxyapi.ledger.row_order import order_ties_as_known
from proxyapi.ledger.row_parser import (
    ROW_FIELD_NAMES,
    UpstreamLedgerRow,
    entry_raw_values,
    parse_stored_row,
    raw_values_to_json,
)
from proxyapi.models import Account, Charge, LedgerConflict, LedgerEntry, LedgerMirror
from proxyapi.rollups import price_counts
from proxyapi.rollups.daily_totals import CreditSum

RECHECK_OVERDUE_BY = timedelta(days=1)
LEDGER_POSITION_FIELDS = (
    *("low", "high", "total", "read_at"),
    *("api_low", "api_high", "api_read_at", "api_problem"),
    *("anchor_balance", "anchor_high", "balance_exact", "checkpoint_high", "checkpoint_sum"),
)
BOOKED_AT_INDEX = ROW_FIELD_NAMES.index("booked_at")
# Conflicts for missing rows; the text has the count, and accepting one accepts all
MAX_LISTED_MISSING_ROWS = 500
MIRROR_STOPPED_TEXT = "The ledger is not updated until someone has reviewed it."


@dataclass(frozen=True, slots=True)
class OpenConflicts:
    """Conflicts without a decision; `fingerprint` identifies exactly these, and is empty without
    any."""

    changed_rows: int
    missing_rows: int
    fingerprint: str


def record_conflicts(
    ledger: LedgerMirror, gone: range, differing: Sequence[tuple[LedgerEntry, UpstreamLedgerRow]]
) -> bool:
    """Store the conflicts, if any, and stop the mirror; return whether there are any."""
    if not gone and not differing:
        return False
    missing_entries = LedgerEntry.objects.filter(
        account_id=ledger.pk, position__gte=gone.start, position__lt=gone.stop
    )
    listed_missing = missing_entries.order_by("position")[:MAX_LISTED_MISSING_ROWS] if gone else ()
    changed_positions = {entry.position for entry, _ in differing}
    rows = [
        build_conflict(entry, None)
        for entry in listed_missing
        if entry.position not in changed_positions
    ]
    rows += [build_conflict(entry, row) for entry, row in differing]
    LedgerConflict.objects.bulk_create(rows, ignore_conflicts=True)
    ledger.problem = conflict_message(ledger, gone, differing)
    ledger.save(update_fields=["problem"])
    publish_event(ledger.account.tenant_id, EventType.LEDGER, ledger.pk)
    return True


def build_conflict(entry: LedgerEntry, row: UpstreamLedgerRow | None) -> LedgerConflict:
    after = raw_values_to_json(row.raw_values) if row else None
    return LedgerConflict(
        account_id=entry.account_id,
        position=entry.position,
        before=raw_values_to_json(entry_raw_values(entry)),
        after=after,
    )


def conflict_message(
    ledger: LedgerMirror, gone: range, differing: Sequence[tuple[LedgerEntry, UpstreamLedgerRow]]
) -> str:
    if gone:
        return (
            f"The service's ledger has fewer rows: it had {ledger.high}, now it has {gone.start}. "
            f"{MIRROR_STOPPED_TEXT}"
        )
    entry, row = differing[0]
    count_text = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
    return (
        f"Row {entry.number} of the service's ledger{count_text} has changed: it was "
        f"{quote_row_values(entry_raw_values(entry))}, it is {quote_row_values(row.raw_values)}. "
        f"{MIRROR_STOPPED_TEXT}"
    )


def quote_row_values(raw_values: tuple[str, ...]) -> str:
    label, _, amount, _, when = raw_values
    return f"“{amount} {label}, {when}”"


@transaction.atomic
def accept_upstream_version(conflict: LedgerConflict, member_id: int) -> bool:
    """Replace the row by the upstream's version and reset its match. A missing row removes all
    later ones too. Return False if another person accepted it already."""
    account = Account.objects.get_locked(conflict.account_id)
    ledger = LedgerMirror.objects.get(pk=account.pk)
    open_conflicts = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    if not open_conflicts.filter(pk=conflict.pk).exists():
        return False
    accepted = open_conflicts.filter(pk=conflict.pk)
    if conflict.after is None:
        accepted = open_conflicts.filter(position__gte=conflict.position, after__isnull=True)
        truncate_mirror(ledger, conflict.position)
    else:
        apply_upstream_row(ledger, conflict)
    accepted.update(accepted_at=timezone.now(), accepted_by_id=member_id)
    resume_mirroring(ledger, conflict.position)
    return True


def count_open_conflicts(account: Account) -> OpenConflicts:
    """Count the conflicts without a decision; two queries at most."""
    counts = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True).aggregate(
        count=Count("pk"),
        reworded=Count("pk", filter=Q(after__isnull=False)),
        newest=Max("pk"),
        first_gone=Min("position", filter=Q(after__isnull=True)),
    )
    missing_count = 0
    if counts["first_gone"] is not None:  # only the first missing rows have a conflict
        high = LedgerMirror.objects.values_list("high", flat=True).get(pk=account.pk)
        missing_count = max(0, high - counts["first_gone"])
    fingerprint = f"{counts['count']} {counts['newest']}" if counts["count"] else ""
    return OpenConflicts(counts["reworded"], missing_count, fingerprint)


@transaction.atomic
def accept_all_upstream_versions(
    account: Account, member_id: int, mark: str
) -> OpenConflicts | None:
    """Accept the upstream's version of every open conflict, if their fingerprint is `mark`; return
    them, otherwise None."""
    entry_changes.lock_account(account)
    open_conflicts = count_open_conflicts(account)
    if not open_conflicts.fingerprint or open_conflicts.fingerprint != mark:
        return None
    conflicts = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    for conflict in list(conflicts.order_by("position")):
        accept_upstream_version(conflict, member_id)
    return open_conflicts


def truncate_mirror(ledger: LedgerMirror, position: int) -> None:
    removed = LedgerEntry.objects.filter(account_id=ledger.pk, position__gte=position)
    times = list(removed.values_list("happened_at", flat=True))
    ledger.api_high = max(ledger.api_low, ledger.api_high - removed.filter(via_api=True).count())
    lower_balance_anchor(ledger, position)
    detach_charges(removed)
    removed.delete()
    ledger.high = min(ledger.high, position)
    ledger.low = min(ledger.low, ledger.high)
    if ledger.low == ledger.high:
        reset_mirror(ledger)
    entry_changes.record_entry_changes(ledger.account, times)


def reset_mirror(ledger: LedgerMirror) -> None:
    """Without rows the next sync reads the ledger as if for the first time."""
    ledger.low = ledger.high = ledger.total = ledger.api_low = ledger.api_high = 0
    ledger.read_at = ledger.anchor_balance = ledger.anchor_high = None


def lower_balance_anchor(ledger: LedgerMirror, position: int) -> None:
    """Move the anchor below rows that change, less their sum, so that the difference does not
    change."""
    if ledger.anchor_high is None or ledger.anchor_balance is None:
        return
    if position < ledger.anchor_high:
        rows = LedgerEntry.objects.filter(account_id=ledger.pk, position__lt=ledger.anchor_high)
        removed_sum = rows.filter(position__gte=position).aggregate(sum=CreditSum("amount"))["sum"]
        ledger.anchor_balance -= removed_sum or Decimal(0)
        ledger.anchor_high = position


def apply_upstream_row(ledger: LedgerMirror, conflict: LedgerConflict) -> None:
    entry = LedgerEntry.objects.get(account_id=ledger.pk, position=conflict.position)
    lower_balance_anchor(ledger, entry.position)
    replace_row(ledger, entry, parse_stored_row(conflict.after or {}))


def replace_row(ledger: LedgerMirror, entry: LedgerEntry, row: UpstreamLedgerRow) -> None:
    """Store the upstream's version; if it is another row, it loses its match."""
    old_time, is_other_row = entry.happened_at, entry.booked_at != row.raw_values[BOOKED_AT_INDEX]
    if is_other_row or entry.amount != row.amount:
        detach_charges(LedgerEntry.objects.filter(pk=entry.pk))
        entry.charge = entry.job = entry.member = entry.cost_difference = None
        entry.confidence = entry.reason = entry.operation = ""
    for name, value in zip(ROW_FIELD_NAMES, row.raw_values, strict=True):
        setattr(entry, name, value)
    entry.amount, entry.trouble = row.amount, row.trouble
    entry.happened_at = row.happened_at or old_time
    entry.save()
    if is_other_row:  # if a row was removed, all later rows are different ones too
        reset_attribution_from(ledger, entry.position)
    entry_changes.record_entry_changes(ledger.account, [old_time, entry.happened_at])


def detach_charges(entries: QuerySet[LedgerEntry]) -> None:
    debits, credits = entries.filter(amount__lt=0), entries.filter(amount__gt=0)
    Charge.objects.filter(pk__in=list(debits.values_list("charge", flat=True))).update(
        booked_at=None
    )
    refunded = Charge.objects.filter(
        pk__in=list(credits.values_list("charge", flat=True)), refunded_at__isnull=False
    )
    for charge in refunded.select_related("job"):
        Charge.objects.filter(pk=charge.pk).update(refunded_at=None)
        price_counts.count_charge(charge)


@transaction.atomic
def drop_healed_conflicts(account: Account, page: UpstreamLedgerPage) -> None:
    """Drop the open conflicts of rows that the page shows as known, and resume without any."""
    entry_changes.lock_account(account)
    ledger = LedgerMirror.objects.select_related("account").get(pk=account.pk)
    page = order_ties_as_known(ledger, page)
    still_open = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    is_shorter = page.total < ledger.high
    for conflict in still_open.exclude(after__isnull=True) if is_shorter else still_open.all():
        is_on_page = page.start <= conflict.position < page.end
        if is_on_page:
            shown = raw_values_to_json(page.rows[conflict.position - page.start].raw_values)
        if (is_on_page and shown == conflict.before) or (not is_on_page and conflict.after is None):
            conflict.delete()
    if not still_open.exists():
        resume_mirroring(ledger, page.start)


def resume_mirroring(ledger: LedgerMirror, position: int) -> None:
    """Let the mirror read again once no conflict is open. The balance needs a new checkpoint."""
    ledger.checkpoint_high = ledger.balance_exact = ledger.checkpoint_sum = None
    if LedgerConflict.objects.filter(account_id=ledger.pk, accepted_at__isnull=True).exists():
        ledger.save(update_fields=LEDGER_POSITION_FIELDS)
        return
    ledger.problem, ledger.due_at = "", timezone.now()
    # The page below is compared next, at once.
    ledger.recheck_position = position // LEDGER_PAGE_SIZE * LEDGER_PAGE_SIZE
    ledger.rechecked_at = timezone.now() - RECHECK_OVERDUE_BY
    ledger.save(
        update_fields=[
            *LEDGER_POSITION_FIELDS,
            "problem",
            "due_at",
            "recheck_position",
            "rechecked_at",
        ]
    )
    publish_event(ledger.account.tenant_id, EventType.LEDGER, ledger.pk)
