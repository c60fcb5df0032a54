"""Match charges of a known cost to unmatched debits.

Contract: pure; each charge gets one debit at most, and each debit one charge (rule 2). A row has
only label, type, amount and time (pitfall 67), so every match has a confidence and a reason.

Exact amounts within the charge's own time window are matched first, then exact amounts a little
later, so that as many charges as possible get a debit. Where equal debits or equal charges are
close together, which belongs to which is unknown; the sum is right anyway. A debit that may belong
to a charge whose answer was lost is left to it, as long as the other charges have debits in their
own time windows without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from proxyapi.models import Charge, LedgerEntry, MatchConfidence
from proxyapi.models.account import amount_text

MATCH_CLOCK_SKEW = timedelta(seconds=5)  # between our clock and the service's
MATCH_BOOKING_DELAY = timedelta(minutes=2)  # from the answer to the booking
MATCH_SEARCH_MARGIN = timedelta(minutes=10)
MATCH_WINDOWS = (
    (timedelta(0), timedelta(0)),
    (MATCH_CLOCK_SKEW, MATCH_CLOCK_SKEW),
    (MATCH_CLOCK_SKEW, MATCH_BOOKING_DELAY),
)
WIDEST_WINDOW = (MATCH_SEARCH_MARGIN, MATCH_SEARCH_MARGIN)
TimeWindow = tuple[timedelta, timedelta]  # added before and after the charge's own time
ContentTypesByOperation = Mapping[str, Collection[str]]  # of matches of confidence `certain`


@dataclass(frozen=True, slots=True)
class MatchCandidate:
    """A charge without a debit, which was booked between these two times of our clock."""

    charge: Charge
    cost: Decimal
    booked_from: datetime
    booked_until: datetime

    def accepts_entry(self, entry: LedgerEntry, window: TimeWindow) -> bool:
        return self.accepts_time(entry.happened_at, window)

    def accepts_time(self, moment: datetime, window: TimeWindow) -> bool:
        before, after = window
        return self.booked_from - before <= moment <= self.booked_until + after


AmountBounds = Callable[
    [MatchCandidate], tuple[Decimal, Decimal]
]  # the lowest and highest credits that the debit may have


@dataclass(frozen=True, slots=True)
class DebitMatch:
    candidate: MatchCandidate
    entry: LedgerEntry
    confidence: MatchConfidence
    reason: str


def match_exact_amounts(
    candidates: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    kinds: ContentTypesByOperation,
    lost: Sequence[Charge] = (),
) -> list[DebitMatch]:
    """Match equal amounts within the time windows. `lost`: sent charges whose cost is unknown."""
    pairs: list[DebitMatch] = []
    for cost in sorted({candidate.cost for candidate in candidates}):
        equal = [candidate for candidate in candidates if candidate.cost == cost]
        rows = [entry for entry in debits if entry.amount == -cost]
        pairs += match_one_cost(equal, rows, kinds, lost)
    return pairs


def match_one_cost(
    candidates: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    kinds: ContentTypesByOperation,
    lost: Sequence[Charge],
) -> list[DebitMatch]:
    open_candidates, open_debits = (
        list(candidates),
        sorted(debits, key=lambda debit: (debit.happened_at, debit.position)),
    )
    assigned: list[tuple[MatchCandidate, LedgerEntry]] = []
    for is_type_required in (True, False):
        for window in MATCH_WINDOWS:
            for rows in assignment_rounds(open_debits, window, lost):
                pairs = list(
                    assign_debits(open_candidates, rows, window, kinds if is_type_required else {})
                )
                for candidate, entry in pairs:
                    assigned.append((candidate, entry))
                    open_candidates.remove(candidate)
                    open_debits.remove(entry)
    return [
        rate_match(candidate, entry, candidates, debits, kinds) for candidate, entry in assigned
    ]


def assignment_rounds(
    open_debits: list[LedgerEntry], window: TimeWindow, lost: Sequence[Charge]
) -> Iterator[list[LedgerEntry]]:
    """Yield the debits to assign in each round: first those that no lost charge can have made, then
    all remaining ones."""
    if lost and window == MATCH_WINDOWS[0]:
        yield [
            entry
            for entry in open_debits
            if not any(may_be_lost_charge_debit(entry, charge) for charge in lost)
        ]
    yield open_debits


def may_be_lost_charge_debit(entry: LedgerEntry, charge: Charge) -> bool:
    sent_at = (charge.sent_at or charge.created_at).replace(microsecond=0)
    return entry.happened_at >= sent_at and charge.can_cost(-entry.amount)


def assign_debits(
    candidates: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    window: TimeWindow,
    kinds: ContentTypesByOperation,
) -> Iterator[tuple[MatchCandidate, LedgerEntry]]:
    """Yield as many pairs as possible; `debits` are ordered by time.

    A charge is booked at the end of its own time window, just before the answer: there the last
    debit is matched to the charge that began last. In wider windows the first debit is matched to
    the charge that ended first.
    """
    waiting, from_end = list(candidates), window == MATCH_WINDOWS[0]
    for entry in reversed(debits) if from_end else debits:
        fitting = [
            candidate
            for candidate in waiting
            if candidate.accepts_entry(entry, window)
            and has_known_content_type(candidate, entry, kinds)
        ]
        if fitting:
            ordered = sorted(
                fitting,
                key=lambda candidate: candidate.booked_from if from_end else candidate.booked_until,
            )
            chosen = ordered[-1] if from_end else ordered[0]
            waiting.remove(chosen)
            yield chosen, entry


def has_known_content_type(
    candidate: MatchCandidate, entry: LedgerEntry, kinds: ContentTypesByOperation
) -> bool:
    """Whether the row's content type is known for this operation, or none is known."""
    content_types = kinds.get(candidate.charge.operation)
    return not content_types or entry.content_type in content_types


