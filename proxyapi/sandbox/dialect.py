"""The shapes of version 1 of the service, where the specification shows none.

`--dialect service-v1`, or the setting `dialect`, turns them on. What the specification shows stays.
Status words need no dialect: `/_sandbox/outcomes` takes any.
"""

from __future__ import annotations

from typing import Any, Literal

Dialect = Literal["spec", "service-v1"]
COST_KEYS = {
    "content_prompt_requested": "ai_scripts",
    "faceless_render": "faceless",
    "faceless_export": "export_videos",
    "character_training": "avatar",
    "ai_image_regenerated": "image_regenerations",
}
REQUIRED_SCRIPT_FIELDS = ("style", "tone", "language")


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
