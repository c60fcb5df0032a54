"""What a scene can be about, how large it is drawn, and where it feels at home."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from proxyapi.sandbox.media.motifs import creatures, people, plants, table, things, travel
from proxyapi.sandbox.media.stage import Stage


class Subject(NamedTuple):
    draw: Callable[[Stage, float, float, float], None]
    homes: tuple[str, ...]
    scale: float = 1.0
    floating: bool = False  # drawn around its place instead of standing on it


_LAND = ("hills", "mountains", "forest", "desert")
_INSIDE = ("room", "shapes")
_ANYWHERE = ("hills", "mountains", "city", "sea", "desert", "forest", "shapes")

SUBJECTS: dict[str, Subject] = {
    "lighthouse": Subject(travel.lighthouse, ("sea",), 1.25),
    "boat": Subject(travel.boat, ("sea", "ice"), 1.0),
    "train": Subject(travel.train, ("mountains", "hills", "city", "desert", "forest"), 0.62),
    "rocket": Subject(travel.rocket, ("space", "moon"), 1.25, floating=True),
    "balloon": Subject(travel.balloon, (*_LAND, "sea", "city"), 1.1, floating=True),
    "plane": Subject(travel.plane, ("mountains", "sea", "city", "hills"), 0.8, floating=True),
    "car": Subject(travel.car, ("city", "hills", "desert", "mountains"), 0.75),
    "octopus": Subject(creatures.octopus, ("underwater",), 1.35, floating=True),
    "whale": Subject(creatures.whale, ("underwater",), 1.05, floating=True),
    "fish": Subject(creatures.fish, ("underwater",), 0.9, floating=True),
    "bird": Subject(creatures.bird, (*_LAND, "sea", "city", "ice"), 0.9, floating=True),
    "cat": Subject(creatures.cat, ("room", "hills", "city", "shapes"), 1.0),
    "fox": Subject(creatures.fox, ("forest", "hills", "mountains"), 0.8),
    "bee": Subject(creatures.bee, ("hills",), 0.85, floating=True),
    "bear": Subject(creatures.bear, ("forest", "mountains", "ice"), 0.85),
    "book": Subject(things.book, _INSIDE, 0.95),
    "bulb": Subject(things.bulb, ("shapes", "room"), 1.1, floating=True),
    "clock": Subject(things.clock, ("shapes", "room"), 1.1, floating=True),
    "computer": Subject(things.computer, _INSIDE, 1.0),
    "robot": Subject(things.robot, ("room", "city", "shapes", "moon"), 1.15),
    "camera": Subject(things.camera, ("shapes", "room"), 1.0, floating=True),
    "coins": Subject(things.coins, _INSIDE, 0.9),
    "chart": Subject(things.chart, ("shapes", "city", "room"), 0.9),
    "guitar": Subject(things.guitar, _INSIDE, 1.05),
    "heart": Subject(things.heart, ("shapes", "hills", "sea"), 0.95, floating=True),
    "cup": Subject(table.cup, ("room",), 0.95),
    "bread": Subject(table.bread, ("room",), 0.9),
    "bowl": Subject(table.bowl, ("room",), 1.0),
    "tree": Subject(plants.tree, ("hills", "mountains", "desert"), 1.1),
    "flower": Subject(plants.flower, ("hills",), 1.05),
    "mushroom": Subject(plants.mushroom, ("forest",), 1.0),
    "house": Subject(plants.house, ("hills", "mountains", "sea", "forest"), 0.9),
    "castle": Subject(plants.castle, ("mountains", "hills", "forest"), 1.0),
    "bridge": Subject(plants.bridge, ("city", "sea"), 1.2),
    "volcano": Subject(plants.volcano, ("sea", "desert", "mountains"), 1.15),
    "walker": Subject(people.walker, _ANYWHERE, 0.95),
    "friends": Subject(people.friends, ("city", "hills", "room", "shapes"), 0.95),
    "astronaut": Subject(people.astronaut, ("space", "moon"), 1.0, floating=True),
    "world": Subject(people.world, ("space",), 1.15, floating=True),
}