def rate_match(
    candidate: MatchCandidate,
    entry: LedgerEntry,
    candidates: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    kinds: ContentTypesByOperation,
) -> DebitMatch:
    """Rate the confidence of a pair, given the candidates and debits of the same amount."""
    debits_near = sum(candidate.accepts_entry(other, MATCH_WINDOWS[-1]) for other in debits)
    candidates_near = sum(other.accepts_entry(entry, MATCH_WINDOWS[-1]) for other in candidates)
    cost_text = f"Exactly its {amount_text(candidate.cost)} cr, in its time window"
    if not has_known_content_type(candidate, entry, kinds):
        return DebitMatch(
            candidate,
            entry,
            MatchConfidence.LIKELY,
            f"{cost_text}; its label does not match the operation.",
        )
    if debits_near == candidates_near == 1:
        return DebitMatch(
            candidate, entry, MatchConfidence.CERTAIN, f"{cost_text}; nothing else matches."
        )
    equal_text = (
        f"{debits_near} equal debits and {candidates_near} equal charges are close together"
    )
    return DebitMatch(
        candidate, entry, MatchConfidence.LIKELY, f"{cost_text}; {equal_text}, matched in order."
    )


def match_outside_window(
    candidates: Sequence[MatchCandidate], debits: Sequence[LedgerEntry]
) -> list[DebitMatch]:
    """Match unique pairs of equal amounts that are minutes apart: a clock may be wrong."""
    return [
        DebitMatch(
            candidate,
            entry,
            MatchConfidence.LIKELY,
            f"Exactly its {amount_text(candidate.cost)} cr and the only match, but recorded "
            "outside its time window.",
        )
        for candidate, entry in unique_matches(
            candidates, debits, WIDEST_WINDOW, exact_amount_bounds
        )
    ]


def match_approximate_amounts(
    candidates: Sequence[MatchCandidate], debits: Sequence[LedgerEntry]
) -> list[DebitMatch]:
    """Match unique pairs of similar amounts: the reported cost differs from the booked debit."""
    return [
        DebitMatch(
            candidate,
            entry,
            MatchConfidence.WEAK,
            f"{amount_text(candidate.cost)} cr were reported, {amount_text(-entry.amount)} cr were "
            "recorded in its time window, and nothing else matches.",
        )
        for candidate, entry in unique_matches(
            candidates, debits, MATCH_WINDOWS[-1], approximate_amount_bounds
        )
    ]


def exact_amount_bounds(candidate: MatchCandidate) -> tuple[Decimal, Decimal]:
    return candidate.cost, candidate.cost


def approximate_amount_bounds(candidate: MatchCandidate) -> tuple[Decimal, Decimal]:
    """The lowest and highest credits of a debit that may still be this charge's."""
    return candidate.cost / 2, max(candidate.cost, candidate.charge.hold) * 2


def unique_matches(
    candidates: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    window: TimeWindow,
    bounds: AmountBounds,
) -> Iterator[tuple[MatchCandidate, LedgerEntry]]:
    """Yield pairs of which each fits only the other."""

    def fits(candidate: MatchCandidate, entry: LedgerEntry) -> bool:
        low, high = bounds(candidate)
        return candidate.accepts_entry(entry, window) and low <= -entry.amount <= high

    for candidate in candidates:
        rows = [entry for entry in debits if fits(candidate, entry)]
        if len(rows) == 1 and sum(fits(other, rows[0]) for other in candidates) == 1:
            yield candidate, rows[0]
