"""The clips that were made for each scene of a film: their cost, and those that failed.

A charge may be for the clips of several scenes; it is then split by the list price of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from dashboard.library.queries.films.record import (
    FilmRecord,
    clips_of,
    copy_content_of,
    sent_scenes_of,
)
from dashboard.library.queries.films.strip import scene_seconds
from dashboard.shared.clip_models import (
    ClipModel,
    account_clip_models,
    estimate_from_list,
    find_clip_model,
)
from dashboard.shared.storyboards.scene_states import CLIPS_OPERATION
from dashboard.shared.video_options import account_options
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
    costs = split_by_list_price(copy, charge)
    name = clip_engine_name(copy)
    for scene, cost in costs.items():
        has_failed, failure = read_clip_failure(copy, scene, later)
        yield ClipTry(scene, charge, cost, len(costs) > 1, name, has_failed, failure)


def ordered_scenes(copy: Job, charge: Charge) -> list[str]:
    """Return the ids of the scenes that a charge was for; empty if it was not sent from here."""
    if copy.draft_or_none is None:
        return []
    scenes = charge.body.get("scenes") if isinstance(charge.body, dict) else None
    return [str(id) for id in scenes] if isinstance(scenes, list) else []


def split_by_list_price(copy: Job, charge: Charge) -> dict[str, Decimal]:
    """Return the part of the cost of each scene. The parts are whole credits if the cost is, and
    add up to it exactly."""
    ids, cost = ordered_scenes(copy, charge), charge.cost or NO_CREDITS
    weights = [scene_weight(copy, id) for id in ids]
    whole, shares = sum(weights, NO_CREDITS), []
    unit = Decimal(1) if cost == cost.to_integral_value() else Decimal("0.01")
    for place in range(1, len(ids) + 1):
        upto = cost * sum(weights[:place], NO_CREDITS) / whole if place < len(ids) else cost
        floor = upto if place == len(ids) else (upto + unit / 2).quantize(unit, ROUND_FLOOR)
        shares.append(floor - sum(shares, NO_CREDITS))
    return dict(zip(ids, shares, strict=True))


def scene_weight(copy: Job, id: str) -> Decimal:
    """Return the list price of a scene's clip; its seconds if the engine is not listed any more."""
    content, scene = copy_content_of(copy), sent_scenes_of(copy).get(id, {})
    seconds = scene_seconds(scene) or 1
    model = find_copy_model(copy)
    if model is None:
        return Decimal(seconds)
    chosen = {name: content.get(name) for name in ("resolution", "audio")}
    return estimate_from_list(model, {**chosen, "duration": seconds}) or Decimal(seconds)


def find_copy_model(copy: Job) -> ClipModel | None:
    slug = clip_engine_row(copy).get("slug")
    return find_clip_model(account_clip_models(copy.account), slug)


def clip_engine_name(copy: Job) -> str:
    """Return the name of the engine of a copy; empty if the account does not list it any more."""
    row = clip_engine_row(copy)
    return str(row.get("name") or row.get("slug") or "")[:100]


def clip_engine_row(copy: Job) -> Mapping[str, object]:
    engine_id = copy_content_of(copy).get("clip_engine_id")
    rows = account_options(copy.account).groups.get("clip_engines", ())
    return next((row for row in rows if row.get("id") == engine_id), {})


def read_clip_failure(copy: Job, scene: str, later: list[Charge]) -> tuple[bool, str]:
    """Return whether a clip failed, and why: what was read before the scene's next clip in the same
    copy was requested, else what the copy shows now."""
    remote_id = str(sent_scenes_of(copy).get(scene, {}).get("remote_id") or "")
    again = next(
        (row for row in later if row.job_id == copy.pk and scene in ordered_scenes(copy, row)), None
    )
    if again is not None:
        failures = as_mapping(as_mapping(again.before).get(CLIP_FAILURES_KEY))
        return remote_id in failures, str(failures.get(remote_id) or "")
    clip = clips_of(copy).get(remote_id)
    has_failed = clip is not None and clip.state == PartState.FAILED
    return has_failed, clip.failure_message if clip is not None and has_failed else ""
