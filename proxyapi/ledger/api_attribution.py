"""What the view source=api told of the mirrored rows, and how it is forgotten where it is not true
any more. It is laid by `overlay.py`.
"""

from __future__ import annotations

from django.db.models import QuerySet

from proxyapi.models import LedgerEntry, LedgerMirror
from proxyapi.rollups.daily_totals import request_rebuild


def api_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api=True)


def attributed_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    """Rows of which it is known; they have no gap."""
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api__isnull=False)


def unattributed_entries(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(account_id=ledger.pk, via_api__isnull=True)


def reset_attribution(ledger: LedgerMirror) -> None:
    """The view changed under us: it is laid anew from its end. Where nothing was told of it, no sum
    is counted anew."""
    ledger.api_low = ledger.api_high = 0
    ledger.api_problem = ""
    if attributed_entries(ledger).update(via_api=None):
        request_rebuild(ledger.account)


def reset_attribution_from(ledger: LedgerMirror, position: int) -> None:
    """From there on the mirror's rows are other ones: what was told of those that stood there is
    not true of them. Beneath stays what was laid."""
    rows = attributed_entries(ledger)
    if not rows.filter(position__lt=position).exists():
        reset_attribution(ledger)
        return
    beneath = api_entries(ledger).filter(position__lt=position).count()
    ledger.api_high, ledger.api_read_at = ledger.api_low + beneath, None
    if rows.filter(position__gte=position).update(via_api=None):
        request_rebuild(ledger.account)
