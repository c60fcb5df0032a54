"""What a scene can be about, how large it is drawn, and where it feels at home."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from proxyapi.sandbox.media.motifs import (
    creatures,
    machines,
    people,
    plants,
    sea_life,
    table,
    things,
    travel,
)
from proxyapi.sandbox.media.stage import Stage


class Subject(NamedTuple):
    draw: Callable[[Stage, float, float, float], None]
    homes: tuple[str, ...]
    scale: float = 1.0
    floating: bool = False  # drawn around its place instead of standing on it
    reach: float = 0.6  # half its width, in its own height


_LAND = ("hills", "mountains", "forest", "desert")
_INSIDE = ("room", "shapes")
_ANYWHERE = ("hills", "mountains", "city", "sea", "desert", "forest", "shapes")

SUBJECTS: dict[str, Subject] = {
    "lighthouse": Subject(travel.lighthouse, ("sea",), 1.25),
    "boat": Subject(travel.boat, ("sea", "ice"), 1.0),
    "train": Subject(
        travel.train, ("mountains", "hills", "city", "desert", "forest"), 0.62, reach=1.65
    ),
    "rocket": Subject(travel.rocket, ("space", "moon"), 1.25, floating=True),
    "balloon": Subject(travel.balloon, (*_LAND, "sea", "city"), 1.1, floating=True),
    "plane": Subject(
        travel.plane, ("mountains", "sea", "city", "hills"), 0.8, floating=True, reach=0.7
    ),
    "car": Subject(travel.car, ("city", "hills", "desert", "mountains"), 0.75, reach=0.7),
    "octopus": Subject(sea_life.octopus, ("underwater",), 1.35, floating=True),
    "whale": Subject(sea_life.whale, ("underwater",), 1.05, floating=True, reach=1.1),
    "fish": Subject(sea_life.fish, ("underwater",), 0.9, floating=True, reach=0.6),
    "bird": Subject(creatures.bird, (*_LAND, "sea", "city", "ice"), 0.9, floating=True, reach=0.75),
    "cat": Subject(creatures.cat, ("room", "hills", "city", "shapes"), 1.0),
    "fox": Subject(creatures.fox, ("forest", "hills", "mountains"), 0.8, reach=0.95),
    "bee": Subject(creatures.bee, ("hills",), 0.85, floating=True, reach=0.6),
    "bear": Subject(creatures.bear, ("forest", "mountains", "ice"), 0.85, reach=0.75),
    "book": Subject(things.book, _INSIDE, 0.95, reach=0.7),
    "bulb": Subject(things.bulb, ("shapes", "room"), 1.1, floating=True),
    "clock": Subject(things.clock, ("shapes", "room"), 1.1, floating=True),
    "computer": Subject(machines.computer, _INSIDE, 1.0, reach=0.78),
    "robot": Subject(machines.robot, ("room", "city", "shapes", "moon"), 1.15),
    "camera": Subject(machines.camera, ("shapes", "room"), 1.0, floating=True, reach=0.6),
    "coins": Subject(things.coins, _INSIDE, 0.9, reach=0.65),
    "chart": Subject(things.chart, ("shapes", "city", "room"), 0.9, reach=0.8),
    "guitar": Subject(things.guitar, _INSIDE, 1.05),
    "heart": Subject(things.heart, ("shapes", "hills", "sea"), 0.95, floating=True),
    "cup": Subject(table.cup, ("room",), 0.95),
    "bread": Subject(table.bread, ("room",), 0.9, reach=0.75),
    "bowl": Subject(table.bowl, ("room",), 1.0),
    "tree": Subject(plants.tree, ("hills", "mountains", "desert"), 1.1),
    "flower": Subject(plants.flower, ("hills",), 1.05),
    "mushroom": Subject(plants.mushroom, ("forest",), 1.0),
    "house": Subject(plants.house, ("hills", "mountains", "sea", "forest"), 0.9),
    "castle": Subject(plants.castle, ("mountains", "hills", "forest"), 1.0, reach=0.6),
    "bridge": Subject(plants.bridge, ("city", "sea"), 1.2),
    "volcano": Subject(plants.volcano, ("sea", "desert", "mountains"), 1.15, reach=1.0),
    "walker": Subject(people.walker, _ANYWHERE, 0.95),
    "friends": Subject(people.friends, ("city", "hills", "room", "shapes"), 0.95),
    "astronaut": Subject(people.astronaut, ("space", "moon"), 1.0, floating=True),
    "world": Subject(people.world, ("space",), 1.15, floating=True),
}
