"""Match debits to the charges that made them, and refunds to the charges that they refund.

Unmatched debits were made outside the portal (some name an imported job, see `imported_debits`);
unmatched credits are top-ups and grants. Charges whose answer was lost are matched by
`proxyapi.charges.reconcile`. A match is final, so it waits until every entry that could be the
charge's debit is mirrored and attributed.

Other teams may use the same upstream account, each with a mirror of its own; the debits of their
charges are reserved for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet

from proxyapi.clock_offset import clock_offset_range, learn_ledger_offset
from proxyapi.ledger import coverage_gaps, entry_changes, matching_rules
from proxyapi.ledger.api_view_alignment import unattributable_filter
from proxyapi.ledger.imported_debits import link_imported_debits
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
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    LedgerEntry,
    LedgerMirror,
    MatchConfidence,
)
from proxyapi.models.charge import UNDECIDED_STATES

MAX_SAMPLE_MATCHES = 100  # certain matches of an operation that show its content types


@transaction.atomic
def match_entries(account: Account) -> set[int]:
    """Match entries to charges, with a confidence and a reason; locks the account.

    Return the ids of debits that are reserved for charges which wait for more entries, or for
    another team's mirror.
    """
    entry_changes.lock_account(account)
    ledger = LedgerMirror.objects.select_related("account").filter(pk=account.pk).first()
    if ledger is None or ledger.problem:
        return set()
    matches, pending = match_debits(ledger)
    for pair in matches:
        link_entry_to_charge(pair.entry, pair.candidate.charge, pair.confidence, pair.reason)
    refunds = match_refunds(ledger, known_content_types)
    for entry, charge, confidence, reason in refunds:
        link_entry_to_charge(entry, charge, confidence, reason)
    moments = [pair.entry.happened_at for pair in matches]
    moments += [entry.happened_at for entry, *_ in refunds]
    moments += link_imported_debits(ledger)
    entry_changes.record_entry_changes(account, moments)
    return {pair.entry.pk for pair in pending}


def link_entry_to_charge(
    entry: LedgerEntry, charge: Charge, confidence: MatchConfidence, reason: str
) -> None:
    """Store a match in the caller's transaction; the caller records the change of the day's
    sums."""
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
        if charge.state == ChargeState.CONFIRMED and charge.sent_at and charge.settled_at:
            learn_ledger_offset(entry.happened_at, charge.sent_at, charge.settled_at)
        charge.booked_at = entry.happened_at
        Charge.objects.filter(pk=charge.pk).update(booked_at=entry.happened_at)


def unlink_entry(entry: LedgerEntry) -> None:
    """Make a debit one outside the portal again, in the caller's transaction."""
    LedgerEntry.objects.filter(pk=entry.pk).update(
        charge=None, confidence="", reason="", member=None, job=None, operation="",
        cost_difference=None,
    )  # fmt: skip
    entry_changes.record_entry_changes(entry.account, [entry.happened_at])


def price_difference(entry: LedgerEntry, charge: Charge) -> Decimal | None:
    """Reported cost minus booked debit, in credits; None if they agree, or the entry is no
    debit."""
    if entry.amount >= 0 or charge.cost is None:
        return None
    return charge.cost + entry.amount or None


def match_debits(ledger: LedgerMirror) -> tuple[list[DebitMatch], list[DebitMatch]]:
    """Match charges of a known cost to debits: return the final matches, and the pending ones."""
    candidates = load_match_candidates(ledger)
    if not candidates:
        return [], []
    operations = {candidate.charge.operation for candidate in candidates}
    rows = list(
        unmatched_api_debits(ledger, candidates).filter(
            amount__in={-candidate.cost for candidate in candidates}
        )
    )
    lost = Charge.objects.of_upstream_account(ledger.pk).filter(state__in=UNDECIDED_STATES)
    exact = matching_rules.match_exact_amounts(
        candidates, rows, known_content_types(ledger, operations), list(lost)
    )
    final, pending = split_final_matches(
        ledger, exact, MATCH_WINDOWS[-1], matching_rules.exact_amount_bounds
    )
    overdue = [
        candidate
        for candidate in candidates_without_match(candidates, exact)
        if is_debit_overdue(ledger, candidate, pending)
    ]
    if overdue:
        loose = matching_rules.match_outside_window(overdue, entries_without_match(rows, exact))
        remaining_debits = entries_without_match(
            unmatched_api_debits(ledger, overdue), exact + loose
        )
        loose += matching_rules.match_approximate_amounts(
            candidates_without_match(overdue, loose), remaining_debits
        )
        loose_final, loose_pending = split_final_matches(
            ledger, loose, WIDEST_WINDOW, matching_rules.approximate_amount_bounds
        )
        final, pending = final + loose_final, pending + loose_pending
    own = [pair for pair in final if pair.candidate.charge.account_id == ledger.pk]
    pending += [pair for pair in final if pair.candidate.charge.account_id != ledger.pk]
    return own, pending


