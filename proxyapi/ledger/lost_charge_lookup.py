"""Was a charge whose answer was lost booked, and which debit is its own?

Entries have no id. A debit is a charge's if it was booked after the sending and not long after the
answer was given up, its amount fits, and no other charge of the upstream account, of any team, is
matched to it; equal rows are two rows (rule 4).

Called with the account locked, after `match_entries`, so that other charges are matched first;
`reserved_ids` is its result, the debits that other charges still wait for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from proxyapi.clock_offset import TOLERATED_CLOCK_OFFSET, clock_offset_range
from proxyapi.ledger import api_view_sync, backfill, entry_changes, mirror_range
from proxyapi.ledger.api_view_alignment import unattributable_filter
from proxyapi.ledger.matching import api_rows_filter, link_entry_to_charge
from proxyapi.ledger.matching_rules import (
    MATCH_BOOKING_DELAY,
    MATCH_CLOCK_SKEW,
    MATCH_SEARCH_MARGIN,
)
from proxyapi.ledger.page_reader import open_ledger_reader
from proxyapi.ledger.row_parser import UNREADABLE_TIME
from proxyapi.models import Charge, ChargeState, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.account import amount_text
from proxyapi.models.charge import MAX_BOOKING_DELAY, UNDECIDED_STATES
from proxyapi.rate_limiter import Priority

# Clocks may differ by more than `MATCH_CLOCK_SKEW`. A debit booked this long before the sending, or
# up to `MAX_BOOKING_DELAY` late, settles nothing, but the charge is not reported as not charged.
LOOKUP_MARGIN = MATCH_BOOKING_DELAY
CLOCK_CHECK_PERIOD = timedelta(days=1)  # charges within it show how far the clocks differ now
OUTSIDE_SPENDING_PERIOD = timedelta(days=30)
LEDGER_TIME_RESOLUTION = timedelta(seconds=1)
ONE_MINUTE = timedelta(minutes=1)
MAX_LOOKUP_PAGES = 4  # read downward at a time; the next attempt continues from there
LOOKUP_PERMIT_WAIT_S = 2.0  # seconds to wait for a permit


@dataclass(frozen=True, slots=True)
class MirrorCoverage:
    """`is_complete`: at `read_at` no row of the charge's time window was missing from the
    mirror."""

    read_at: datetime
    is_complete: bool


def mirror_charge_period(charge: Charge, lane: Priority) -> MirrorCoverage:
    """Mirror the ledger from its end to shortly before the charge was sent.

    While a long history is backfilled, its newest part is enough. Raises `errors.UpstreamError` or
    `RateLimitExhausted`; pages read before are stored.
    """
    account, requested_at, since = (
        charge.account,
        timezone.now(),
        charge_sent_at(charge) - LOOKUP_MARGIN,
    )
    source = open_ledger_reader(account, lane, LOOKUP_PERMIT_WAIT_S)
    if source is not None:
        backfill.backfill_older_rows(
            source, backfill.catch_up_to_end(source), since, MAX_LOOKUP_PAGES
        )
        if debits_in_charge_period(charge, since).exclude(via_api=True).exists():
            api_view_sync.sync_api_view(source, since, MAX_LOOKUP_PAGES)
    ledger = mirror_range.get_or_create_ledger(account)
    is_new = ledger.read_at is not None and ledger.read_at >= requested_at
    return MirrorCoverage(requested_at, is_new and is_charge_period_covered(ledger, charge, since))


def is_still_covered(charge: Charge) -> bool:
    """Whether no row of the charge's time window is missing now, with the account locked."""
    return is_charge_period_covered(
        mirror_range.get_or_create_ledger(charge.account),
        charge,
        charge_sent_at(charge) - LOOKUP_MARGIN,
    )


def is_charge_period_covered(ledger: LedgerMirror, charge: Charge, since: datetime) -> bool:
    """Whether every row that may be the debit is mirrored, readable and attributed. Unattributed
    rows of other amounts do not count, because an active account always has some."""
    if ledger.problem or not backfill.is_mirrored_since(ledger, since):
        return False
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, happened_at__gte=since)
    # A row with an unreadable time may be older than its neighbours.
    later = Q(happened_at__gt=answer_given_up_at(charge) + MAX_BOOKING_DELAY) & ~Q(
        trouble__endswith=UNREADABLE_TIME
    )
    return not rows.exclude(trouble="").exclude(later).exists() and not has_unattributed_debit(
        ledger, charge, since
    )


