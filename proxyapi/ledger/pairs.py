"""Which debit is whose: charges of a known cost, and the debits that nobody has.

Contract: pure; each charge gets one debit at most, and each debit one charge (law 2). Label, type,
amount and time are all a row tells (pitfall 67), so every pair has a confidence and its reason.

An exact amount in the charge's own time goes first, then one a little later, shared out so that as
many as possible find theirs. Where equal debits or equal charges stand side by side, which is whose
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

SKEW = timedelta(seconds=5)  # between our clock and the service's
LATE = timedelta(minutes=2)  # from the answer to the booking
FAR = timedelta(minutes=10)
WINDOWS = ((timedelta(0), timedelta(0)), (SKEW, SKEW), (SKEW, LATE))
ANY_TIME = (FAR, FAR)
Window = tuple[timedelta, timedelta]  # more than its own time, before and after
Kinds = Mapping[str, Collection[str]]  # content types by operation, of certain pairs


@dataclass(frozen=True, slots=True)
class Claim:
    """A charge that wants its debit, which was booked between these two moments of our clock."""

    charge: Charge
    cost: Decimal
    start: datetime
    end: datetime

    def holds(self, entry: LedgerEntry, window: Window) -> bool:
        return self.covers(entry.happened_at, window)

    def covers(self, moment: datetime, window: Window) -> bool:
        before, after = window
        return self.start - before <= moment <= self.end + after


Bounds = Callable[[Claim], tuple[Decimal, Decimal]]  # the credits that its debit may be of


@dataclass(frozen=True, slots=True)
class Pair:
    claim: Claim
    entry: LedgerEntry
    confidence: MatchConfidence
    reason: str


def exact(
    claims: Sequence[Claim],
    debits: Sequence[LedgerEntry],
    kinds: Kinds,
    lost: Sequence[Charge] = (),
) -> list[Pair]:
    """Pairs of exactly the amount, in time; `lost`: sent charges whose cost is not known."""
    pairs: list[Pair] = []
    for cost in sorted({claim.cost for claim in claims}):
        equal = [claim for claim in claims if claim.cost == cost]
        rows = [entry for entry in debits if entry.amount == -cost]
        pairs += of_one_cost(equal, rows, kinds, lost)
    return pairs


def of_one_cost(
    claims: Sequence[Claim], debits: Sequence[LedgerEntry], kinds: Kinds, lost: Sequence[Charge]
) -> list[Pair]:
    open_claims, free = list(claims), sorted(debits, key=lambda it: (it.happened_at, it.position))
    found: list[tuple[Claim, LedgerEntry]] = []
    for usual in (True, False):
        for window in WINDOWS:
            for rows in rounds(free, window, lost):
                pairs = list(shared_out(open_claims, rows, window, kinds if usual else {}))
                for claim, entry in pairs:
                    found.append((claim, entry))
                    open_claims.remove(claim)
                    free.remove(entry)
    return [told(claim, entry, claims, debits, kinds) for claim, entry in found]


def rounds(
    free: list[LedgerEntry], window: Window, lost: Sequence[Charge]
) -> Iterator[list[LedgerEntry]]:
    """The debits to share out: those that no lost charge can have made, then all that are left."""
    if lost and window == WINDOWS[0]:
        yield [entry for entry in free if not any(may_be_of(entry, charge) for charge in lost)]
    yield free


def may_be_of(entry: LedgerEntry, charge: Charge) -> bool:
    sent_at = (charge.sent_at or charge.created_at).replace(microsecond=0)
    return entry.happened_at >= sent_at and charge.can_cost(-entry.amount)


def shared_out(
    claims: Sequence[Claim],
    debits: Sequence[LedgerEntry],
    window: Window,
    kinds: Kinds,
) -> Iterator[tuple[Claim, LedgerEntry]]:
    """As many pairs as possible; `debits` by time.

    Within its own time a charge is booked at its end, just before the answer: there the last debit
    goes to the charge that began last. Otherwise the first goes to the charge that ends first.
    """
    waiting, from_end = list(claims), window == WINDOWS[0]
    for entry in reversed(debits) if from_end else debits:
        fitting = [it for it in waiting if it.holds(entry, window) and is_usual(it, entry, kinds)]
        if fitting:
            ordered = sorted(fitting, key=lambda it: it.start if from_end else it.end)
            chosen = ordered[-1] if from_end else ordered[0]
            waiting.remove(chosen)
            yield chosen, entry


def is_usual(claim: Claim, entry: LedgerEntry, kinds: Kinds) -> bool:
    """Whether the row's type is one that this operation is known to have, or none is known."""
    known = kinds.get(claim.charge.operation)
    return not known or entry.content_type in known


def told(
    claim: Claim,
    entry: LedgerEntry,
    claims: Sequence[Claim],
    debits: Sequence[LedgerEntry],
    kinds: Kinds,
) -> Pair:
    """How sure a pair is; the others are those of the same amount."""
    debits_near = sum(claim.holds(other, WINDOWS[-1]) for other in debits)
    claims_near = sum(other.holds(entry, WINDOWS[-1]) for other in claims)
    exactly = f"Exactly its {amount_text(claim.cost)} cr, in its time"
    if not is_usual(claim, entry, kinds):
        return Pair(claim, entry, MatchConfidence.LIKELY, f"{exactly}; labelled unlike its kind.")
    if debits_near == claims_near == 1:
        return Pair(claim, entry, MatchConfidence.CERTAIN, f"{exactly}; nothing else fits.")
    many = f"{debits_near} equal debits and {claims_near} equal charges stand side by side"
    return Pair(claim, entry, MatchConfidence.LIKELY, f"{exactly}; {many}, taken in order.")


def but_for_time(claims: Sequence[Claim], debits: Sequence[LedgerEntry]) -> list[Pair]:
    """Pairs of exactly the amount that stand alone, though minutes apart: a clock may be off."""
    return [
        Pair(
            claim,
            entry,
            MatchConfidence.LIKELY,
            f"Exactly its {amount_text(claim.cost)} cr and alone, but booked outside of its time.",
        )
        for claim, entry in alone(claims, debits, ANY_TIME, equal)
    ]


def about(claims: Sequence[Claim], debits: Sequence[LedgerEntry]) -> list[Pair]:
    """Pairs of about the amount that stand alone: the charge's cost differs from its debit."""
    return [
        Pair(
            claim,
            entry,
            MatchConfidence.WEAK,
            f"{amount_text(claim.cost)} cr were told, {amount_text(-entry.amount)} cr were booked "
            "in its time, and nothing else fits.",
        )
        for claim, entry in alone(claims, debits, WINDOWS[-1], margin)
    ]


def equal(claim: Claim) -> tuple[Decimal, Decimal]:
    return claim.cost, claim.cost


def margin(claim: Claim) -> tuple[Decimal, Decimal]:
    """Less than half of it, or twice of it, is somebody else's."""
    return claim.cost / 2, max(claim.cost, claim.charge.hold) * 2


def alone(
    claims: Sequence[Claim],
    debits: Sequence[LedgerEntry],
    window: Window,
    bounds: Bounds,
) -> Iterator[tuple[Claim, LedgerEntry]]:
    """Those of which each fits the other, and nothing but the other."""

    def fits(claim: Claim, entry: LedgerEntry) -> bool:
        low, high = bounds(claim)
        return claim.holds(entry, window) and low <= -entry.amount <= high

    for claim in claims:
        rows = [entry for entry in debits if fits(claim, entry)]
        if len(rows) == 1 and sum(fits(other, rows[0]) for other in claims) == 1:
            yield claim, rows[0]
