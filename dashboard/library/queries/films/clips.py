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
from dashboard.shared.storyboards.scene_states import CLIPS_OPERATION
from proxyapi.models import Charge, Job
from proxyapi.models.job_part import PartState
from proxyapi.upstream.response_parsing import as_mapping

CLIP_FAILURES_KEY = "failures"  # in `Charge.before`: failures of clips by the scene's id there
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
        if charge.operation == CLIPS_OPERATION and charge.is_charged
    ]
    for place, charge in enumerate(orders):
        for one in build_clip_tries(record.copy_of(charge), charge, orders[place + 1 :]):
            tries.setdefault(one.scene, []).append(one)
    return tries


def build_clip_tries(copy: Job, charge: Charge, later: list[Charge]) -> Iterator[ClipTry]:
    shares = clip_shares(copy, ordered_scenes(copy, charge))
    name = copy_engine_name(copy)
    for scene, cost in split_clip_cost(charge.cost or NO_CREDITS, shares).items():
        has_failed, failure = read_clip_failure(copy, scene, later)
        yield ClipTry(scene, charge, cost, len(shares) > 1, name, has_failed, failure)


def ordered_scenes(copy: Job, charge: Charge) -> list[str]:
    """Return the ids of the scenes that a charge was for; empty if it was not sent from here."""
    if copy.draft_or_none is None:
        return []
    scenes = charge.body.get("scenes") if isinstance(charge.body, dict) else None
    return [str(id) for id in scenes] if isinstance(scenes, list) else []


def read_clip_failure(copy: Job, scene: str, later: list[Charge]) -> tuple[bool, str]:
    """Return whether a clip failed, and why: what was read before the scene's next clip in the same
    copy was requested, else what the copy shows now."""
    remote_id = str(sent_scenes_of(copy).get(scene, {}).get("remote_id") or "")
    again = next(
        (row for row in later if row.job_id == copy.pk and scene in ordered_scenes(copy, row)),
        None,
    )
    if again is not None:
        failures = as_mapping(as_mapping(again.before).get(CLIP_FAILURES_KEY))
        return remote_id in failures, str(failures.get(remote_id) or "")
    clip = clips_of(copy).get(remote_id)
    has_failed = clip is not None and clip.state == PartState.FAILED
    return has_failed, clip.failure_message if clip is not None and has_failed else ""
