"""What the specification says of an answer, in its own words and places: the judge of our readers.

Written from "States and transitions" and "Data model" of the specification, by hand and letter by
letter. Nothing of the product is asked: a table of ours that is wrong is not wrong here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any


def value_at(value: Any, *names: str) -> Any:
    """What stands at these names, one in the other; None where one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def has_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


# Not in the specification, which lists few words: parts of words that an English reader calls a
# failure.
FAILING_PARTS = (
    *("failed", "failure", "error", "timeout", "timed_out"),
    *("cancelled", "expired", "rejected", "aborted"),
)


def has_failed(value: Any) -> bool:
    word = value_at(value, "status")
    return isinstance(word, str) and any(part in word[:60].lower() for part in FAILING_PARTS)


def faceless(data: Any) -> str:
    """video.status completed: video.url holds the file; failed: video.failure says why."""
    if has_failed(value_at(data, "video")):
        return "failed"
    is_done = value_at(data, "video", "status") == "completed" and has_text(
        value_at(data, "video", "url")
    )
    return "completed" if is_done else "running"


def is_clip_final(data: Any) -> str:
    """The exact strings for asset.status are draft, processing, success, failed."""
    if has_failed(value_at(data, "asset")):
        return "failed"
    is_done = value_at(data, "asset", "status") == "success" and has_text(
        value_at(data, "asset", "url")
    )
    return "completed" if is_done else "running"


def storyboard(data: Any) -> str:
    """video.status completed is the state to poll for; failed is the word of the other kinds. No
    address is named; a shown one is told."""
    video = value_at(data, "video")
    if has_failed(video):
        return "failed"
    is_whole = isinstance(video, dict) and ("url" not in video or has_text(video["url"]))
    is_done = is_whole and value_at(video, "status") == "completed"
    return "completed" if is_done else "running"


def clone(data: Any) -> str:
    """status completed is the state to poll for; preview_url is set when completed; failed is the
    word of the other kinds."""
    if has_failed(data):
        return "failed"
    is_done = value_at(data, "status") == "completed" and has_text(value_at(data, "preview_url"))
    return "completed" if is_done else "running"


def character(data: Any) -> str:
    """status ready is the state to poll for; failed is the word of the other kinds."""
    if has_failed(data):
        return "failed"
    return "completed" if value_at(data, "status") == "ready" else "running"


STATE_READERS: Mapping[str, Callable[[Any], str]] = {
    "faceless": faceless,
    "clip": is_clip_final,
    "storyboard": storyboard,
    "clone": clone,
    "character": character,
}
STATUS_PATHS: Mapping[str, tuple[str, ...]] = {
    "faceless": ("video", "status"),
    "clip": ("asset", "status"),
    "storyboard": ("video", "status"),
    "clone": ("status",),
    "character": ("status",),
}


def status_of(kind: str, data: Any) -> str:
    """The status as it stands there; empty where there is none."""
    found = value_at(data, *STATUS_PATHS[kind])
    return found if isinstance(found, str) else ""


def reported_cost(top: Any) -> Decimal | None:
    """meta.credits.cost of a charging answer, where it is a number, in figures or as text."""
    found = value_at(top, "meta", "credits", "cost")
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    try:
        return Decimal(str(found))
    except InvalidOperation:
        return None


def id_of(kind: str, data: Any) -> Any:
    """The id of the resource, at the place that the specification names."""
    return value_at(data, "asset", "id") if kind == "clip" else value_at(data, "id")


def is_id(value: Any) -> bool:
    return (
        isinstance(value, int | str) and not isinstance(value, bool) and 0 < len(str(value)) <= 64
    )
