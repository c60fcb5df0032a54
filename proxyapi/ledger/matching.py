"""Matching: debits to the charges that made them, refunds to the charges they give back.

Unmatched debits are outside the portal; unmatched credits are top-ups and grants. Charges whose
answer got lost are matched by `proxyapi.charges.reconcile`. A match is made once, so it waits until
every entry that could be the charge's debit is mirrored and attributed.

Other teams may use the same upstream account, each with a mirror of its own; the debits of their
charges are kept for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet

from proxyapi.ledger import coverage_gaps, entry_changes, matching_rules
from proxyapi.ledger.api_view_alignment import unattributable_filter
from proxyapi.ledger.matching_rules import (
    MATCH_BOOKING_DELAY,
    MATCH_WINDOWS,
    WIDEST_WINDOW,
    AmountBounds,
    DebitMatch,
    MatchCandidate,
    TimeWindow,
)
from proxyapi.ledger.refunds import match_refunds
from proxyapi.models import Account, Charge, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.charge import UNDECIDED_STATES

MAX_SAMPLE_MATCHES = 100  # certain pairs of an operation that tell what its rows look like


@transaction.atomic
def match_entries(account: Account) -> set[int]:
    """Give unmatched entries their charges, with a confidence and a reason; locks the account.

    Returns the ids of debits that are kept for charges which wait for more entries, or for another
    team's mirror.
    """
    entry_changes.lock_account(account)
    ledger = LedgerMirror.objects.select_related("account").filter(pk=account.pk).first()
    if ledger is None or ledger.problem:
        return set()
    found, kept = match_debits(ledger)
    for pair in found:
        link_entry_to_charge(pair.entry, pair.candidate.charge, pair.confidence, pair.reason)
    given_back = match_refunds(ledger, known_content_types)
    for entry, charge, confidence, reason in given_back:
        link_entry_to_charge(entry, charge, confidence, reason)
    moments = [pair.entry.happened_at for pair in found]
    entry_changes.record_entry_changes(
        account, moments + [entry.happened_at for entry, *_ in given_back]
    )
    return {pair.entry.pk for pair in kept}


def link_entry_to_charge(
    entry: LedgerEntry, charge: Charge, confidence: MatchConfidence, reason: str
) -> None:
    """Write a match down, in the caller's transaction; the sums of its day are the caller's."""
    entry.charge, entry.confidence, entry.reason = charge, confidence, reason[:200]
    entry.member_id, entry.job_id = charge.member_id, charge.job_id
    entry.operation, entry.cost_difference = charge.operation, price_difference(entry, charge)
    entry.save(
        update_fields=[
            "charge",
            "confidence",
            "reason",
            "member",
            "job",
            "operation",
            "cost_difference",
        ]
    )
    if entry.amount < 0:
        charge.booked_at = entry.happened_at
        Charge.objects.filter(pk=charge.pk).update(booked_at=entry.happened_at)


def price_difference(entry: LedgerEntry, charge: Charge) -> Decimal | None:
    """By how much more was told than booked; None where they agree, or it is no debit."""
    if entry.amount >= 0 or charge.cost is None:
        return None
    return charge.cost + entry.amount or None


def match_debits(ledger: LedgerMirror) -> tuple[list[DebitMatch], list[DebitMatch]]:
    """New pairs of charges of a known cost and debits: those that stay, and those that wait."""
    claims = load_match_candidates(ledger)
    if not claims:
        return [], []
    operations = {claim.charge.operation for claim in claims}
    rows = list(
        unmatched_api_debits(ledger, claims).filter(amount__in={-claim.cost for claim in claims})
    )
    lost = Charge.objects.of_upstream_account(ledger.pk).filter(state__in=UNDECIDED_STATES)
    exact = matching_rules.match_exact_amounts(
        claims, rows, known_content_types(ledger, operations), list(lost)
    )
    found, kept = split_final_matches(
        ledger, exact, MATCH_WINDOWS[-1], matching_rules.exact_amount_bounds
    )
    late = [
        claim
        for claim in candidates_without_match(claims, exact)
        if is_debit_overdue(ledger, claim, kept)
    ]
    if late:
        loose = matching_rules.match_outside_window(late, entries_without_match(rows, exact))
        others = entries_without_match(unmatched_api_debits(ledger, late), exact + loose)
        loose += matching_rules.match_approximate_amounts(
            candidates_without_match(late, loose), others
        )
        sure, unsure = split_final_matches(
            ledger, loose, WIDEST_WINDOW, matching_rules.approximate_amount_bounds
        )
        found, kept = found + sure, kept + unsure
    own = [pair for pair in found if pair.candidate.charge.account_id == ledger.pk]
    kept += [pair for pair in found if pair.candidate.charge.account_id != ledger.pk]
    return own, kept


def load_match_candidates(ledger: LedgerMirror) -> list[MatchCandidate]:
    """Charges that took credits and have no debit yet, of all teams that use the account."""
    waiting = Charge.objects.of_upstream_account(ledger.pk).without_debit()
    return [build_match_candidate(charge) for charge in waiting.order_by("sent_at")]


def build_match_candidate(charge: Charge) -> MatchCandidate:
    sent_at, cost = charge.sent_at or charge.created_at, charge.cost or Decimal(0)
    # The ledger's times are whole seconds.
    return MatchCandidate(
        charge, cost, sent_at.replace(microsecond=0), charge.settled_at or sent_at
    )


def unmatched_api_debits(
    ledger: LedgerMirror, claims: Sequence[MatchCandidate]
) -> QuerySet[LedgerEntry]:
    """Debits of the API that no charge has, around the time of these claims."""
    return coverage_gaps.unmatched_debits_near(ledger, claims).filter(api_rows_filter(ledger))


def api_rows_filter(ledger: LedgerMirror) -> Q:
    """Rows that a token of the API spent; where the service cannot tell, any may be one."""
    return Q(via_api=True) | unattributable_filter(ledger)


def known_content_types(ledger: LedgerMirror, operations: Collection[str]) -> dict[str, set[str]]:
    """The content types that these operations are known to have, by pairs that are certain."""
    sure = LedgerEntry.objects.filter(
        account_id=ledger.pk, confidence=MatchConfidence.CERTAIN, amount__lt=0
    ).order_by("-happened_at", "-position")
    known = {
        name: set(
            sure.filter(operation=name).values_list("content_type", flat=True)[:MAX_SAMPLE_MATCHES]
        )
        for name in operations
    }
    return {name: kinds for name, kinds in known.items() if kinds}


def split_final_matches(
    ledger: LedgerMirror, found: list[DebitMatch], window: TimeWindow, bounds: AmountBounds
) -> tuple[list[DebitMatch], list[DebitMatch]]:
    """Those that stay, and those whose charge may yet turn out to have another debit."""
    waiting = coverage_gaps.find_undecided_charges(
        ledger, [pair.candidate for pair in found], window, bounds
    )
    kept = [pair for pair in found if pair.candidate.charge.pk in waiting]
    return [pair for pair in found if pair.candidate.charge.pk not in waiting], kept


def is_debit_overdue(
    ledger: LedgerMirror, claim: MatchCandidate, kept: Iterable[DebitMatch]
) -> bool:
    """Whether every row that could be its debit was read, and time enough went by; a debit that is
    kept for another may be let go for it."""
    if (
        not ledger.is_complete
        or ledger.read_at is None
        or ledger.read_at <= claim.booked_until + MATCH_BOOKING_DELAY
    ):
        return False
    return not any(claim.accepts_entry(pair.entry, WIDEST_WINDOW) for pair in kept)


def candidates_without_match(
    claims: Iterable[MatchCandidate], found: Iterable[DebitMatch]
) -> list[MatchCandidate]:
    done = {pair.candidate.charge.pk for pair in found}
    return [claim for claim in claims if claim.charge.pk not in done]


def entries_without_match(
    rows: Iterable[LedgerEntry], found: Iterable[DebitMatch]
) -> list[LedgerEntry]:
    taken = {pair.entry.pk for pair in found}
    return [entry for entry in rows if entry.pk not in taken]
