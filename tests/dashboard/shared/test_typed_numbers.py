"""Numbers that people type: with and without separators, never with an exponent."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dashboard.shared.typed_numbers import parse_typed_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1000", 1000),
        ("1,000", 1000),
        ("1 000", 1000),
        ("1\u00a0000", 1000),
        (" 1,234,567 ", 1234567),
        ("0", 0),
        ("12.16", Decimal("12.16")),
        ("1,250.50", Decimal("1250.50")),
    ],
)
def test_separators_between_groups_of_three_digits_are_read(text, number):
    assert parse_typed_number(text) == number


@pytest.mark.parametrize(
    "text",
    ["", "1e3", "-5", "+5", "1,5", "1,00", "1.000,5", "NaN", "many", "٣", "1" * 5000, "1\n000"],
)
def test_anything_else_is_no_number(text):
    assert parse_typed_number(text) is None
