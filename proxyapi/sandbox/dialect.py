"""The shapes of version 1 of the service, where the specification shows none.

`--dialect service-v1`, or the setting `dialect`, turns them on. What the specification shows stays.
Other status words than these need no dialect: `/_sandbox/outcomes` takes any.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.records import Entry

Dialect = Literal["spec", "service-v1"]
# Other settings that a dialect brings with it; each can be changed afterwards.
DIALECT_SETTINGS: dict[str, dict[str, Any]] = {
    "spec": {"failed_render_refunds": False, "remaining_includes_extra": True},
    "service-v1": {"failed_render_refunds": True, "remaining_includes_extra": False},
}
COST_KEYS = {  # but content_prompt_requested, which the specification names
    "faceless_render": "faceless",
    "faceless_export": "export_videos",
    "character_training": "avatar",
    "ai_image_regenerated": "image_regenerations",
}
STATUS_WORDS = {
    ("character", "training"): "model-training",
    ("character", "failed"): "model-training-failed",
    ("clone", "processing"): "reviewing",
}
# Sentences by the label that the entry begins with, else by its content type.
CONTENT_TYPES = {
    "Faceless video export": "Faceless video exported",
    "Faceless video": "Faceless video generated",
    "content-prompt": "Generated new contents",
    "idea": "Requested a new content idea",
    "character": "Purchased custom character",
    "top-up": "Purchased Credit",
}
MAX_LABEL_CHARS = 40
BARE_STATUSES = (405, 409, 413, 429)  # the specification shows no code of these
REQUIRED_SCRIPT_FIELDS = ("style", "tone", "language")


def with_dialect_settings(change: dict[str, Any]) -> dict[str, Any]:
    """The change with what its dialect, if it names one, brings with it."""
    return {**DIALECT_SETTINGS.get(str(change.get("dialect")), {}), **change}


def cost_key(dialect: Dialect, key: str) -> str:
    return COST_KEYS.get(key, key) if dialect == "service-v1" else key


def missing_script_fields(dialect: Dialect, wanted: Any) -> dict[str, list[str]]:
    """The errors of a script request by field; empty if it may be written."""
    required = REQUIRED_SCRIPT_FIELDS if dialect == "service-v1" else ()
    return {
        name: [f"The {name} field is required."] for name in required if not getattr(wanted, name)
    }


def show_asset(dialect: Dialect, asset: dict[str, Any]) -> dict[str, Any]:
    """An asset with `url` and `position`, or with `media` and an `order` from 0."""
    if dialect == "spec":
        return asset
    media = [{"original_url": asset["url"], "conversions": {"thumb": asset["url"]}}]
    others = {name: value for name, value in asset.items() if name not in ("url", "position")}
    return {**others, "order": asset["position"] - 1, "media": media}


def status_word(dialect: Dialect, kind: str, word: str) -> str:
    return STATUS_WORDS.get((kind, word), word) if dialect == "service-v1" else word


CAPTION_NAMES = {"font_family": "font", "position": "caption_position"}


def show_captions(dialect: Dialect, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a video, whose captions are an object or null in version 1."""
    captions = settings.get("captions")
    if dialect == "spec" or not isinstance(captions, bool):
        return settings
    style = {"font_family": settings["font"], "font_color": "#ffffff"}
    style["position"] = settings["caption_position"]
    return {**settings, "captions": style if captions else None}


def read_captions(dialect: Dialect, changes: dict[str, Any]) -> dict[str, Any]:
    """Changed settings of a video. Version 1 takes captions as an object or null alone, and their
    font and position only in it."""
    captions = changes.get("captions")
    if dialect == "spec":
        if not isinstance(captions, bool | None):
            raise ValidationError({"captions": ["The captions field must be true or false."]})
        return changes
    if not isinstance(captions, dict | None):
        raise ValidationError({"captions": ["The captions field must be an array."]})
    kept = {name: value for name, value in changes.items() if name not in CAPTION_NAMES.values()}
    if captions is None:
        return {**kept, "captions": False} if "captions" in changes else kept
    styled = {
        name: value
        for field, name in CAPTION_NAMES.items()
        if isinstance(value := captions.get(field), str)
    }
    return {**kept, **styled, "captions": True}


def show_entry(dialect: Dialect, entry: Entry, shown: dict[str, Any]) -> dict[str, Any]:
    """A row of the ledger. Version 1 has two types, sentences as content types, and signs."""
    if dialect == "spec":
        return shown
    is_refund = "refund" in f"{entry.label} {entry.transaction_type}".lower()
    named = [text for name, text in CONTENT_TYPES.items() if entry.label.startswith(name)]
    content_type = [*named, CONTENT_TYPES.get(entry.content_type, entry.content_type)][0]
    booked = datetime.fromtimestamp(int(entry.created_at), tz=UTC)
    is_long = len(entry.label) > MAX_LABEL_CHARS
    label = entry.label[:MAX_LABEL_CHARS] + "..." if is_long else entry.label
    return {
        "label": "" if is_refund else label,
        "content_type": "Credits refunded to user" if is_refund else content_type,
        "credit_spend": f"{entry.credits:+d}",
        "transaction_type": "Debit" if entry.credits < 0 else "Credit",
        "created_at": booked.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }


def order_entries(dialect: Dialect, entries: Sequence[Entry], visit: int) -> Sequence[Entry]:
    """The ledger by its times; in version 1 rows of one second have another order each time."""
    if dialect == "spec":
        return entries
    return sorted(entries, key=lambda entry: (int(entry.created_at), entry.id * 31 * visit % 97))
