"""The values before and after an entry, in words. Of a secret it says only that it was set,
replaced or removed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.models import AuditEvent, Role
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import credits

NOTHING_TEXT = "none"
MAX_VALUE_CHARS = 160
SECRET_RE = re.compile(r"secret|password|ciphertext|fingerprint|private|api_key")
CREDIT_FIELDS = frozenset(
    {"hard", "soft", "raise_amount", "hold", "quote", "cost", "price", "difference"}
) | {
    "daily_limit",
    "monthly_limit",
}
Names = Mapping[str, str]  # by the id that entries name
ID_FIELDS = ("job", "charge")
FIELD_LABELS = {
    "hard": "Limit",
    "daily_limit": "Credits a day",
    "monthly_limit": "Credits a month",
    "networks": "IP ranges",
    "runs_on": "Runs on",
    "expires_at": "Expires",
    "soft": "Alert at",
    "raise_amount": "Raised by",
    "raise_until": "Raised until",
    "by_email": "By e-mail",
    "by_webhook": "By webhook",
    "plan_id": "Credit pack",
    "job": "Video",
    "url": "Address",
}
FLAG_WORDS = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field's values as text; "" where the entry has no value on that side."""

    label: str
    before: str
    after: str
    is_secret: bool = False

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


def list_field_changes(event: AuditEvent, names: Names) -> tuple[FieldChange, ...]:
    """Return the fields of both sides; those that changed come first, secrets last of them. Ids
    that have a name are shown by it."""
    changes = list(iter_field_changes(event.before or {}, event.after or {}, names))
    return tuple(sorted(changes, key=lambda change: (not change.is_changed, change.is_secret)))


def iter_field_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], names: Names
) -> Iterator[FieldChange]:
    for name in dict.fromkeys([*before, *after]):
        label = field_label(name)
        if SECRET_RE.search(name):
            yield FieldChange(label, "", secret_text(before.get(name), after.get(name)), True)
            continue
        old, new = (
            value_text(name, side[name], names) if name in side else "" for side in (before, after)
        )
        change = FieldChange(label, old, new)
        if change.before or change.after:
            yield change


def secret_text(before: object, after: object) -> str:
    if before and after:
        return "replaced"
    return "set" if after else "removed"


def field_label(name: str) -> str:
    text = name.replace("_", " ").strip()
    return FIELD_LABELS.get(name) or (text[:1].upper() + text[1:])


def value_text(name: str, value: Any, names: Names) -> str:
    if value is None or value in ("", [], {}):
        return NOTHING_TEXT
    if isinstance(value, bool):
        return FLAG_WORDS[value]
    if name in ID_FIELDS and str(value) in names:
        return f"“{names[str(value)]}”"
    if name in CREDIT_FIELDS:
        return credits_text(value)
    if name == "role" and value in Role.values:
        return str(Role(value).label)
    if name == "operation":
        return feature_label(str(value))
    if isinstance(value, dict):
        return cut_text(", ".join(f"{field_label(key)} {part}" for key, part in named_parts(value)))
    if isinstance(value, list):
        return cut_text(", ".join(str(part) for part in value))
    return cut_text(str(value))


def named_parts(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The entries of a nested value, without secrets and deeper levels."""
    for name, part in value.items():
        if SECRET_RE.search(name):
            continue
        nested = part.get("name") or part.get("slug") if isinstance(part, dict) else part
        if nested not in (None, "", [], {}):
            yield name, str(nested)


def credits_text(value: object) -> str:
    try:
        return f"{credits(str(value))} cr"
    except (ArithmeticError, ValueError):
        return str(value)


def cut_text(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[: MAX_VALUE_CHARS - 1]}…"
