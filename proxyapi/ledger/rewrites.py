"""Rows that the service shows differently now, or not any more: the mirror stops at them.

Nothing of ours is overwritten until a person has looked. `accept` takes the service's version of
one row, `accept_all` of every one that was found; then the mirror goes on, and compares the page
beneath next, because what changed one row may have changed more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.ledger import changes
from proxyapi.ledger.page import PER_PAGE
from proxyapi.ledger.row import NAMES, Row, as_json, from_json, words_of
from proxyapi.ledger.told import forget_from
from proxyapi.models import Account, Charge, LedgerConflict, LedgerEntry, LedgerMirror
from proxyapi.rollups import price_counts
from proxyapi.rollups.daily_totals import CreditSum

LONG_AGO = timedelta(days=1)
# What may be another in a ledger after rows of it were let go.
SHORTENED = (
    *("low", "high", "total", "read_at"),
    *("api_low", "api_high", "api_read_at", "api_problem"),
    *("anchor_balance", "anchor_high", "balance_exact", "weighed_high", "weighed_sum"),
)
BOOKED_AT = NAMES.index("booked_at")
LISTED = 500  # rows that are gone; the sentence tells how many they are, and one lets all go
STOPPED = "Nothing more is read until somebody has looked at it."


@dataclass(frozen=True, slots=True)
class Standing:
    """The rows that wait to be looked at: how many read differently, how many the service does not
    show any more, and what just these are recognised by; empty where none waits."""

    reworded: int
    gone: int
    mark: str


def found(ledger: LedgerMirror, gone: range, differing: Sequence[tuple[LedgerEntry, Row]]) -> bool:
    """Write down what was found, if anything, and stop the mirror."""
    if not gone and not differing:
        return False
    lost = LedgerEntry.objects.filter(
        account_id=ledger.pk, position__gte=gone.start, position__lt=gone.stop
    )
    missing = lost.order_by("position")[:LISTED] if gone else ()
    rows = [rewrite(entry, None) for entry in missing if entry.position not in at(differing)]
    rows += [rewrite(entry, row) for entry, row in differing]
    LedgerConflict.objects.bulk_create(rows, ignore_conflicts=True)
    ledger.problem = sentence(ledger, gone, differing)
    ledger.save(update_fields=["problem"])
    publish_event(ledger.account.vault_id, EventType.LEDGER, ledger.pk)
    return True


def at(differing: Iterable[tuple[LedgerEntry, Row]]) -> set[int]:
    return {entry.position for entry, _ in differing}


def rewrite(entry: LedgerEntry, row: Row | None) -> LedgerConflict:
    after = as_json(row.words) if row else None
    return LedgerConflict(
        account_id=entry.account_id,
        position=entry.position,
        before=as_json(words_of(entry)),
        after=after,
    )


def sentence(
    ledger: LedgerMirror, gone: range, differing: Sequence[tuple[LedgerEntry, Row]]
) -> str:
    if gone:
        return (
            f"The service's ledger got shorter: it had {ledger.high} rows, now it has "
            f"{gone.start}. {STOPPED}"
        )
    entry, row = differing[0]
    others = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
    return (
        f"Row {entry.number} of the service's ledger{others} reads differently now: it was "
        f"{said(words_of(entry))}, it is {said(row.words)}. {STOPPED}"
    )


def said(words: tuple[str, ...]) -> str:
    """The words of a row that a person tells it by."""
    label, _, amount, _, when = words
    return f"“{amount} {label}, {when}”"


@transaction.atomic
def accept(rewrite: LedgerConflict, member_id: int) -> bool:
    """Take the service's version of this row and go on; a match that it had is looked for anew.

    A row that is gone takes the ones after it along, as there is nothing behind the end. Answers
    False where somebody took it already.
    """
    account = Account.objects.get_locked(rewrite.account_id)
    ledger = LedgerMirror.objects.get(pk=account.pk)
    standing = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    if not standing.filter(pk=rewrite.pk).exists():
        return False
    mine = standing.filter(pk=rewrite.pk)
    if rewrite.after is None:
        mine = standing.filter(position__gte=rewrite.position, after__isnull=True)
        shorten(ledger, rewrite.position)
    else:
        reword(ledger, rewrite)
    mine.update(accepted_at=timezone.now(), accepted_by_id=member_id)
    go_on(ledger, rewrite.position)
    return True


def standing(account: Account) -> Standing:
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
    return Standing(found["reworded"], gone, mark)


@transaction.atomic
def accept_all(account: Account, member_id: int, mark: str) -> Standing | None:
    """Take the service's version of every row that was found, if they are the ones of this mark;
    which they were."""
    changes.lock(account)
    found = standing(account)
    if not found.mark or found.mark != mark:
        return None
    rewrites = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    for rewrite in list(rewrites.order_by("position")):
        accept(rewrite, member_id)
    return found


def shorten(ledger: LedgerMirror, position: int) -> None:
    lost = LedgerEntry.objects.filter(account_id=ledger.pk, position__gte=position)
    times = list(lost.values_list("happened_at", flat=True))
    ledger.api_high = max(ledger.api_low, ledger.api_high - lost.filter(via_api=True).count())
    lower_anchor(ledger, position)
    part_with(lost)
    lost.delete()
    ledger.high = min(ledger.high, position)
    ledger.low = min(ledger.low, ledger.high)
    if ledger.low == ledger.high:
        begin_anew(ledger)
    changes.note(ledger.account, times)


def begin_anew(ledger: LedgerMirror) -> None:
    """No row is left: the next turn is a first contact. The end may be far beneath what was read
    while older rows were still missing."""
    ledger.low = ledger.high = ledger.total = ledger.api_low = ledger.api_high = 0
    ledger.read_at = ledger.anchor_balance = ledger.anchor_high = None


def lower_anchor(ledger: LedgerMirror, position: int) -> None:
    """The balance that was weighed first is of rows that change now: taken back by what they add
    up to it is that of the rows beneath. So what the balance and the rows differed by stays."""
    if ledger.anchor_high is None or ledger.anchor_balance is None:
        return
    if position < ledger.anchor_high:
        rows = LedgerEntry.objects.filter(account_id=ledger.pk, position__lt=ledger.anchor_high)
        between = rows.filter(position__gte=position).aggregate(sum=CreditSum("amount"))["sum"]
        ledger.anchor_balance -= between or Decimal(0)
        ledger.anchor_high = position


def reword(ledger: LedgerMirror, rewrite: LedgerConflict) -> None:
    entry = LedgerEntry.objects.get(account_id=ledger.pk, position=rewrite.position)
    row, before = from_json(rewrite.after or {}), entry.happened_at
    is_another = entry.booked_at != row.words[BOOKED_AT]
    lower_anchor(ledger, entry.position)
    if is_another or entry.amount != row.amount:
        part_with(LedgerEntry.objects.filter(pk=entry.pk))
        entry.charge = entry.job = entry.member = entry.off = None
        entry.confidence = entry.reason = entry.operation = ""
    for name, word in zip(NAMES, row.words, strict=True):
        setattr(entry, name, word)
    entry.amount, entry.trouble = row.amount, row.trouble
    entry.happened_at = row.happened_at or before
    entry.save()
    if is_another:  # as it is where one in the middle was taken out: those behind it moved up
        forget_from(ledger, entry.position)
    changes.note(ledger.account, [before, entry.happened_at])


def part_with(entries: QuerySet[LedgerEntry]) -> None:
    """The charges of these rows have no debit, or no refund, from now on."""
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


def go_on(ledger: LedgerMirror, position: int) -> None:
    """The mirror may read again, once nothing is left to look at. Until it is weighed anew nothing
    is known of the balance beside these rows."""
    ledger.weighed_high = ledger.balance_exact = ledger.weighed_sum = None
    if LedgerConflict.objects.filter(account_id=ledger.pk, accepted_at__isnull=True).exists():
        ledger.save(update_fields=SHORTENED)
        return
    ledger.problem, ledger.due_at = "", timezone.now()
    # The page beneath is compared next, at once.
    ledger.patrolled = position // PER_PAGE * PER_PAGE
    ledger.patrolled_at = timezone.now() - LONG_AGO
    ledger.save(update_fields=[*SHORTENED, "problem", "due_at", "patrolled", "patrolled_at"])
    publish_event(ledger.account.vault_id, EventType.LEDGER, ledger.pk)
