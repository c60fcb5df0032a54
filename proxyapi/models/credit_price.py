"""What a credit costs a team by its own estimate. No charge, limit or forecast uses it."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from proxyapi.models.account import Account


class CreditPrice(NamedTuple):
    """Above 0, with up to six decimal places."""

    amount: Decimal
    currency: str  # ISO 4217


def common_credit_price(accounts: Iterable[Account]) -> CreditPrice | None:
    """Return the price of a sum of credits of these accounts; None if their prices differ."""
    prices = {account.credit_price for account in accounts}
    return prices.pop() if len(prices) == 1 else None
