"""The clips that were made for each scene of a film: their cost, and those that failed.

A charge may be for the clips of several scenes; it is then split by the list price of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from dashboard.library.queries.films.record import FilmRecord, clips_of
from dashboard.shared.storyboards.clip_prices import split_clip_cost
from dashboard.shared.storyboards.copy_clips import (
    clip_shares,
    copy_engine_name,
    sent_scenes_of,
)
from proxyapi.kinds import SCENE_CLIPS_OPERATION
from proxyapi.models import Charge, Job, JobPart
from proxyapi.models.job_part import EARLIER_CLIPS, PartState

NO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class ClipTry:
    """A clip that was paid for, or made free of charge. `is_split`: its cost is a part of a charge
    that the service did not divide. `failure` is the service's reason, empty if it gave none."""

    scene: str  # id here
    charge: Charge
    cost: Decimal
    is_split: bool
    engine: str
    has_failed: bool
    failure: str


def load_clip_tries(record: FilmRecord) -> dict[str, list[ClipTry]]:
    """Return the clips of each scene, oldest first, by the scene's id here; no query."""
    tries: dict[str, list[ClipTry]] = {}
    orders = [
        charge
        for charge in record.charges
        if charge.operation == SCENE_CLIPS_OPERATION and charge.is_charged
    ]
    for charge in orders:
        for one in build_clip_tries(record.copy_of(charge), charge):
            tries.setdefault(one.scene, []).append(one)
    return tries


def build_clip_tries(copy: Job, charge: Charge) -> Iterator[ClipTry]:
    shares = clip_shares(copy, ordered_scenes(copy, charge))
    name = copy_engine_name(copy)
    for scene, cost in split_clip_cost(charge.cost or NO_CREDITS, shares).items():
        clip = find_clip(copy, scene, charge)
        has_failed = clip is not None and clip.state == PartState.FAILED
        failure = clip.failure_message if clip is not None and has_failed else ""
        yield ClipTry(scene, charge, cost, len(shares) > 1, name, has_failed, failure)


def ordered_scenes(copy: Job, charge: Charge) -> list[str]:
    """Return the ids of the scenes that a charge was for; empty if it was not sent from here."""
    if copy.draft_or_none is None:
        return []
    scenes = charge.body.get("scenes") if isinstance(charge.body, dict) else None
    return [str(id) for id in scenes] if isinstance(scenes, list) else []


def find_clip(copy: Job, scene: str, charge: Charge) -> JobPart | None:
    """Return the clip that a charge was for: the one the copy has now, or one that another
    replaced. None if it was never read."""
    remote_id = str(sent_scenes_of(copy).get(scene, {}).get("remote_id") or "")
    now = clips_of(copy).get(remote_id)
    if now is not None and now.charge_id in (charge.pk, None):
        return now
    earlier = (part for part in copy.parts.all() if part.list_name == EARLIER_CLIPS)
    return next(
        (
            part
            for part in earlier
            if part.charge_id == charge.pk and str(part.details.get("scene")) == remote_id
        ),
        None,
    )
