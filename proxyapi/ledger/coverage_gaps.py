"""Gaps of the mirror: rows that are not read yet, and debits not attributed yet by the view
`source=api`. A match is final, so it waits for both."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import DateTimeField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet

from proxyapi.ledger.api_view_alignment import unattributable_filter
from proxyapi.ledger.matching_rules import (
    MATCH_BOOKING_DELAY,
    MATCH_CLOCK_SKEW,
    MATCH_SEARCH_MARGIN,
    AmountBounds,
    MatchCandidate,
    TimeWindow,
)
from proxyapi.models import LedgerEntry, LedgerMirror

MAX_QUERY_SPANS = 50  # separate time spans in one query


def find_undecided_charges(
    ledger: LedgerMirror, claims: Sequence[MatchCandidate], window: TimeWindow, bounds: AmountBounds
) -> set[UUID]:
    """The charges of the candidates that may have another debit than the known ones; two
    queries."""
    if not claims:
        return set()
    oldest = oldest_mirrored_at(ledger)
    rows = (
        unmatched_debits_near(ledger, claims)
        .filter(via_api__isnull=True)
        .exclude(unattributable_filter(ledger))
    )
    unattributed = list(rows.values_list("amount", "happened_at"))

    def may_have_other_debit(claim: MatchCandidate) -> bool:
        low, high = bounds(claim)
        return not is_period_mirrored(ledger, claim, oldest) or any(
            low <= -amount <= high and claim.accepts_time(moment, window)
            for amount, moment in unattributed
        )

    return {claim.charge.pk for claim in claims if may_have_other_debit(claim)}


def unattributed_debit_exists(ledger: LedgerMirror) -> Exists:
    """A subquery for charges: whether a debit in the charge's time window is not attributed yet."""
    rows = LedgerEntry.objects.without_charge().filter(account=OuterRef("account"), amount__lt=0)
    since = ExpressionWrapper(OuterRef("sent_at") - MATCH_CLOCK_SKEW, DateTimeField())
    until = ExpressionWrapper(OuterRef("settled_at") + MATCH_BOOKING_DELAY, DateTimeField())
    unattributed = rows.filter(via_api__isnull=True).exclude(unattributable_filter(ledger))
    return Exists(unattributed.filter(happened_at__range=(since, until)))


def is_period_mirrored(
    ledger: LedgerMirror, claim: MatchCandidate, oldest: datetime | None
) -> bool:
    """Whether the mirror holds every row of the candidate's time window; `oldest` is the time at
    which the mirror begins."""
    if ledger.read_at is None or ledger.read_at < claim.booked_until:
        return False
    return ledger.low == 0 or (oldest is not None and oldest < claim.booked_from - MATCH_CLOCK_SKEW)


def oldest_mirrored_at(ledger: LedgerMirror) -> datetime | None:
    """The time of the oldest mirrored row; None if the mirror reaches the ledger's beginning."""
    if ledger.low == 0:
        return None
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, trouble="")
    return rows.order_by("happened_at").values_list("happened_at", flat=True).first()


def unmatched_debits_near(
    ledger: LedgerMirror, claims: Sequence[MatchCandidate]
) -> QuerySet[LedgerEntry]:
    """Debits without a charge around the time windows of the candidates."""
    rows = LedgerEntry.objects.without_charge()
    rows = rows.filter(account_id=ledger.pk, amount__lt=0, trouble="")
    in_spans = Q()
    for span in merge_search_spans(claims):
        in_spans |= Q(happened_at__range=span)
    return rows.filter(in_spans)


def merge_search_spans(claims: Sequence[MatchCandidate]) -> list[tuple[datetime, datetime]]:
    """The candidates' time windows plus `MATCH_SEARCH_MARGIN` on both sides, merged where they
    overlap."""
    spans: list[tuple[datetime, datetime]] = []
    for start, end in sorted(
        (claim.booked_from - MATCH_SEARCH_MARGIN, claim.booked_until + MATCH_SEARCH_MARGIN)
        for claim in claims
    ):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    if len(spans) > MAX_QUERY_SPANS:
        return [(spans[0][0], max(end for _, end in spans))]
    return spans
