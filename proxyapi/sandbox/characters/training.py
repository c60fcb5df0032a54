"""Training: a preview, a name and some facts become a character that is ready some time later.

draft ──train──▶ training ──▶ ready
                     └──────▶ failed ──train──▶ training
"""

from __future__ import annotations

import re
from typing import NamedTuple

from proxyapi.sandbox import billing, jobs
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.errors import Forbidden, ValidationError
from proxyapi.sandbox.jobs import JobCourse
from proxyapi.sandbox.records import Charge, Job
from proxyapi.sandbox.resource_rows import Character
from proxyapi.sandbox.world import World

TRAINING_COURSE = JobCourse(("training", "ready"), ())


class TrainingFacts(NamedTuple):
    preview_id: int
    name: str
    age: int | None
    gender: str


def train_character(call: ApiCall, character: Character, facts: TrainingFacts) -> Charge:
    """Raises 422 for a preview of another character, 403 when it is trained, 402."""
    world = call.world
    if facts.preview_id not in [it.id for it in character.previews]:
        raise ValidationError({"preview_id": ["The selected preview id is invalid."]})
    if character.status is not None and character.status != "failed":
        raise Forbidden("The character is trained already, or is being trained.")
    price = billing.get_price(world, "character_training")
    resource = f"character:{character.id}"
    use = FeatureUse("character_training", price, resource, "Character training", "character")
    billing.require_credits(call, use)
    charge = billing.charge_credits(call, use)
    seconds = world.settings.training_seconds
    job = jobs.start_job(
        world, "character", character.id, seconds=seconds, film=None, course=TRAINING_COURSE
    )
    character.preview_id, character.name = facts.preview_id, facts.name
    character.age, character.gender = facts.age, facts.gender
    character.slug = _slug(facts.name, character.id)
    character.job_id, character.charge_id = job.id, charge.id
    character.status = jobs.current_status(world, job)
    world.characters.put(character)
    return charge


def advance_training(world: World, job: Job) -> None:
    """Bring the character to where its training is now."""
    character = world.characters.get(job.resource_id)
    if character is None or character.job_id != job.id:
        jobs.end_job(world, job)
        return
    word = jobs.current_status(world, job)
    if word != character.status:
        character.status = word
        world.characters.put(character)
    if jobs.is_over(world, job):
        jobs.end_job(world, job)
        if word == "failed" and world.settings.failed_training_refunds:
            charge = world.charges.get(character.charge_id)
            if charge is not None:
                billing.refund_charge(world, charge, "Character training refund", "character")


def _slug(name: str, number: int) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return words or f"character-{number}"
