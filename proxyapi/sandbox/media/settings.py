"""Where a scene plays: each setting paints what is far, the ground, and what is near."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from proxyapi.sandbox.media.motifs import cold, cosmos, land, rooms, shapes, town, water, woods
from proxyapi.sandbox.media.motifs.sky import sky
from proxyapi.sandbox.media.stage import Spot, Stage


class Setting(NamedTuple):
    """`horizon` is a share of the height; `motes` are chosen by day, dusk and night."""

    far: Callable[[Stage], None]
    ground: Callable[[Stage], Spot]
    front: Callable[[Stage], None]
    horizon: float = 0.6
    motes: tuple[str, str, str] = ("dust", "dust", "stars")
    outdoors: bool = True


def _nothing(stage: Stage) -> None:
    """Some settings keep the front free."""


SETTINGS: dict[str, Setting] = {
    "sea": Setting(water.sea_far, water.sea_ground, water.sea_front, 0.58),
    "mountains": Setting(
        land.mountains_far,
        land.mountains_ground,
        land.near_firs,
        0.56,
        ("dust", "dust", "stars"),
    ),
    "hills": Setting(
        land.hills_far,
        land.meadow_ground,
        land.meadow_front,
        0.56,
        ("petals", "dust", "fireflies"),
    ),
    "forest": Setting(
        woods.forest_far,
        woods.forest_ground,
        woods.forest_front,
        0.5,
        ("dust", "fireflies", "fireflies"),
    ),
    "desert": Setting(land.desert_far, land.desert_ground, land.desert_front, 0.58),
    "ice": Setting(cold.ice_far, cold.ice_ground, cold.ice_front, 0.52, ("snow", "snow", "snow")),
    "city": Setting(town.city_far, town.city_ground, town.city_front, 0.6),
    "underwater": Setting(
        water.under_far, water.under_ground, water.under_front, 0.6, ("bubbles",) * 3, False
    ),
    "space": Setting(cosmos.space_far, cosmos.space_ground, _nothing, 0.6, ("stars",) * 3, False),
    "moon": Setting(cosmos.space_far, cosmos.moon_ground, _nothing, 0.6, ("stars",) * 3, False),
    "room": Setting(rooms.room_far, rooms.room_ground, rooms.room_front, 0.6, ("dust",) * 3, False),
    "shapes": Setting(
        shapes.shapes_far, shapes.shapes_ground, shapes.shapes_front, 0.6, ("dust",) * 3, False
    ),
}


def paint_far(stage: Stage, name: str) -> Setting:
    """Paint sky and distance; the setting is returned for the rest of the picture."""
    setting = SETTINGS[name]
    stage.horizon = setting.horizon
    if setting.outdoors:
        sky(stage)
    setting.far(stage)
    return setting
