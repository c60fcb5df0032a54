"""Was a charge whose answer got lost booked, and which debit is its own?

Entries have no id. A debit is a charge's when it was booked after the sending and not long after
the answer was given up, its amount fits, and no other charge of the account has it, of whichever
team; equal rows are two rows (rule 4).

Called with the account locked, after `match_entries`, so that other charges take theirs first;
`kept` is what that returns, the debits that others still wait for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F, Q, QuerySet
from django.utils import timezone

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

# Clocks may be worse than SKEW. A debit so near to the sending settles nothing, but it is a trace.
# So is one that is later than FAR, up to LONGEST: who is told "never charged" pays again.
LOOKUP_MARGIN = MATCH_BOOKING_DELAY
CLOCK_CHECK_PERIOD = timedelta(days=1)  # how long ago tells what the clocks are like now
LEDGER_TIME_RESOLUTION = timedelta(seconds=1)
ONE_MINUTE = timedelta(minutes=1)
MAX_LOOKUP_PAGES = 4  # read downward at a time; the next settling goes on from there
LOOKUP_PERMIT_WAIT_S = 2.0  # seconds to wait for a turn


@dataclass(frozen=True, slots=True)
class MirrorCoverage:
    """What the mirror holds of a charge's time. `whole`: at `read_at` nothing of it was missing."""

    read_at: datetime
    is_complete: bool


def mirror_charge_period(charge: Charge, lane: Priority) -> MirrorCoverage:
    """Mirror the ledger from its end to shortly before the charge was sent.

    While a long history is being filled up, its newest part is enough. Raises
    `errors.UpstreamError` or `RateLimitExhausted`; what was read before is kept.
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
    """Whether nothing of the charge's time is missing now, with the account locked."""
    return is_charge_period_covered(
        mirror_range.get_or_create_ledger(charge.account),
        charge,
        charge_sent_at(charge) - LOOKUP_MARGIN,
    )


def is_charge_period_covered(ledger: LedgerMirror, charge: Charge, since: datetime) -> bool:
    """An unreadable or unattributed row may be the debit; unattributed rows of other amounts are
    not waited for, because somebody always spends."""
    if ledger.problem or not backfill.is_mirrored_since(ledger, since):
        return False
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, happened_at__gte=since)
    # A row whose time cannot be read may be older than its neighbours.
    later = Q(happened_at__gt=answer_given_up_at(charge) + MAX_BOOKING_DELAY) & ~Q(
        trouble__endswith=UNREADABLE_TIME
    )
    return not rows.exclude(trouble="").exclude(later).exists() and not has_unattributed_debit(
        ledger, charge, since
    )


def debits_in_charge_period(
    charge: Charge, since: datetime, late: timedelta = MAX_BOOKING_DELAY
) -> QuerySet[LedgerEntry]:
    """Unmatched debits since then, until `late` after the answer was given up."""
    rows = LedgerEntry.objects.without_charge().filter(account_id=charge.account_id, amount__lt=0)
    times = (since, answer_given_up_at(charge) + late)
    return rows.filter(trouble="", happened_at__range=times).order_by("happened_at", "position")


def api_debits_in_charge_period(
    ledger: LedgerMirror, charge: Charge, late: timedelta = MAX_BOOKING_DELAY
) -> list[LedgerEntry]:
    """The unmatched debits of the API in the charge's time."""
    if ledger.problem:
        return []
    return list(
        debits_in_charge_period(charge, charge_sent_at(charge) - LOOKUP_MARGIN, late).filter(
            api_rows_filter(ledger)
        )
    )


