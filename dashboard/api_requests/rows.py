"""What one logged request cost, how it ended, and where its time went."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.shared.feature_labels import feature_label
from proxyapi.models import ChargeState, GatewayRequest
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.operations import OPERATIONS

OWN_METHODS = {  # of free requests to the portal
    "quotes.create": "POST",
    "quotes.get": "GET",
    "charges.get": "GET",
    "charges.cancel": "DELETE",
    "_events": "GET",
}
BAR_MS = 3000  # what the bar of a row shows
REFUSED_STATUSES = (401, 402, 403)  # of all others below 500 the script can mend the request itself
ZERO = Decimal(0)


class Spent(StrEnum):
    """How certain the credits are, in the words of the tag `amount`."""

    FREE = "free"  # the operation never charges
    EXACT = "out"
    NONE = "none"  # refused, replayed, or not sent
    UNKNOWN = "unknown"  # 0 or the price


def spent_on(row: GatewayRequest) -> tuple[Spent, Decimal]:
    """Credits of this request; a replayed one spends nothing. The charge comes with the row."""
    operation, charge = OPERATIONS.get(row.operation), row.charge
    if row.operation in OWN_METHODS or (operation is not None and not operation.charging):
        return Spent.FREE, ZERO
    if charge is None or row.is_replayed:
        return Spent.NONE, ZERO
    if charge.is_charged:
        return Spent.EXACT, charge.cost or ZERO
    if charge.state in HOLDING_STATES:
        return Spent.UNKNOWN, charge.price
    return Spent.NONE, ZERO


def method_of(row: GatewayRequest) -> str:
    operation = OPERATIONS.get(row.operation)
    return operation.method if operation else OWN_METHODS.get(row.operation, "")


def state_of(row: GatewayRequest) -> str:
    """The `data-state` of the row; empty if it needs no attention."""
    if row.charge is not None and row.charge.state == ChargeState.UNKNOWN:
        return "unknown"
    if row.status >= 500 or row.status in REFUSED_STATUSES:
        return "failed"
    return "late" if row.status >= 400 else ""


def build_row(row: GatewayRequest) -> dict[str, Any]:
    spent, amount = spent_on(row)
    label = feature_label(row.operation)
    return {
        "request": row,
        "url": reverse("api-request", args=[row.pk]),
        "clock": clock_with_seconds(row.received_at),
        "method": method_of(row),
        "label": label if label != row.operation else "",
        "spent": spent,
        "amount": amount,
        "state": state_of(row),
        "ours_ms": ours_ms(row),
        "is_sent": bool(row.service_requests),
        "bars": list(iter_bars(row, BAR_MS)),
        "is_cut": row.total_ms > BAR_MS,
    }


def clock_with_seconds(at: datetime) -> str:
    """Return "13:04:11" today, else "18 Nov 13:04:11"."""
    moment = timezone.localtime(at)
    is_today = moment.date() == timezone.localdate()
    return f"{moment:%H:%M:%S}" if is_today else f"{moment.day} {moment:%b %H:%M:%S}"


def ours_ms(row: GatewayRequest) -> int:
    """Milliseconds of our work, with the wait for the rate limit."""
    return max(0, row.total_ms - row.service_ms)


def iter_bars(row: GatewayRequest, whole_ms: int) -> Iterator[dict[str, Any]]:
    """Our work, the wait and the service's answer, in percent of `whole_ms`."""
    start = 0.0
    parts = (
        ("ours", ours_ms(row) - row.waited_ms),
        ("wait", row.waited_ms),
        ("up", row.service_ms),
    )
    for name, milliseconds in parts:
        width = min(100 * max(milliseconds, 0) / max(whole_ms, 1), 100 - start)
        if width > 0:
            yield {"name": name, "x": start, "width": max(width, 1.0), "ms": milliseconds}
        start += width