def debits_in_charge_period(
    charge: Charge, since: datetime, late: timedelta = MAX_BOOKING_DELAY
) -> QuerySet[LedgerEntry]:
    """Unmatched debits from `since` until `late` after the answer was given up."""
    rows = LedgerEntry.objects.without_charge().filter(account_id=charge.account_id, amount__lt=0)
    times = (since, answer_given_up_at(charge) + late)
    return rows.filter(trouble="", happened_at__range=times).order_by("happened_at", "position")


def api_debits_in_charge_period(
    ledger: LedgerMirror, charge: Charge, late: timedelta = MAX_BOOKING_DELAY
) -> list[LedgerEntry]:
    """The unmatched debits of the API in the charge's time window."""
    if ledger.problem:
        return []
    return list(
        debits_in_charge_period(charge, charge_sent_at(charge) - LOOKUP_MARGIN, late).filter(
            api_rows_filter(ledger)
        )
    )


def find_charge_debit(
    charge: Charge, reserved_ids: Collection[int], *, waited: bool
) -> LedgerEntry | None:
    """The debit of a charge that was carried out: of an amount that it can cost, or, after a wait
    (`waited`), the nearest within `approximate_price_bounds`. None while a charge that is being
    sent may have made it."""
    ledger = mirror_range.get_or_create_ledger(charge.account)
    if has_unattributed_debit(ledger, charge, charge_sent_at(charge) - MATCH_CLOCK_SKEW):
        return None
    low, high = approximate_price_bounds(charge)
    unreserved = [
        entry
        for entry in api_debits_in_charge_period(ledger, charge)
        if is_booked_after_sending(entry, charge) and entry.pk not in reserved_ids
    ]
    chosen = [entry for entry in unreserved if charge.can_cost(-entry.amount)]
    if waited and not chosen:
        chosen = [entry for entry in unreserved if low <= -entry.amount <= high]
    entry = pick_nearest_debit(chosen, charge)
    return None if entry and count_rival_charges(charge, [entry], ChargeState.SENDING) else entry


def approximate_price_bounds(charge: Charge) -> tuple[Decimal, Decimal]:
    """The lowest and highest credits that the charge's debit may have; never narrower than
    `can_cost`."""
    low = charge.price - max(charge.price / 2, charge.hold - charge.price)
    return low, max(charge.price, charge.hold) * 2


def has_unattributed_debit(
    ledger: LedgerMirror, charge: Charge, since: datetime, late: timedelta = MAX_BOOKING_DELAY
) -> bool:
    """Whether a debit in the charge's time window and near its price is not attributed yet."""
    low, high = approximate_price_bounds(charge)
    rows = debits_in_charge_period(charge, since, late).filter(via_api__isnull=True)
    attributable = rows.exclude(unattributable_filter(ledger))
    return attributable.filter(amount__range=(-high, -low)).exists()


def pick_nearest_debit(debits: list[LedgerEntry], charge: Charge) -> LedgerEntry | None:
    """The debit nearest in amount; of equal ones first those booked after the sending."""
    price = charge.price
    return min(
        debits,
        key=lambda entry: (abs(-entry.amount - price), is_booked_before_sending(entry, charge)),
        default=None,
    )


def find_proving_debit(charge: Charge, reserved_ids: Collection[int]) -> LedgerEntry | None:
    """The debit that proves a charge which the resource cannot prove, such as a retry.

    If the resource can prove the charge, a debit alone proves nothing. Nor does it if other
    undecided charges may have made it, unless there are debits enough for all of them.

    A debit booked before the sending proves nothing, unless the upstream's clock is known to be
    behind ours: it may be an outside debit of the same price. It still counts for
    `has_possible_debit`, so the charge is not called uncharged and a person decides. The same holds
    for a debit booked more than `MATCH_SEARCH_MARGIN` after the answer was given up, which is as
    likely an outside one. Where somebody outside the portal spends on the account, amount and time
    alone prove nothing, and a person decides.
    """
    if not charge.is_proved_by_debit or is_spent_by_others(charge, reserved_ids):
        return None
    ledger = mirror_range.get_or_create_ledger(charge.account)
    if has_unattributed_debit(
        ledger, charge, charge_sent_at(charge) - MATCH_CLOCK_SKEW, MATCH_SEARCH_MARGIN
    ):
        return None
    fitting = [
        entry
        for entry in api_debits_in_charge_period(ledger, charge, MATCH_SEARCH_MARGIN)
        if entry.pk not in reserved_ids
        and is_booked_after_sending(entry, charge)
        and charge.can_cost(-entry.amount)
    ]
    if any(
        is_booked_before_sending(entry, charge) for entry in fitting
    ) and not is_upstream_clock_behind(charge):
        fitting = [entry for entry in fitting if not is_booked_before_sending(entry, charge)]
    return (
        pick_nearest_debit(fitting, charge)
        if len(fitting) > count_rival_charges(charge, fitting)
        else None
    )


