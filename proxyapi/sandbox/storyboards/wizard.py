"""The wizard: a prompt in, scenes out, each with a shot of its own.

A prompt that tells several things in order has them in order; one thing is looked at from the
distance, from near by, in a detail, in motion and from far again.
"""

from __future__ import annotations

import re
from random import Random

_STEP = re.compile(r"(?<=[.!?;])\s+|\n+|,?\s+\b(?:and then|then|afterwards|finally)\b,?\s+")
_SHOTS = (
    ("Wide establishing shot", "slow push in", 6),
    ("Medium shot", "the camera tracks alongside", 5),
    ("Close-up", "shallow focus, gentle handheld", 4),
    ("Low angle", "the camera rises", 5),
    ("Over the shoulder", "the camera follows", 5),
    ("Aerial shot", "a slow orbit", 6),
    ("Extreme close-up", "the light changes across it", 4),
    ("Wide closing shot", "slow pull back", 6),
)
_LIGHT = (
    "first light of the morning",
    "soft daylight",
    "late golden sun",
    "blue dusk",
    "overcast, quiet colours",
)


def plan_scenes(
    prompt: str, count: int | None, usual: int, chance: Random
) -> list[tuple[str, int]]:
    """Prompts with the seconds that would suit them; `usual` is how many without a wish."""
    steps = [step.strip(" .;,") for step in _STEP.split(prompt) if len(step.split()) > 2]
    steps = steps or [" ".join(prompt.split()).strip(" .")]
    number = count or (len(steps) if 1 < len(steps) <= 12 else usual)
    light = chance.choice(_LIGHT)
    middle = list(_SHOTS[1:-1])
    chance.shuffle(middle)
    shots = [_SHOTS[0], *(middle[n % len(middle)] for n in range(number - 2)), _SHOTS[-1]]
    told = []
    for place in range(number):
        shot, motion, seconds = shots[place]
        subject = steps[min(place * len(steps) // number, len(steps) - 1)]
        told.append((f"{shot}: {subject}; {motion}, {light}."[:4000], seconds))
    return told
