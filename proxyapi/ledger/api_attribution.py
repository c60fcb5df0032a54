"""Which mirrored rows are of the API, as `api_view_alignment` found, and how that is forgotten."""

from __future__ import annotations

from django.db.models import QuerySet

from proxyapi.models import LedgerEntry, LedgerMirror
from proxyapi.rollups.daily_totals import request_rebuild


def api_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api=True)


def attributed_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    """Rows known to be of the API or not; without a gap."""
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api__isnull=False)


def unattributed_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api__isnull=True)


def reset_attribution(ledger: LedgerMirror) -> None:
    """Forget it all: the view changed, and is aligned again from its end."""
    ledger.api_low = ledger.api_high = 0
    ledger.api_problem = ""
    if attributed_entries(ledger).update(via_api=None):
        request_rebuild(ledger.account)


def reset_attribution_from(ledger: LedgerMirror, position: int) -> None:
    """Forget it from this position on, where other rows stand now."""
    rows = attributed_entries(ledger)
    if not rows.filter(position__lt=position).exists():
        reset_attribution(ledger)
        return
    beneath = api_entries(ledger).filter(position__lt=position).count()
    ledger.api_high, ledger.api_read_at = ledger.api_low + beneath, None
    if rows.filter(position__gte=position).update(via_api=None):
        request_rebuild(ledger.account)