def is_spent_by_others(charge: Charge, reserved_ids: Collection[int] = ()) -> bool:
    """Whether the API was used outside the portal, by another installation or a script, in the
    month before the charge: a debit that no charge of any team has or may have."""
    ledger = mirror_range.get_or_create_ledger(charge.account)
    sent_at = charge_sent_at(charge)
    times = (sent_at - OUTSIDE_SPENDING_PERIOD, sent_at - MATCH_CLOCK_SKEW)
    rows = LedgerEntry.objects.without_charge().filter(
        api_rows_filter(ledger), account=ledger.pk, amount__lt=0, trouble="",
        happened_at__range=times,
    )  # fmt: skip
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    unsettled = list(of_all_teams.filter(state__in=(*UNDECIDED_STATES, ChargeState.WRITTEN_OFF)))
    return any(
        not any(
            is_in_charge_period(entry, other) and other.can_cost(-entry.amount)
            for other in unsettled
        )
        for entry in rows.exclude(pk__in=reserved_ids).iterator()
    )


def is_upstream_clock_behind(charge: Charge) -> bool:
    """Whether a recent answered charge was booked, by the upstream's clock, before we sent it."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    answered = of_all_teams.filter(state=ChargeState.CONFIRMED)
    since = charge_sent_at(charge) - CLOCK_CHECK_PERIOD
    booked = answered.filter(
        sent_at__gte=since, booked_at__lt=F("sent_at") - LEDGER_TIME_RESOLUTION
    )
    return booked.exists()


def has_possible_debit(charge: Charge, *, by_any_clock: bool = False) -> bool:
    """Whether an unmatched debit may be the charge's, so that it must not be called uncharged.

    True also for a debit reserved for another charge, as it may be released; for one that is not
    attributed; for one only near the price, as the charge may have cost something else; and while
    the mirror is stopped, because newer rows are unknown. `by_any_clock`: also if the upstream's
    clock is behind ours by more than a few seconds.
    """
    if mirror_range.get_or_create_ledger(charge.account).problem:
        return True
    low, high = approximate_price_bounds(charge)
    since = charge_sent_at(charge) - LOOKUP_MARGIN if by_any_clock else charge_period_start(charge)
    rows = debits_in_charge_period(charge, since).exclude(via_api=False)
    return rows.filter(amount__range=(-high, -low)).exists()


def find_late_debit(
    charge: Charge, reserved_ids: Collection[int] = (), *, is_done: bool
) -> LedgerEntry | None:
    """The debit of a charge that counts as not charged: of exactly its price, or, if its resource
    shows that it was carried out, of any amount that it can cost. After an answer that refused it
    only a debit of the next minutes counts.

    A debit that another undecided charge may have made is left to it, and one beside a refusal is
    left to whoever else spends on the account.
    """
    if not (is_done or charge.lost_at) and is_spent_by_others(charge, reserved_ids):
        return None
    late = MAX_BOOKING_DELAY if charge.lost_at else MATCH_BOOKING_DELAY
    unreserved = [
        entry
        for entry in api_debits_in_charge_period(
            mirror_range.get_or_create_ledger(charge.account), charge, late
        )
        if is_booked_after_sending(entry, charge) and entry.pk not in reserved_ids
    ]
    exact = [entry for entry in unreserved if -entry.amount == charge.price]
    possible = [entry for entry in unreserved if is_done and charge.can_cost(-entry.amount)]
    entry = pick_nearest_debit(exact or possible, charge)
    return None if entry and count_rival_charges(charge, [entry]) else entry


def link_late_debit(charge: Charge, entry: LedgerEntry) -> None:
    cost, minutes = (
        amount_text(-entry.amount),
        (entry.happened_at - charge_sent_at(charge)) // ONE_MINUTE,
    )
    confidence, amount_reason = MatchConfidence.LIKELY, f"exactly its {cost} cr"
    if -entry.amount != charge.price:
        confidence, amount_reason = (
            MatchConfidence.WEAK,
            f"{cost} cr, close to its {amount_text(charge.price)}",
        )
    why = "Its response was lost" if charge.lost_at else "The response was a refusal"
    link_entry_to_charge(
        entry,
        charge,
        confidence,
        f"Probably this charge: {amount_reason}, recorded {minutes} min after it was sent. "
        f"{why}, and it was reported as not charged before this entry was found.",
    )
    entry_changes.record_entry_changes(charge.account, [entry.happened_at])


def link_settling_debit(charge: Charge, entry: LedgerEntry) -> None:
    rows = api_debits_in_charge_period(mirror_range.get_or_create_ledger(charge.account), charge)
    equal = [other for other in rows if other.amount == entry.amount]
    cost, price = amount_text(-entry.amount), amount_text(charge.price)
    if -entry.amount != charge.price:
        confidence, explanation = (
            MatchConfidence.WEAK,
            f"{cost} cr were recorded in its time window, close to its {price} cr.",
        )
    elif len(equal) > 1:
        confidence, explanation = (
            MatchConfidence.LIKELY,
            f"one of {len(equal)} debits of exactly its {cost} cr.",
        )
    elif is_booked_before_sending(entry, charge):
        confidence, explanation = (
            MatchConfidence.LIKELY,
            f"exactly its {cost} cr, recorded before it by our clock.",
        )
    elif is_spent_by_others(charge):
        confidence, explanation = (
            MatchConfidence.LIKELY,
            f"exactly its {cost} cr, but this account is used outside the portal, too.",
        )
    elif any(abs(offset) > TOLERATED_CLOCK_OFFSET for offset in clock_offset_range(charge.before)):
        confidence, explanation = (
            MatchConfidence.LIKELY,
            f"exactly its {cost} cr, but our clock and the service's differed.",
        )
    elif entry.happened_at > answer_given_up_at(charge) + MATCH_BOOKING_DELAY:
        confidence, explanation = (
            MatchConfidence.LIKELY,
            f"exactly its {cost} cr, recorded some minutes after it.",
        )
    else:
        confidence, explanation = (
            MatchConfidence.CERTAIN,
            f"exactly its {cost} cr, in its time window; nothing else matches.",
        )
    link_entry_to_charge(entry, charge, confidence, f"Its response was lost; {explanation}")
    entry_changes.record_entry_changes(charge.account, [entry.happened_at])


def count_rival_charges(
    charge: Charge, fitting: Sequence[LedgerEntry], *states: ChargeState
) -> int:
    """Count other charges, of all teams, that may have made one of these debits: undecided ones, or
    those of the given states."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    rivals = of_all_teams.filter(state__in=states or UNDECIDED_STATES)
    return sum(
        any(
            is_in_charge_period(entry, rival) and rival.can_cost(-entry.amount) for entry in fitting
        )
        for rival in rivals.exclude(pk=charge.pk)
    )


