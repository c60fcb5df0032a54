"""What of a ledger is not known yet: rows that were not read, and debits of which the view
`source=api` has not told whether the API made them. A match is made once, so it waits for both."""

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

MAX_QUERY_SPANS = 50  # times apart that one query names


def find_undecided_charges(
    ledger: LedgerMirror, claims: Sequence[MatchCandidate], window: TimeWindow, bounds: AmountBounds
) -> set[UUID]:
    """The charges of those claims that may have another debit than is known; two queries."""
    if not claims:
        return set()
    oldest = oldest_mirrored_at(ledger)
    rows = (
        unmatched_debits_near(ledger, claims)
        .filter(via_api__isnull=True)
        .exclude(unattributable_filter(ledger))
    )
    untold = list(rows.values_list("amount", "happened_at"))

    def is_dark(claim: MatchCandidate) -> bool:
        low, high = bounds(claim)
        return not is_period_mirrored(ledger, claim, oldest) or any(
            low <= -amount <= high and claim.accepts_time(moment, window)
            for amount, moment in untold
        )

    return {claim.charge.pk for claim in claims if is_dark(claim)}


def unattributed_debit_exists(ledger: LedgerMirror) -> Exists:
    """Whether a debit in a charge's time is not told yet; to filter charges by."""
    rows = LedgerEntry.objects.without_charge().filter(account=OuterRef("account"), amount__lt=0)
    since = ExpressionWrapper(OuterRef("sent_at") - MATCH_CLOCK_SKEW, DateTimeField())
    until = ExpressionWrapper(OuterRef("settled_at") + MATCH_BOOKING_DELAY, DateTimeField())
    untold = rows.filter(via_api__isnull=True).exclude(unattributable_filter(ledger))
    return Exists(untold.filter(happened_at__range=(since, until)))


def is_period_mirrored(
    ledger: LedgerMirror, claim: MatchCandidate, oldest: datetime | None
) -> bool:
    """Whether the mirror holds every row of the claim's time; `oldest`: where it begins."""
    if ledger.read_at is None or ledger.read_at < claim.booked_until:
        return False
    return ledger.low == 0 or (oldest is not None and oldest < claim.booked_from - MATCH_CLOCK_SKEW)


def oldest_mirrored_at(ledger: LedgerMirror) -> datetime | None:
    """When the oldest row that is mirrored was booked; nothing of a ledger that is whole."""
    if ledger.low == 0:
        return None
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, trouble="")
    return rows.order_by("happened_at").values_list("happened_at", flat=True).first()


def unmatched_debits_near(
    ledger: LedgerMirror, claims: Sequence[MatchCandidate]
) -> QuerySet[LedgerEntry]:
    """Debits that no charge has, around the time of these claims, and not what lies between."""
    rows = LedgerEntry.objects.without_charge()
    rows = rows.filter(account_id=ledger.pk, amount__lt=0, trouble="")
    around = Q()
    for span in merge_search_spans(claims):
        around |= Q(happened_at__range=span)
    return rows.filter(around)


def merge_search_spans(claims: Sequence[MatchCandidate]) -> list[tuple[datetime, datetime]]:
    """Ten minutes more than each claim's time on both sides, joined where they meet."""
    apart: list[tuple[datetime, datetime]] = []
    for start, end in sorted(
        (claim.booked_from - MATCH_SEARCH_MARGIN, claim.booked_until + MATCH_SEARCH_MARGIN)
        for claim in claims
    ):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    if len(apart) > MAX_QUERY_SPANS:
        return [(apart[0][0], max(end for _, end in apart))]
    return apart