def find_charge_debit(charge: Charge, kept: Collection[int], *, waited: bool) -> LedgerEntry | None:
    """The debit of a charge that was carried out: one that it can cost, after a wait (`waited`) the
    nearest within `approximate_price_bounds`. None while a charge in sending may have made it."""
    ledger = mirror_range.get_or_create_ledger(charge.account)
    if has_unattributed_debit(ledger, charge, charge_sent_at(charge) - MATCH_CLOCK_SKEW):
        return None
    low, high = approximate_price_bounds(charge)
    mine = [
        entry
        for entry in api_debits_in_charge_period(ledger, charge)
        if is_booked_after_sending(entry, charge) and entry.pk not in kept
    ]
    chosen = [entry for entry in mine if charge.can_cost(-entry.amount)]
    if waited and not chosen:
        chosen = [entry for entry in mine if low <= -entry.amount <= high]
    entry = pick_nearest_debit(chosen, charge)
    return None if entry and count_rival_charges(charge, [entry], ChargeState.SENDING) else entry


def approximate_price_bounds(charge: Charge) -> tuple[Decimal, Decimal]:
    """The credits that its debit may be of: never less than `can_cost` allows."""
    low = charge.price - max(charge.price / 2, charge.hold - charge.price)
    return low, max(charge.price, charge.hold) * 2


def has_unattributed_debit(
    ledger: LedgerMirror, charge: Charge, since: datetime, late: timedelta = MAX_BOOKING_DELAY
) -> bool:
    """Whether a debit of its time and about its price is not attributed yet."""
    low, high = approximate_price_bounds(charge)
    rows = debits_in_charge_period(charge, since, late).filter(via_api__isnull=True)
    open_ = rows.exclude(unattributable_filter(ledger))
    return open_.filter(amount__range=(-high, -low)).exists()


def pick_nearest_debit(debits: list[LedgerEntry], charge: Charge) -> LedgerEntry | None:
    """The nearest by amount; of equal ones first those booked after the sending."""
    wanted = charge.price
    return min(
        debits,
        key=lambda entry: (abs(-entry.amount - wanted), is_booked_before_sending(entry, charge)),
        default=None,
    )


