"""Whether mirrored rows were spent through the API, as aligned by `api_view_alignment`, and the
reset of it."""

from __future__ import annotations

from django.db.models import QuerySet

from proxyapi.models import LedgerEntry, LedgerMirror
from proxyapi.rollups.daily_totals import request_rebuild


def api_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api=True)


def attributed_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    """Rows known to be of the API or not; their positions have no gap."""
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api__isnull=False)


def unattributed_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api__isnull=True)


def reset_attribution(ledger: LedgerMirror) -> None:
    """Clear the attribution of every row: the view changed, and is aligned again from its end."""
    ledger.api_low = ledger.api_high = 0
    ledger.api_problem = ""
    if attributed_entries(ledger).update(via_api=None):
        request_rebuild(ledger.account)


def reset_attribution_from(ledger: LedgerMirror, position: int) -> None:
    """Clear the attribution from this position on, where the rows are different ones now."""
    rows = attributed_entries(ledger)
    if not rows.filter(position__lt=position).exists():
        reset_attribution(ledger)
        return
    api_count = api_entries(ledger).filter(position__lt=position).count()
    ledger.api_high, ledger.api_read_at = ledger.api_low + api_count, None
    if rows.filter(position__gte=position).update(via_api=None):
        request_rebuild(ledger.account)
