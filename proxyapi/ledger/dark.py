"""What of a ledger is not known yet: rows that were not read, and debits of which the view
`source=api` has not told whether the API made them. A match is made once, so it waits for both."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import DateTimeField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet

from proxyapi.ledger.overlay import never_told
from proxyapi.ledger.pairs import FAR, LATE, SKEW, Bounds, Claim, Window
from proxyapi.models import LedgerEntry, LedgerMirror

SPANS = 50  # times apart that one query names


def waiting(
    ledger: LedgerMirror, claims: Sequence[Claim], window: Window, bounds: Bounds
) -> set[UUID]:
    """The charges of those claims that may have another debit than is known; two queries."""
    if not claims:
        return set()
    oldest = read_from(ledger)
    rows = unmatched(ledger, claims).filter(via_api__isnull=True).exclude(never_told(ledger))
    untold = list(rows.values_list("amount", "happened_at"))

    def is_dark(claim: Claim) -> bool:
        low, high = bounds(claim)
        return not is_read(ledger, claim, oldest) or any(
            low <= -amount <= high and claim.covers(moment, window) for amount, moment in untold
        )

    return {claim.charge.pk for claim in claims if is_dark(claim)}


def untold_beside(ledger: LedgerMirror) -> Exists:
    """Whether a debit in a charge's time is not told yet; to filter charges by."""
    rows = LedgerEntry.objects.without_charge().filter(account=OuterRef("account"), amount__lt=0)
    since = ExpressionWrapper(OuterRef("sent_at") - SKEW, DateTimeField())
    until = ExpressionWrapper(OuterRef("settled_at") + LATE, DateTimeField())
    untold = rows.filter(via_api__isnull=True).exclude(never_told(ledger))
    return Exists(untold.filter(happened_at__range=(since, until)))


def is_read(ledger: LedgerMirror, claim: Claim, oldest: datetime | None) -> bool:
    """Whether the mirror holds every row of the claim's time; `oldest`: where it begins."""
    if ledger.read_at is None or ledger.read_at < claim.end:
        return False
    return ledger.low == 0 or (oldest is not None and oldest < claim.start - SKEW)


def read_from(ledger: LedgerMirror) -> datetime | None:
    """When the oldest row that is mirrored was booked; nothing of a ledger that is whole."""
    if ledger.low == 0:
        return None
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, trouble="")
    return rows.order_by("happened_at").values_list("happened_at", flat=True).first()


def unmatched(ledger: LedgerMirror, claims: Sequence[Claim]) -> QuerySet[LedgerEntry]:
    """Debits that no charge has, around the time of these claims, and not what lies between."""
    rows = LedgerEntry.objects.without_charge()
    rows = rows.filter(account_id=ledger.pk, amount__lt=0, trouble="")
    around = Q()
    for span in spans(claims):
        around |= Q(happened_at__range=span)
    return rows.filter(around)


def spans(claims: Sequence[Claim]) -> list[tuple[datetime, datetime]]:
    """Ten minutes more than each claim's time on both sides, joined where they meet."""
    apart: list[tuple[datetime, datetime]] = []
    for start, end in sorted((claim.start - FAR, claim.end + FAR) for claim in claims):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    if len(apart) > SPANS:
        return [(apart[0][0], max(end for _, end in apart))]
    return apart
