"""The batch question: whether a number of charges of about the same cost fits."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.shared.forms import PortalForm
from dashboard.shared.typed_numbers import TypedNumberField
from proxyapi.forecast.batch_affordability import MAX_BATCH_CHARGES

COUNT_ERROR = f"A whole number, 1 to {MAX_BATCH_CHARGES:,}."
CREDITS_EACH_ERROR = "Credits, more than 0, such as 96 or 12.16."


class BatchForecastForm(PortalForm):
    n = TypedNumberField(
        COUNT_ERROR, label="Number of charges", min_value=1, max_value=MAX_BATCH_CHARGES
    )
    each = TypedNumberField(
        CREDITS_EACH_ERROR,
        label="Credits each, about",
        min_value=0,
        max_value=1_000_000,
        decimal_places=4,
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, use_required_attribute=False)

    def clean_n(self) -> int:
        return int(self.cleaned_data["n"])

    def clean_each(self) -> Any:
        each = self.cleaned_data["each"]
        if not each:
            raise forms.ValidationError(CREDITS_EACH_ERROR)
        return each