def find_proving_debit(charge: Charge, kept: Collection[int]) -> LedgerEntry | None:
    """The debit that proves a charge of which the resource shows nothing, such as a retry.

    Where the resource would show it, a debit alone proves nothing; nor where other undecided
    charges may have taken the same credits, unless there are debits enough for all of them.

    One that was booked before the sending proves nothing either, unless the service's clock is
    known to be behind ours: an outside debit of the same price would be taken for our own. It stays
    a trace (`has_possible_debit`), so the charge is not called uncharged: a person decides. So does
    one that was booked more than FAR after its answer was given up: it is as likely somebody
    else's.
    """
    if not charge.is_proved_by_debit:
        return None
    ledger = mirror_range.get_or_create_ledger(charge.account)
    if has_unattributed_debit(
        ledger, charge, charge_sent_at(charge) - MATCH_CLOCK_SKEW, MATCH_SEARCH_MARGIN
    ):
        return None
    fitting = [
        entry
        for entry in api_debits_in_charge_period(ledger, charge, MATCH_SEARCH_MARGIN)
        if entry.pk not in kept
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


def is_upstream_clock_behind(charge: Charge) -> bool:
    """Whether a recent answered charge was booked before it was sent, by the two clocks."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    answered = of_all_teams.filter(state=ChargeState.CONFIRMED)
    since = charge_sent_at(charge) - CLOCK_CHECK_PERIOD
    booked = answered.filter(
        sent_at__gte=since, booked_at__lt=F("sent_at") - LEDGER_TIME_RESOLUTION
    )
    return booked.exists()


def has_possible_debit(charge: Charge, *, by_any_clock: bool = False) -> bool:
    """Whether a debit that nobody has may be the charge's: then it is not called uncharged.

    One that is kept for another charge counts, as it may be let go yet, and so does one that is
    not told to be the API's or not, and one of only about its price, as it may have cost
    something else; and of a ledger that is not read on nothing is known. `by_any_clock`: also where
    the service's is behind ours by more than a few seconds.
    """
    if mirror_range.get_or_create_ledger(charge.account).problem:
        return True
    low, high = approximate_price_bounds(charge)
    since = charge_sent_at(charge) - LOOKUP_MARGIN if by_any_clock else charge_period_start(charge)
    rows = debits_in_charge_period(charge, since).exclude(via_api=False)
    return rows.filter(amount__range=(-high, -low)).exists()


def find_late_debit(
    charge: Charge, kept: Collection[int] = (), *, is_done: bool
) -> LedgerEntry | None:
    """The debit of a charge that was called uncharged: one of exactly its price; where its resource
    shows that it was done, also one within the margin that was held on top.

    What another charge may have made is not taken before that one is decided.
    """
    mine = [
        entry
        for entry in api_debits_in_charge_period(
            mirror_range.get_or_create_ledger(charge.account), charge
        )
        if is_booked_after_sending(entry, charge) and entry.pk not in kept
    ]
    exact = [entry for entry in mine if -entry.amount == charge.price]
    about = [entry for entry in mine if is_done and charge.can_cost(-entry.amount)]
    entry = pick_nearest_debit(exact or about, charge)
    return None if entry and count_rival_charges(charge, [entry]) else entry


def link_late_debit(charge: Charge, entry: LedgerEntry) -> None:
    cost, minutes = (
        amount_text(-entry.amount),
        (entry.happened_at - charge_sent_at(charge)) // ONE_MINUTE,
    )
    sure, how = MatchConfidence.LIKELY, f"exactly its {cost} cr"
    if -entry.amount != charge.price:
        sure, how = MatchConfidence.WEAK, f"{cost} cr, close to its {amount_text(charge.price)}"
    why = (
        f"Probably this charge: {how}, recorded {minutes} min after it was sent. Its response was "
        "lost, "
    )
    link_entry_to_charge(
        entry, charge, sure, f"{why}and it was reported as not charged before this entry was found."
    )
    entry_changes.record_entry_changes(charge.account, [entry.happened_at])


def link_settling_debit(charge: Charge, entry: LedgerEntry) -> None:
    rows = api_debits_in_charge_period(mirror_range.get_or_create_ledger(charge.account), charge)
    equal = [other for other in rows if other.amount == entry.amount]
    cost, wanted = amount_text(-entry.amount), amount_text(charge.price)
    told = "Its response was lost"
    if -entry.amount != charge.price:
        sure, why = (
            MatchConfidence.WEAK,
            f"{cost} cr were recorded in its time window, close to its {wanted} cr.",
        )
    elif len(equal) > 1:
        sure, why = MatchConfidence.LIKELY, f"one of {len(equal)} debits of exactly its {cost} cr."
    elif is_booked_before_sending(entry, charge):
        sure, why = (
            MatchConfidence.LIKELY,
            f"exactly its {cost} cr, recorded before it by our clock.",
        )
    elif entry.happened_at > answer_given_up_at(charge) + MATCH_BOOKING_DELAY:
        sure, why = (
            MatchConfidence.LIKELY,
            f"exactly its {cost} cr, recorded some minutes after it.",
        )
    else:
        sure, why = (
            MatchConfidence.CERTAIN,
            f"exactly its {cost} cr, in its time window; nothing else matches.",
        )
    link_entry_to_charge(entry, charge, sure, f"{told}; {why}")
    entry_changes.record_entry_changes(charge.account, [entry.happened_at])


def count_rival_charges(
    charge: Charge, fitting: Sequence[LedgerEntry], *states: ChargeState
) -> int:
    """How many other charges of all teams may have made one of these debits: undecided ones, or
    those of the given states."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    others = of_all_teams.filter(state__in=states or UNDECIDED_STATES)
    return sum(
        any(
            is_in_charge_period(entry, other) and other.can_cost(-entry.amount) for entry in fitting
        )
        for other in others.exclude(pk=charge.pk)
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
    """Whether it was booked before the charge was sent; the ledger's times are whole seconds."""
    return entry.happened_at < charge_sent_at(charge).replace(microsecond=0)


def charge_sent_at(charge: Charge) -> datetime:
    return charge.sent_at or charge.created_at


def answer_given_up_at(charge: Charge) -> datetime:
    return charge.lost_at or charge_sent_at(charge)
