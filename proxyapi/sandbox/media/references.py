"""Pictures that a film shows: files that exist, and promised ones that may not be drawn yet.

A reference is a dict: `file` names a file in the media folder, `still` describes how a promised
picture is drawn (`promise_picture`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from proxyapi.sandbox.media import photo_effects, portraits, stills

Size = tuple[int, int]


def open_reference(
    reference: dict[str, Any] | None, folder: Path, size: Size
) -> Image.Image | None:
    """The picture, or a film's first frame; None if there is none. `size` is for drawn ones."""
    if reference is None:
        return None
    still = reference.get("still")
    if still is not None and still.get("kind") == "portraits":
        return _portrait(still, folder)
    if still is not None:
        drawn: Image.Image = stills.picture(still, size)
        return drawn
    return photo_effects.open_picture(folder / reference["file"]) if "file" in reference else None


def _portrait(still: dict[str, Any], folder: Path) -> Image.Image:
    told = {name: value for name, value in still.items() if name != "kind"}
    drawn: Image.Image = portraits.picture(portraits.Portrait(**told), folder)
    return drawn
