"""Ledger conflicts: rows that the service shows differently now, or no longer. The mirror stops.

Nothing is overwritten until a person accepts the service's version, of one row or of all. Then the
mirror goes on, and compares the page below next, because more rows may have changed.
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
from proxyapi.ledger.page_reader import LEDGER_PAGE_SIZE
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
MAX_LISTED_MISSING_ROWS = (
    500  # rows that are gone; the sentence tells how many they are, and one lets all go
)
MIRROR_STOPPED_TEXT = "The ledger is not updated until someone has reviewed it."


@dataclass(frozen=True, slots=True)
class OpenConflicts:
    """Conflicts that wait for a person; `fingerprint` identifies just these, empty without any."""

    changed_rows: int
    missing_rows: int
    fingerprint: str


def record_conflicts(
    ledger: LedgerMirror, gone: range, differing: Sequence[tuple[LedgerEntry, UpstreamLedgerRow]]
) -> bool:
    """Store the conflicts, if any, and stop the mirror."""
    if not gone and not differing:
        return False
    lost = LedgerEntry.objects.filter(
        account_id=ledger.pk, position__gte=gone.start, position__lt=gone.stop
    )
    missing = lost.order_by("position")[:MAX_LISTED_MISSING_ROWS] if gone else ()
    listed = {entry.position for entry, _ in differing}
    rows = [build_conflict(entry, None) for entry in missing if entry.position not in listed]
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
    others = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
    return (
        f"Row {entry.number} of the service's ledger{others} has changed: it was "
        f"{quote_row_values(entry_raw_values(entry))}, it is {quote_row_values(row.raw_values)}. "
        f"{MIRROR_STOPPED_TEXT}"
    )


def quote_row_values(words: tuple[str, ...]) -> str:
    label, _, amount, _, when = words
    return f"“{amount} {label}, {when}”"


@transaction.atomic
def accept_upstream_version(rewrite: LedgerConflict, member_id: int) -> bool:
    """Take the service's version of this row; its match is looked for again. A missing row takes
    all later ones along. False where somebody took it already."""
    account = Account.objects.get_locked(rewrite.account_id)
    ledger = LedgerMirror.objects.get(pk=account.pk)
    standing = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    if not standing.filter(pk=rewrite.pk).exists():
        return False
    mine = standing.filter(pk=rewrite.pk)
    if rewrite.after is None:
        mine = standing.filter(position__gte=rewrite.position, after__isnull=True)
        truncate_mirror(ledger, rewrite.position)
    else:
        apply_upstream_row(ledger, rewrite)
    mine.update(accepted_at=timezone.now(), accepted_by_id=member_id)
    resume_mirroring(ledger, rewrite.position)
    return True


def count_open_conflicts(account: Account) -> OpenConflicts:
    """Two queries at most."""
    found = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True).aggregate(
        count=Count("pk"),
        reworded=Count("pk", filter=Q(after__isnull=False)),
        newest=Max("pk"),
        first_gone=Min("position", filter=Q(after__isnull=True)),
    )
    gone = 0
    if found["first_gone"] is not None:  # not all of those that are gone are written down
        high = LedgerMirror.objects.values_list("high", flat=True).get(pk=account.pk)
        gone = max(0, high - found["first_gone"])
    mark = f"{found['count']} {found['newest']}" if found["count"] else ""
    return OpenConflicts(found["reworded"], gone, mark)


@transaction.atomic
def accept_all_upstream_versions(
    account: Account, member_id: int, mark: str
) -> OpenConflicts | None:
    """The same for every open conflict, if they are those of this fingerprint; returns them."""
    entry_changes.lock_account(account)
    found = count_open_conflicts(account)
    if not found.fingerprint or found.fingerprint != mark:
        return None
    rewrites = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    for rewrite in list(rewrites.order_by("position")):
        accept_upstream_version(rewrite, member_id)
    return found


def truncate_mirror(ledger: LedgerMirror, position: int) -> None:
    lost = LedgerEntry.objects.filter(account_id=ledger.pk, position__gte=position)
    times = list(lost.values_list("happened_at", flat=True))
    ledger.api_high = max(ledger.api_low, ledger.api_high - lost.filter(via_api=True).count())
    lower_balance_anchor(ledger, position)
    detach_charges(lost)
    lost.delete()
    ledger.high = min(ledger.high, position)
    ledger.low = min(ledger.low, ledger.high)
    if ledger.low == ledger.high:
        reset_mirror(ledger)
    entry_changes.record_entry_changes(ledger.account, times)


def reset_mirror(ledger: LedgerMirror) -> None:
    """Without rows the next turn is a first contact."""
    ledger.low = ledger.high = ledger.total = ledger.api_low = ledger.api_high = 0
    ledger.read_at = ledger.anchor_balance = ledger.anchor_high = None


def lower_balance_anchor(ledger: LedgerMirror, position: int) -> None:
    """Move the anchor below rows that change, less their sum: the difference stays what it was."""
    if ledger.anchor_high is None or ledger.anchor_balance is None:
        return
    if position < ledger.anchor_high:
        rows = LedgerEntry.objects.filter(account_id=ledger.pk, position__lt=ledger.anchor_high)
        between = rows.filter(position__gte=position).aggregate(sum=CreditSum("amount"))["sum"]
        ledger.anchor_balance -= between or Decimal(0)
        ledger.anchor_high = position


def apply_upstream_row(ledger: LedgerMirror, rewrite: LedgerConflict) -> None:
    entry = LedgerEntry.objects.get(account_id=ledger.pk, position=rewrite.position)
    row, before = parse_stored_row(rewrite.after or {}), entry.happened_at
    is_another = entry.booked_at != row.raw_values[BOOKED_AT_INDEX]
    lower_balance_anchor(ledger, entry.position)
    if is_another or entry.amount != row.amount:
        detach_charges(LedgerEntry.objects.filter(pk=entry.pk))
        entry.charge = entry.job = entry.member = entry.cost_difference = None
        entry.confidence = entry.reason = entry.operation = ""
    for name, word in zip(ROW_FIELD_NAMES, row.raw_values, strict=True):
        setattr(entry, name, word)
    entry.amount, entry.trouble = row.amount, row.trouble
    entry.happened_at = row.happened_at or before
    entry.save()
    if is_another:  # so are the later rows, where one in the middle was taken out
        reset_attribution_from(ledger, entry.position)
    entry_changes.record_entry_changes(ledger.account, [before, entry.happened_at])


def detach_charges(entries: QuerySet[LedgerEntry]) -> None:
    debits, credits = entries.filter(amount__lt=0), entries.filter(amount__gt=0)
    Charge.objects.filter(pk__in=list(debits.values_list("charge", flat=True))).update(
        booked_at=None
    )
    given_back = Charge.objects.filter(
        pk__in=list(credits.values_list("charge", flat=True)), refunded_at__isnull=False
    )
    for charge in given_back.select_related("job"):
        Charge.objects.filter(pk=charge.pk).update(refunded_at=None)
        price_counts.count_charge(charge)


def resume_mirroring(ledger: LedgerMirror, position: int) -> None:
    """Let the mirror read again once no conflict is open. The balance needs a new checkpoint."""
    ledger.checkpoint_high = ledger.balance_exact = ledger.checkpoint_sum = None
    if LedgerConflict.objects.filter(account_id=ledger.pk, accepted_at__isnull=True).exists():
        ledger.save(update_fields=LEDGER_POSITION_FIELDS)
        return
    ledger.problem, ledger.due_at = "", timezone.now()
    # The page beneath is compared next, at once.
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
