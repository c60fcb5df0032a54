"""Which debit is whose: charges of a known cost, and the debits that nobody has.

Contract: pure; each charge gets one debit at most, and each debit one charge (rule 2). Label, type,
amount and time are all a row tells (pitfall 67), so every pair has a confidence and its reason.

An exact amount in the charge's own time goes first, then one a little later, shared out so that as
many as possible find theirs. Where equal debits or equal charges are close together, which is whose
cannot be told; the sum is right anyway. What may be the debit of a charge whose answer got lost is
left for it, as long as the others find theirs in their own time without it.
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
TimeWindow = tuple[timedelta, timedelta]  # more than its own time, before and after
ContentTypesByOperation = Mapping[
    str, Collection[str]
]  # content types by operation, of certain pairs


@dataclass(frozen=True, slots=True)
class MatchCandidate:
    """A charge that wants its debit, which was booked between these two moments of our clock."""

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
]  # the credits that its debit may be of


@dataclass(frozen=True, slots=True)
class DebitMatch:
    candidate: MatchCandidate
    entry: LedgerEntry
    confidence: MatchConfidence
    reason: str


def match_exact_amounts(
    claims: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    kinds: ContentTypesByOperation,
    lost: Sequence[Charge] = (),
) -> list[DebitMatch]:
    """Pairs of exactly the amount, in time; `lost`: sent charges whose cost is not known."""
    pairs: list[DebitMatch] = []
    for cost in sorted({claim.cost for claim in claims}):
        equal = [claim for claim in claims if claim.cost == cost]
        rows = [entry for entry in debits if entry.amount == -cost]
        pairs += match_one_cost(equal, rows, kinds, lost)
    return pairs


def match_one_cost(
    claims: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    kinds: ContentTypesByOperation,
    lost: Sequence[Charge],
) -> list[DebitMatch]:
    open_claims, free = list(claims), sorted(debits, key=lambda it: (it.happened_at, it.position))
    found: list[tuple[MatchCandidate, LedgerEntry]] = []
    for usual in (True, False):
        for window in MATCH_WINDOWS:
            for rows in assignment_rounds(free, window, lost):
                pairs = list(assign_debits(open_claims, rows, window, kinds if usual else {}))
                for claim, entry in pairs:
                    found.append((claim, entry))
                    open_claims.remove(claim)
                    free.remove(entry)
    return [rate_match(claim, entry, claims, debits, kinds) for claim, entry in found]


def assignment_rounds(
    free: list[LedgerEntry], window: TimeWindow, lost: Sequence[Charge]
) -> Iterator[list[LedgerEntry]]:
    """The debits to share out: those that no lost charge can have made, then all that are left."""
    if lost and window == MATCH_WINDOWS[0]:
        yield [
            entry
            for entry in free
            if not any(may_be_lost_charge_debit(entry, charge) for charge in lost)
        ]
    yield free


def may_be_lost_charge_debit(entry: LedgerEntry, charge: Charge) -> bool:
    sent_at = (charge.sent_at or charge.created_at).replace(microsecond=0)
    return entry.happened_at >= sent_at and charge.can_cost(-entry.amount)


def assign_debits(
    claims: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    window: TimeWindow,
    kinds: ContentTypesByOperation,
) -> Iterator[tuple[MatchCandidate, LedgerEntry]]:
    """As many pairs as possible; `debits` by time.

    Within its own time a charge is booked at its end, just before the answer: there the last debit
    goes to the charge that began last. Otherwise the first goes to the charge that ends first.
    """
    waiting, from_end = list(claims), window == MATCH_WINDOWS[0]
    for entry in reversed(debits) if from_end else debits:
        fitting = [
            it
            for it in waiting
            if it.accepts_entry(entry, window) and has_known_content_type(it, entry, kinds)
        ]
        if fitting:
            ordered = sorted(
                fitting, key=lambda it: it.booked_from if from_end else it.booked_until
            )
            chosen = ordered[-1] if from_end else ordered[0]
            waiting.remove(chosen)
            yield chosen, entry


def has_known_content_type(
    claim: MatchCandidate, entry: LedgerEntry, kinds: ContentTypesByOperation
) -> bool:
    """Whether the row's type is one that this operation is known to have, or none is known."""
    known = kinds.get(claim.charge.operation)
    return not known or entry.content_type in known


def rate_match(
    claim: MatchCandidate,
    entry: LedgerEntry,
    claims: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    kinds: ContentTypesByOperation,
) -> DebitMatch:
    """How sure a pair is; the others are those of the same amount."""
    debits_near = sum(claim.accepts_entry(other, MATCH_WINDOWS[-1]) for other in debits)
    claims_near = sum(other.accepts_entry(entry, MATCH_WINDOWS[-1]) for other in claims)
    exactly = f"Exactly its {amount_text(claim.cost)} cr, in its time window"
    if not has_known_content_type(claim, entry, kinds):
        return DebitMatch(
            claim,
            entry,
            MatchConfidence.LIKELY,
            f"{exactly}; its label does not match the operation.",
        )
    if debits_near == claims_near == 1:
        return DebitMatch(
            claim, entry, MatchConfidence.CERTAIN, f"{exactly}; nothing else matches."
        )
    many = f"{debits_near} equal debits and {claims_near} equal charges are close together"
    return DebitMatch(claim, entry, MatchConfidence.LIKELY, f"{exactly}; {many}, matched in order.")


def match_outside_window(
    claims: Sequence[MatchCandidate], debits: Sequence[LedgerEntry]
) -> list[DebitMatch]:
    """Pairs of exactly the amount that stand alone, though minutes apart: a clock may be off."""
    return [
        DebitMatch(
            claim,
            entry,
            MatchConfidence.LIKELY,
            f"Exactly its {amount_text(claim.cost)} cr and the only match, but recorded outside "
            "its time window.",
        )
        for claim, entry in unique_matches(claims, debits, WIDEST_WINDOW, exact_amount_bounds)
    ]


def match_approximate_amounts(
    claims: Sequence[MatchCandidate], debits: Sequence[LedgerEntry]
) -> list[DebitMatch]:
    """Pairs of about the amount that stand alone: the charge's cost differs from its debit."""
    return [
        DebitMatch(
            claim,
            entry,
            MatchConfidence.WEAK,
            f"{amount_text(claim.cost)} cr were reported, {amount_text(-entry.amount)} cr were "
            "recorded in its time window, and nothing else matches.",
        )
        for claim, entry in unique_matches(
            claims, debits, MATCH_WINDOWS[-1], approximate_amount_bounds
        )
    ]


def exact_amount_bounds(claim: MatchCandidate) -> tuple[Decimal, Decimal]:
    return claim.cost, claim.cost


def approximate_amount_bounds(claim: MatchCandidate) -> tuple[Decimal, Decimal]:
    """Less than half of it, or twice of it, is somebody else's."""
    return claim.cost / 2, max(claim.cost, claim.charge.hold) * 2


def unique_matches(
    claims: Sequence[MatchCandidate],
    debits: Sequence[LedgerEntry],
    window: TimeWindow,
    bounds: AmountBounds,
) -> Iterator[tuple[MatchCandidate, LedgerEntry]]:
    """Those of which each fits the other, and nothing but the other."""

    def fits(claim: MatchCandidate, entry: LedgerEntry) -> bool:
        low, high = bounds(claim)
        return claim.accepts_entry(entry, window) and low <= -entry.amount <= high

    for claim in claims:
        rows = [entry for entry in debits if fits(claim, entry)]
        if len(rows) == 1 and sum(fits(other, rows[0]) for other in claims) == 1:
            yield claim, rows[0]
