"""Numbers as people type them: "1000", "1,000" and "1 000", but not "1e3"."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from django import forms

# A comma is only read between groups of three digits: "1,5" may mean 1.5 or 15.
TYPED_NUMBER = re.compile(
    r"(?:[0-9]{1,12}|[0-9]{1,3}(?:[, \u00a0\u202f][0-9]{3}){1,3})(?:\.[0-9]{1,12})?"
)

MAX_LIMIT_CREDITS = 9_999_999
LIMIT_NOT_A_NUMBER = "Enter a whole number of credits from {least} to 9,999,999, such as 2,500."


def parse_typed_number(text: str) -> Decimal | None:
    """Return the number; None for anything else, also for one with a sign or an exponent."""
    text = text.strip()
    return Decimal(re.sub("[^0-9.]", "", text)) if TYPED_NUMBER.fullmatch(text) else None


class TypedNumberField(forms.DecimalField):
    """A whole number, or one with `decimal_places`. `error` is its message for any other input; it
    names the allowed values."""

    def __init__(self, error: str, **kwargs: Any) -> None:
        codes = ("invalid", "required", "min_value", "max_value", "max_decimal_places")
        decimal_places = kwargs.setdefault("decimal_places", 0)
        inputmode = "decimal" if decimal_places else "numeric"
        # Browsers do not let a comma be typed into an input of type number.
        widget = forms.TextInput(attrs={"inputmode": inputmode, "autocomplete": "off"})
        super().__init__(**kwargs, error_messages=dict.fromkeys(codes, error), widget=widget)

    def to_python(self, value: Any) -> Decimal | None:  # type: ignore[override]
        if value in self.empty_values:
            return None
        number = parse_typed_number(str(value))
        if number is None:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return number


class CreditLimitField(TypedNumberField):
    """A limit in whole credits. `limit` is the text at the end of the label."""

    limit = "cr"

    def __init__(self, least: int = 1, **kwargs: Any) -> None:
        error = LIMIT_NOT_A_NUMBER.format(least=least)
        super().__init__(
            error, required=False, min_value=least, max_value=MAX_LIMIT_CREDITS, **kwargs
        )


def limit_input_value(limit: Decimal | None) -> str:
    return "" if limit is None else f"{limit.normalize():f}"
