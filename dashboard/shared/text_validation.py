"""Reject invisible characters in text that people read.

Rejected are the control characters of ASCII and Latin-1, line separators in a single line, and the
characters that change the direction of the text after them (U+202A to U+202E, U+2066 to U+2069),
with which a title reads as something else.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator, RegexValidator
from django.forms import Field

from proxyapi.refusals import Refusal

INVISIBLE_CHARACTER = (
    "It contains an invisible character. Type it again, or paste it as plain text."
)
MAX_REASON_CHARS = 300
DIRECTION_MARKS = "\u202a-\u202e\u2066-\u2069"
validate_line = RegexValidator(
    f"[\x00-\x1f\x7f-\x9f\u2028\u2029{DIRECTION_MARKS}]", INVISIBLE_CHARACTER, inverse_match=True
)
# Line breaks and tabs are kept.
validate_lines = RegexValidator(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{DIRECTION_MARKS}]",
    INVISIBLE_CHARACTER,
    inverse_match=True,
)


def reject_invisible(field: Field, *, lines: bool = False) -> None:
    """Add the validator to a form field, and remove Django's check for NUL, which would repeat
    it."""
    others = [
        validator
        for validator in field.validators
        if not isinstance(validator, ProhibitNullCharactersValidator)
    ]
    field.validators = [*others, validate_lines if lines else validate_line]


def clean_reason(text: str, *, required: str, field: str = "reason") -> str:
    """Return the reason of a decision as one line. Raises `Refusal`: `required` if it is empty."""
    if not (line := clean_line(text, max_length=MAX_REASON_CHARS, field=field)):
        raise Refusal(required, field=field)
    return line


def clean_line(text: str, *, max_length: int, field: str) -> str:
    """Return a single line with collapsed white space. Raises `Refusal`."""
    line = " ".join(text.split())[:max_length]
    try:
        validate_line(line)
    except ValidationError:
        raise Refusal(INVISIBLE_CHARACTER, field=field) from None
    return line
