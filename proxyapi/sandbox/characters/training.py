"""Training: a preview, a name and some facts become a character that is ready some time later.

draft ──train──▶ training ──▶ ready
                     └──────▶ failed ──train──▶ training
"""

from __future__ import annotations

import re
from typing import NamedTuple

from proxyapi.sandbox import jobs, money
from proxyapi.sandbox.errors import Forbidden, Invalid
from proxyapi.sandbox.gate import Call
from proxyapi.sandbox.holdings import Character
from proxyapi.sandbox.jobs import Course
from proxyapi.sandbox.money import Use
from proxyapi.sandbox.records import Charge, Job
from proxyapi.sandbox.world import World

COURSE = Course(("training", "ready"), ())


class Facts(NamedTuple):
    preview_id: int
    name: str
    age: int | None
    gender: str


def train(call: Call, character: Character, facts: Facts) -> Charge:
    """Raises 422 for a preview of another character, 403 when it is trained, 402."""
    world = call.world
    if facts.preview_id not in [it.id for it in character.previews]:
        raise Invalid({"preview_id": ["The selected preview id is invalid."]})
    if character.status is not None and character.status != "failed":
        raise Forbidden("The character is trained already, or is being trained.")
    price = money.price(world, "character_training")
    resource = f"character:{character.id}"
    use = Use("character_training", price, resource, "Character training", "character")
    money.require(call, use)
    charge = money.charge(call, use)
    seconds = world.settings.training_seconds
    job = jobs.start(world, "character", character.id, seconds=seconds, film=None, course=COURSE)
    character.preview_id, character.name = facts.preview_id, facts.name
    character.age, character.gender = facts.age, facts.gender
    character.slug = _slug(facts.name, character.id)
    character.job_id, character.charge_id = job.id, charge.id
    character.status = jobs.word(world, job)
    world.characters.put(character)
    return charge


def follow(world: World, job: Job) -> None:
    """Bring the character to where its training is now."""
    character = world.characters.get(job.resource_id)
    if character is None or character.job_id != job.id:
        jobs.end(world, job)
        return
    word = jobs.word(world, job)
    if word != character.status:
        character.status = word
        world.characters.put(character)
    if jobs.over(world, job):
        jobs.end(world, job)
        if word == "failed" and world.settings.failed_training_refunds:
            charge = world.charges.get(character.charge_id)
            if charge is not None:
                money.refund(world, charge, "Character training refund", "character")


def _slug(name: str, number: int) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return words or f"character-{number}"
