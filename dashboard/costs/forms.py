"""The form of an account's price per credit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from dashboard.shared.formatting import CURRENCIES
from dashboard.shared.forms import PortalForm
from dashboard.shared.typed_numbers import TypedNumberField
from proxyapi.models.account import amount_text
from proxyapi.models.credit_price import CreditPrice

MAX_CREDIT_PRICE = 1_000
CREDIT_PRICE_ERROR = (
    f"Enter a price above 0 and up to {MAX_CREDIT_PRICE:,}, with at most 6 decimal places, such as "
    "0.0125."
)


class CreditPriceForm(PortalForm):
    """The button "Remove price" sends `remove` instead."""

    amount = TypedNumberField(
        CREDIT_PRICE_ERROR,
        label="Price per credit",
        min_value=Decimal("0.000001"),
        max_value=MAX_CREDIT_PRICE,
        decimal_places=6,
    )
    currency = forms.ChoiceField(choices=[(code, code) for code in CURRENCIES])

    def __init__(self, data: Any = None, price: CreditPrice | None = None) -> None:
        filled = {"amount": amount_text(price.amount), "currency": price.currency} if price else {}
        super().__init__(data, initial=filled, use_required_attribute=False)

    def clean(self) -> dict[str, Any]:
        if "remove" in self.data:
            self.errors.clear()
        return self.cleaned_data

    @property
    def price(self) -> CreditPrice | None:
        """The price to save; None removes it."""
        return None if "remove" in self.data else CreditPrice(**self.cleaned_data)