def load_match_candidates(ledger: LedgerMirror) -> list[MatchCandidate]:
    """Charges that took credits and have no debit yet, of all teams that use the upstream
    account."""
    waiting = Charge.objects.of_upstream_account(ledger.pk).without_debit()
    return [build_match_candidate(charge) for charge in waiting.order_by("sent_at")]


def build_match_candidate(charge: Charge) -> MatchCandidate:
    sent_at, cost = charge.sent_at or charge.created_at, charge.cost or Decimal(0)
    lowest, highest = clock_offset_range(charge.before)
    # The ledger's times are whole seconds.
    return MatchCandidate(
        charge,
        cost,
        sent_at.replace(microsecond=0) + lowest,
        (charge.settled_at or sent_at) + highest,
    )


def unmatched_api_debits(
    ledger: LedgerMirror, candidates: Sequence[MatchCandidate]
) -> QuerySet[LedgerEntry]:
    """Debits of the API without a charge, around the time windows of the candidates."""
    return coverage_gaps.unmatched_debits_near(ledger, candidates).filter(api_rows_filter(ledger))


def api_rows_filter(ledger: LedgerMirror) -> Q:
    """Rows spent by a token of the API; if the upstream cannot tell, all rows."""
    return Q(via_api=True) | unattributable_filter(ledger)


def known_content_types(ledger: LedgerMirror, operations: Collection[str]) -> dict[str, set[str]]:
    """The content types of these operations' rows, from matches of confidence `certain`."""
    certain = LedgerEntry.objects.filter(
        account_id=ledger.pk, confidence=MatchConfidence.CERTAIN, amount__lt=0
    ).order_by("-happened_at", "-position")
    content_types = {
        name: set(
            certain.filter(operation=name).values_list("content_type", flat=True)[
                :MAX_SAMPLE_MATCHES
            ]
        )
        for name in operations
    }
    return {name: kinds for name, kinds in content_types.items() if kinds}


def split_final_matches(
    ledger: LedgerMirror, matches: list[DebitMatch], window: TimeWindow, bounds: AmountBounds
) -> tuple[list[DebitMatch], list[DebitMatch]]:
    """The final matches, and those whose charge may still turn out to have another debit."""
    undecided = coverage_gaps.find_undecided_charges(
        ledger, [pair.candidate for pair in matches], window, bounds
    )
    pending = [pair for pair in matches if pair.candidate.charge.pk in undecided]
    return [pair for pair in matches if pair.candidate.charge.pk not in undecided], pending


def is_debit_overdue(
    ledger: LedgerMirror, candidate: MatchCandidate, pending: Iterable[DebitMatch]
) -> bool:
    """Whether every row that could be the candidate's debit was read, enough time has passed, and
    no pending match reserves a debit that may still be released for it."""
    if (
        not ledger.is_complete
        or ledger.read_at is None
        or ledger.read_at <= candidate.booked_until + MATCH_BOOKING_DELAY
    ):
        return False
    return not any(candidate.accepts_entry(pair.entry, WIDEST_WINDOW) for pair in pending)


def candidates_without_match(
    candidates: Iterable[MatchCandidate], matches: Iterable[DebitMatch]
) -> list[MatchCandidate]:
    matched_ids = {pair.candidate.charge.pk for pair in matches}
    return [candidate for candidate in candidates if candidate.charge.pk not in matched_ids]


def entries_without_match(
    rows: Iterable[LedgerEntry], matches: Iterable[DebitMatch]
) -> list[LedgerEntry]:
    matched_ids = {pair.entry.pk for pair in matches}
    return [entry for entry in rows if entry.pk not in matched_ids]
