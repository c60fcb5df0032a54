"""Matching: debits to the charges that made them, refunds to the charges they give back.

What is left is outside the portal, an API debit or not; top-ups and grants are credits without a
charge. Charges whose answer got lost are matched by `proxyapi.charges.reconcile`, which knows what
else proves them.

A match is made once, so a charge waits for it until every row that could be its debit was read and
told: else it would take an equal one a second later that is somebody else's.

Other teams may use the same upstream account. Each has a mirror of its own, in which its charges
find their debits; here the debits of their charges are kept for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet

from proxyapi.ledger import changes, dark, pairs
from proxyapi.ledger.overlay import never_told
from proxyapi.ledger.pairs import ANY_TIME, LATE, WINDOWS, Bounds, Claim, Pair, Window
from proxyapi.ledger.refunds import refunds
from proxyapi.models import Account, Charge, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.charge import UNDECIDED_STATES

NEWEST = 100  # certain pairs of an operation that tell what its rows look like


@transaction.atomic
def match(account: Account) -> set[int]:
    """Give unmatched entries their charges, with a confidence and a reason for people.

    The account is locked meanwhile. Answers the ids of the debits that are kept for charges which
    wait for the rest of their rows, or for the mirror of another team: those are nobody else's
    until then.
    """
    changes.lock(account)
    ledger = LedgerMirror.objects.select_related("account").filter(pk=account.pk).first()
    if ledger is None or ledger.problem:
        return set()
    found, kept = debits(ledger)
    for pair in found:
        link(pair.entry, pair.claim.charge, pair.confidence, pair.reason)
    given_back = refunds(ledger, kinds_of)
    for entry, charge, confidence, reason in given_back:
        link(entry, charge, confidence, reason)
    moments = [pair.entry.happened_at for pair in found]
    changes.note(account, moments + [entry.happened_at for entry, *_ in given_back])
    return {pair.entry.pk for pair in kept}


def link(entry: LedgerEntry, charge: Charge, confidence: MatchConfidence, reason: str) -> None:
    """Write a match down, in the caller's transaction; the sums of its day are the caller's."""
    entry.charge, entry.confidence, entry.reason = charge, confidence, reason[:200]
    entry.member_id, entry.job_id = charge.member_id, charge.job_id
    entry.operation, entry.off = charge.operation, off(entry, charge)
    entry.save(
        update_fields=["charge", "confidence", "reason", "member", "job", "operation", "off"]
    )
    if entry.amount < 0:
        charge.booked_at = entry.happened_at
        Charge.objects.filter(pk=charge.pk).update(booked_at=entry.happened_at)


def off(entry: LedgerEntry, charge: Charge) -> Decimal | None:
    """By how much more was told than booked; None where they agree, or it is no debit."""
    if entry.amount >= 0 or charge.cost is None:
        return None
    return charge.cost + entry.amount or None


def debits(ledger: LedgerMirror) -> tuple[list[Pair], list[Pair]]:
    """New pairs of charges of a known cost and debits: those that stay, and those that wait."""
    claims = claims_of(ledger)
    if not claims:
        return [], []
    operations = {claim.charge.operation for claim in claims}
    rows = list(free(ledger, claims).filter(amount__in={-claim.cost for claim in claims}))
    lost = Charge.objects.of_upstream_account(ledger.pk).filter(state__in=UNDECIDED_STATES)
    exact = pairs.exact(claims, rows, kinds_of(ledger, operations), list(lost))
    found, kept = parted(ledger, exact, WINDOWS[-1], pairs.equal)
    late = [claim for claim in rest(claims, exact) if is_overdue(ledger, claim, kept)]
    if late:
        loose = pairs.but_for_time(late, without(rows, exact))
        others = without(free(ledger, late), exact + loose)
        loose += pairs.about(rest(late, loose), others)
        sure, unsure = parted(ledger, loose, ANY_TIME, pairs.margin)
        found, kept = found + sure, kept + unsure
    own = [pair for pair in found if pair.claim.charge.account_id == ledger.pk]
    kept += [pair for pair in found if pair.claim.charge.account_id != ledger.pk]
    return own, kept


def claims_of(ledger: LedgerMirror) -> list[Claim]:
    """Charges that took credits and have no debit yet, of all teams that use the account."""
    waiting = Charge.objects.of_upstream_account(ledger.pk).without_debit()
    return [claim(charge) for charge in waiting.order_by("sent_at")]


def claim(charge: Charge) -> Claim:
    sent_at, cost = charge.sent_at or charge.created_at, charge.cost or Decimal(0)
    # The ledger's times are whole seconds.
    return Claim(charge, cost, sent_at.replace(microsecond=0), charge.settled_at or sent_at)


def free(ledger: LedgerMirror, claims: Sequence[Claim]) -> QuerySet[LedgerEntry]:
    """Debits of the API that no charge has, around the time of these claims."""
    return dark.unmatched(ledger, claims).filter(of_api(ledger))


def of_api(ledger: LedgerMirror) -> Q:
    """Rows that a token of the API spent; where the service cannot tell, any may be one."""
    return Q(via_api=True) | never_told(ledger)


def kinds_of(ledger: LedgerMirror, operations: Collection[str]) -> dict[str, set[str]]:
    """The content types that these operations are known to have, by pairs that are certain."""
    sure = LedgerEntry.objects.filter(
        account_id=ledger.pk, confidence=MatchConfidence.CERTAIN, amount__lt=0
    ).order_by("-happened_at", "-position")
    known = {
        name: set(sure.filter(operation=name).values_list("content_type", flat=True)[:NEWEST])
        for name in operations
    }
    return {name: kinds for name, kinds in known.items() if kinds}


def parted(
    ledger: LedgerMirror, found: list[Pair], window: Window, bounds: Bounds
) -> tuple[list[Pair], list[Pair]]:
    """Those that stay, and those whose charge may yet turn out to have another debit."""
    waiting = dark.waiting(ledger, [pair.claim for pair in found], window, bounds)
    kept = [pair for pair in found if pair.claim.charge.pk in waiting]
    return [pair for pair in found if pair.claim.charge.pk not in waiting], kept


def is_overdue(ledger: LedgerMirror, claim: Claim, kept: Iterable[Pair]) -> bool:
    """Whether every row that could be its debit was read, and time enough went by; a debit that is
    kept for another may be let go for it."""
    if not ledger.is_complete or ledger.read_at is None or ledger.read_at <= claim.end + LATE:
        return False
    return not any(claim.holds(pair.entry, ANY_TIME) for pair in kept)


def rest(claims: Iterable[Claim], found: Iterable[Pair]) -> list[Claim]:
    done = {pair.claim.charge.pk for pair in found}
    return [claim for claim in claims if claim.charge.pk not in done]


def without(rows: Iterable[LedgerEntry], found: Iterable[Pair]) -> list[LedgerEntry]:
    taken = {pair.entry.pk for pair in found}
    return [entry for entry in rows if entry.pk not in taken]
