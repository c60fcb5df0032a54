"""The upstream's credit ledger, read for one question so far: was this charge booked?

Entries carry no id. A debit belongs to a charge when it was booked after the charge was sent, its
amount fits, and no other charge of the account has it already; equal rows are two rows (law 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from proxyapi import calls
from proxyapi.allowance import Lane
from proxyapi.models import Charge, ChargeState
from proxyapi.models.account import moment
from proxyapi.models.charge import SPENT
from proxyapi.upstream import wire

CLOCK_SKEW = timedelta(seconds=5)
# Clocks may be worse than that. A debit so near to the sending settles nothing, but it is a trace.
NEAR = timedelta(minutes=2)
PER_PAGE = 50  # spec, Limits: the most
PAGES = 4
UNDECIDED = (ChargeState.SENDING, ChargeState.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Debit:
    booked_at: datetime
    amount: Decimal  # credits, positive


@dataclass(frozen=True, slots=True)
class Extract:
    """The newest debits, oldest first. `whole`: nothing of the charge's time is missing."""

    debits: tuple[Debit, ...]
    whole: bool


def read(charge: Charge, lane: Lane) -> Extract:
    """The ledger from shortly before the charge was sent.

    Raises `errors.UpstreamError` or `AllowanceExhausted`.
    """
    rows: list[Any] = []
    totals: set[object] = set()
    for page in range(1, PAGES + 1):
        query = {"order": "DESC", "per_page": PER_PAGE, "page": page, "source": "api"}
        reply = calls.call(charge.token, "credits.history", lane, patience=2, query=query)
        totals.add(reply.meta.get("total"))
        # A row that came while paging shifts the others: some would be read twice (pitfall 63).
        if not isinstance(reply.data, list) or len(totals) > 1:
            return extract(rows, whole=False)
        rows += reply.data
        if len(reply.data) < PER_PAGE or reaches(reply.data, sent_at(charge) - NEAR):
            return extract(rows, whole=True)
    return extract(rows, whole=False)


def reaches(rows: Sequence[Any], since: datetime) -> bool:
    booked_at = moment(wire.mapping(rows[-1]).get("created_at"))
    return booked_at is not None and booked_at < since


def extract(rows: Sequence[Any], *, whole: bool) -> Extract:
    """A row that cannot be read may be the one that is looked for: without it nothing is whole."""
    debits = []
    for row in map(wire.mapping, rows):
        booked_at, amount = moment(row.get("created_at")), signed(row.get("credit_spend"))
        if booked_at is None or amount is None:
            whole = False
        elif amount < 0:
            debits.append(Debit(booked_at, -amount))
    return Extract(tuple(sorted(debits, key=lambda debit: debit.booked_at)), whole)


def signed(text: object) -> Decimal | None:
    """A signed amount; the ledger writes it as a string (pitfall 60)."""
    return wire.amount(str(text).strip().replace(",", ""))


def debit_of(charge: Charge, extract: Extract, *, waited: bool) -> Debit | None:
    """The debit of a charge that was carried out: one of about its price, later the nearest.

    The nearest is not just any: less than half the price or twice the hold is somebody else's.
    """
    wanted, low, high = price(charge), price(charge) / 2, charge.hold * 2
    mine = [debit for debit in unclaimed(charge, extract) if is_after(debit, charge)]
    chosen = [debit for debit in mine if is_about(debit, charge)]
    if waited and not chosen:
        chosen = [debit for debit in mine if low <= debit.amount <= high]
    return min(chosen, key=lambda debit: abs(debit.amount - wanted), default=None)


def debit_alone(charge: Charge, extract: Extract) -> Debit | None:
    """The debit that proves a charge of which the resource shows nothing, such as a retry.

    Where the resource would show it, and where another undecided charge may have taken the same
    credits, a debit alone proves nothing.
    """
    if not charge.is_by_ledger or has_rivals(charge):
        return None
    return debit_of(charge, extract, waited=False)


def trace_of(charge: Charge, extract: Extract) -> bool:
    """Whether a debit that nobody has may be the charge's: then it is not called uncharged."""
    by_ledger = charge.is_by_ledger
    since = sent_at(charge) - (NEAR if by_ledger else CLOCK_SKEW)
    return any(
        is_about(debit, charge) and debit.booked_at >= since for debit in unclaimed(charge, extract)
    )


def unclaimed(charge: Charge, extract: Extract) -> list[Debit]:
    """The debits that no other charge of the account has: each has one of its own cost and time."""
    free = list(extract.debits)
    if not free:
        return free
    others = Charge.objects.filter(account_id=charge.account_id, state__in=SPENT, cost__gt=0)
    others = others.filter(settled_at__gte=free[0].booked_at - NEAR).exclude(pk=charge.pk)
    for other in others.order_by("sent_at"):
        own = next((debit for debit in free if belongs(debit, other)), None)
        if own is not None:
            free.remove(own)
    return free


def belongs(debit: Debit, other: Charge) -> bool:
    if debit.amount != other.cost:
        return False
    if other.booked_at is not None:
        return debit.booked_at == other.booked_at
    until = (other.settled_at or sent_at(other)) + NEAR
    return is_after(debit, other) and debit.booked_at <= until


def has_rivals(charge: Charge) -> bool:
    """Whether another charge whose answer is not known may have made the same debit."""
    others = Charge.objects.filter(account_id=charge.account_id, state__in=UNDECIDED)
    others = others.exclude(pk=charge.pk)
    return any(is_about(Debit(sent_at(charge), price(other)), charge) for other in others)


def is_after(debit: Debit, charge: Charge) -> bool:
    return debit.booked_at >= sent_at(charge) - CLOCK_SKEW


def is_about(debit: Debit, charge: Charge) -> bool:
    """Within the margin that was held on top of the price."""
    return abs(debit.amount - price(charge)) <= max(charge.hold - price(charge), Decimal(0))


def price(charge: Charge) -> Decimal:
    return charge.quote if charge.quote is not None else charge.hold


def sent_at(charge: Charge) -> datetime:
    return charge.sent_at or charge.created_at
