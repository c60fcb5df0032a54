"""The upstream's credit ledger, read for one question so far: was this charge booked?

Entries carry no id. A debit belongs to a charge when it was booked after the charge was sent, its
amount
fits, and no other charge of the account has it already; equal rows are two rows (law 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from proxyapi import calls
from proxyapi.allowance import Lane
from proxyapi.models import Charge
from proxyapi.models.account import moment
from proxyapi.models.charge import SPENT

CLOCK_SKEW = timedelta(seconds=5)
NEWEST = {"order": "DESC", "per_page": 50, "page": 1, "source": "api"}


def debit_of(charge: Charge, lane: Lane) -> Decimal | None:
    """The credits the ledger booked for this charge, or None while it shows none that is free.

    Raises `errors.UpstreamError` or `AllowanceExhausted`.
    """
    reply = calls.call(charge.token, "credits.history", lane, patience=2, query=NEWEST)
    since = (charge.sent_at or charge.created_at) - CLOCK_SKEW
    seen = Counter(debits(reply.data, since))
    free = seen - Counter(claimed(charge, since))
    fitting = [amount for amount in free if amount <= max(charge.hold, charge.quote or Decimal(0))]
    wanted = charge.quote if charge.quote is not None else charge.hold
    return min(fitting, key=lambda amount: abs(amount - wanted), default=None)


def debits(rows: Any, since: datetime) -> Iterator[Decimal]:
    """The debits booked since then, as positive credits; rows that cannot be read are passed
    over."""
    for row in rows if isinstance(rows, list) else []:
        booked = moment(row.get("created_at")) if isinstance(row, dict) else None
        if booked is None or booked < since:
            continue
        amount = signed(row.get("credit_spend"))
        if amount is not None and amount < 0:
            yield -amount


def signed(text: object) -> Decimal | None:
    """A signed amount; the ledger writes it as a string (pitfall 60)."""
    try:
        amount = Decimal(str(text).strip().replace(",", ""))
    except ArithmeticError:
        return None
    return amount if amount.is_finite() else None


def claimed(charge: Charge, since: datetime) -> list[Decimal]:
    """What other charges of the account took in the same time."""
    others = Charge.objects.filter(
        account_id=charge.account_id, state__in=SPENT, sent_at__gte=since
    )
    return [
        cost.normalize()
        for cost in others.exclude(pk=charge.pk).values_list("cost", flat=True)
        if cost
    ]