def is_in_charge_period(entry: LedgerEntry, charge: Charge) -> bool:
    until = timezone.now() if charge.state == ChargeState.SENDING else answer_given_up_at(charge)
    return charge_period_start(charge) <= entry.happened_at <= until + MAX_BOOKING_DELAY


def charge_period_start(charge: Charge) -> datetime:
    return charge_sent_at(charge) - (
        LOOKUP_MARGIN if charge.is_proved_by_debit else MATCH_CLOCK_SKEW
    )


def is_booked_after_sending(entry: LedgerEntry, charge: Charge) -> bool:
    return entry.happened_at >= charge_sent_at(charge) - MATCH_CLOCK_SKEW


def is_booked_before_sending(entry: LedgerEntry, charge: Charge) -> bool:
    """Compares whole seconds, the resolution of the ledger's times."""
    return entry.happened_at < charge_sent_at(charge).replace(microsecond=0)


def charge_sent_at(charge: Charge) -> datetime:
    """The first sending of a charge that was sent again: a debit may be of either. The earliest
    that it may be by the service's clock."""
    sent_at = charge.first_sent_at or charge.sent_at or charge.created_at
    return sent_at + clock_offset_range(charge.before)[0]


def answer_given_up_at(charge: Charge) -> datetime:
    """The latest that it may be by the service's clock."""
    answered_at = charge.settled_at if charge.state == ChargeState.REFUSED else None
    given_up_at = charge.lost_at or answered_at or charge.sent_at or charge.created_at
    return given_up_at + clock_offset_range(charge.before)[1]
