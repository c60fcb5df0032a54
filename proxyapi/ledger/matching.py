"""Matching: debits to the charges that made them, refunds to the charges they give back.

What is left is outside the portal, an API debit or not; top-ups and grants are credits without a
charge. Charges whose answer got lost are matched by `proxyapi.charges.settle`, which knows what
else proves them.

A match is made once, so a charge waits for it until every row that could be its debit was read and
told: else it would take an equal one a second later that is somebody else's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet

from proxyapi.ledger import changes, growth, pairs
from proxyapi.ledger.pairs import FAR, LATE, SKEW, WINDOWS, Claim, Pair
from proxyapi.ledger.refunds import refunds
from proxyapi.models import Account, Charge, Confidence, Entry, Ledger
from proxyapi.models.charge import UNDECIDED

NEWEST = 100  # certain pairs of an operation that tell what its rows look like


@transaction.atomic
def match(account: Account) -> set[int]:
    """Give unmatched entries their charges, with a confidence and a reason for people.

    The account is locked meanwhile. Answers the ids of the debits that are kept for charges which
    wait for the rest of their rows: those are nobody else's until then.
    """
    changes.lock(account)
    ledger = Ledger.objects.filter(pk=account.pk).first()
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


def link(entry: Entry, charge: Charge, confidence: Confidence, reason: str) -> None:
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


def off(entry: Entry, charge: Charge) -> Decimal | None:
    """By how much more was told than booked; None where they agree, or it is no debit."""
    if entry.amount >= 0 or charge.cost is None:
        return None
    return charge.cost + entry.amount or None


def debits(ledger: Ledger) -> tuple[list[Pair], list[Pair]]:
    """New pairs of charges of a known cost and debits, and those that are not certain to stay."""
    claims = claims_of(ledger)
    if not claims:
        return [], []
    near, operations = free(ledger, claims), {claim.charge.operation for claim in claims}
    rows = list(near.filter(of_api(ledger), amount__in={-claim.cost for claim in claims}))
    dark = [] if ledger.api_problem else list(near.filter(via_api__isnull=True))
    lost = Charge.objects.filter(account_id=ledger.pk, state__in=UNDECIDED)
    shared = pairs.exact(claims, rows, kinds_of(ledger, operations), list(lost))
    found = [pair for pair in shared if is_seen(ledger, pair.claim, dark)]
    late = [claim for claim in rest(claims, shared) if is_overdue(ledger, claim, dark)]
    if late:
        found += pairs.but_for_time(late, without(rows, shared))
        others = without(free(ledger, late).filter(of_api(ledger)), shared + found)
        found += pairs.about(rest(late, found), others)
    return found, [pair for pair in shared if pair not in found]


def claims_of(ledger: Ledger) -> list[Claim]:
    """Charges that took credits and have no debit yet."""
    waiting = Charge.objects.without_debit().filter(account_id=ledger.pk)
    return [claim(charge) for charge in waiting.order_by("sent_at")]


def claim(charge: Charge) -> Claim:
    sent_at, cost = charge.sent_at or charge.created_at, charge.cost or Decimal(0)
    # The ledger's times are whole seconds.
    return Claim(charge, cost, sent_at.replace(microsecond=0), charge.settled_at or sent_at)


def free(ledger: Ledger, claims: Sequence[Claim]) -> QuerySet[Entry]:
    """Debits that no charge has, around the time of these claims."""
    start = min(claim.start for claim in claims) - FAR
    end = max(claim.end for claim in claims) + FAR
    rows = Entry.objects.filter(account_id=ledger.pk, charge__isnull=True, amount__lt=0, trouble="")
    return rows.filter(happened_at__gte=start, happened_at__lte=end)


def of_api(ledger: Ledger) -> Q:
    """Rows that a token of the API spent; where the service cannot tell, any may be one."""
    told = Q(via_api=True)
    return told | Q(via_api__isnull=True) if ledger.api_problem else told


def kinds_of(ledger: Ledger, operations: Collection[str]) -> dict[str, set[str]]:
    """The content types that these operations are known to have, by pairs that are certain."""
    sure = Entry.objects.filter(
        account_id=ledger.pk, confidence=Confidence.CERTAIN, amount__lt=0
    ).order_by("-happened_at", "-position")
    known = {
        name: set(sure.filter(operation=name).values_list("content_type", flat=True)[:NEWEST])
        for name in operations
    }
    return {name: kinds for name, kinds in known.items() if kinds}


def is_seen(ledger: Ledger, claim: Claim, dark: Iterable[Entry]) -> bool:
    """Whether every row that could be its debit was read; `dark`: rows that nobody told of yet
    whether the API made them."""
    if ledger.read_at is None or ledger.read_at < claim.end:
        return False
    if not growth.reaches(ledger.account, claim.start - SKEW):
        return False
    equal = (entry for entry in dark if entry.amount == -claim.cost)
    return not any(claim.holds(entry, WINDOWS[-1]) for entry in equal)


def is_overdue(ledger: Ledger, claim: Claim, dark: Iterable[Entry]) -> bool:
    """Whether every row near it was read and told, and time enough went by."""
    if not ledger.is_whole or ledger.read_at is None or ledger.read_at <= claim.end + LATE:
        return False
    return not any(claim.holds(entry, (FAR, FAR)) for entry in dark)


def rest(claims: Iterable[Claim], found: Iterable[Pair]) -> list[Claim]:
    done = {pair.claim.charge.pk for pair in found}
    return [claim for claim in claims if claim.charge.pk not in done]


def without(rows: Iterable[Entry], found: Iterable[Pair]) -> list[Entry]:
    taken = {pair.entry.pk for pair in found}
    return [entry for entry in rows if entry.pk not in taken]
