"""How a character looks: what the maker of a film draws it by."""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import catalogue
from proxyapi.sandbox.characters import record
from proxyapi.sandbox.world import World

_PASSED_KEYS = ("genre", "seed", "photo")
_FACES = {"professor-finch": 5102, "captain-ilse": 12, "pim": 5}  # seeds of those of the catalogue


def portrayal_of(world: World, account_id: int, uuid: str) -> dict[str, Any] | None:
    """As `media.portraits` takes it: the preview that was chosen, or a face of the catalogue."""
    stock = next((it for it in catalogue.CHARACTERS if it["uuid"] == uuid), None)
    if stock is not None:
        return {"genre": "cinematic", "seed": _FACES[stock["slug"]], "photo": ""}
    own = next((it for it in record.trained_characters(world, account_id) if it.uuid == uuid), None)
    still = world.stills.get(record.chosen_image(own)) if own is not None else None
    if still is None or still.description is None:
        return None
    return {name: still.description[name] for name in _PASSED_KEYS}
