"""References: addresses of pictures and films that a clip or a scene is to begin or end with.

They are kept as they came and never fetched; those of the sandbox's own media can be seen in
the film.
"""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox.world import World


def own_reference(world: World, address: str | None) -> dict[str, Any] | None:
    """What a film is told of an address, as `media.references` takes it; None if it is no
    picture and no film of this world."""
    name = (address or "").partition("?")[0].rpartition("/")[2]
    still = world.stills.get(name)
    if still is not None:
        return {"file": name, "still": still.description}
    made = name != "" and any(it.file == name and it.made for it in world.jobs)
    return {"file": name, "still": None} if made else None
