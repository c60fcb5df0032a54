"""The history of a film: storyboard, writing, the clips of each scene with their cost, renders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dashboard.library.queries.films.clips import (
    NO_CREDITS,
    ClipTry,
    load_clip_tries,
)
from dashboard.library.queries.films.record import FilmRecord
from dashboard.library.queries.films.strip import scene_seconds
from dashboard.library.queries.history_step import HistoryStep
from dashboard.library.queries.lineage import (
    imported_history_step,
    next_run_after,
    render_history_step,
    unspent_history_step,
)
from dashboard.shared.formatting import clock, credits
from dashboard.shared.storyboards.copy_clips import sent_scenes_of
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, charge_amount, spent_credits
from dashboard.shared.videos.labels import maker_text, scene_count_text
from dashboard.shared.videos.status_text import VideoContext, failure_reason
from proxyapi.kinds import SCENE_CLIPS_OPERATION
from proxyapi.models import Charge
from proxyapi.operations import JOB_STARTING_OPERATIONS, SCENE_OPERATIONS

RENDER_NAME, RENDER_AGAIN_NAME, CLIPS_NAME, WRITING_NAME = (
    "Render",
    "Render again",
    "Scene clips",
    "Scenes",
)
REMOVED_SCENES_NAME = "Scenes that were removed"
TIMES_TEXTS = {1: "once", 2: "twice"}
NONE_CAME_BACK = "The service promises no refund for a scene clip. None has come back."


def build_film_history(context: VideoContext, record: FilmRecord) -> tuple[HistoryStep, ...]:
    """Return the steps of a film; no query. Renders of other copies have pages of their own."""
    clips = [charge for charge in record.charges if charge.operation == SCENE_CLIPS_OPERATION]
    writings = [charge for charge in record.charges if charge.operation in SCENE_OPERATIONS]
    writings = [charge for charge in writings if charge not in clips]
    runs = [charge for charge in context.charges if charge.operation in JOB_STARTING_OPERATIONS]
    return (
        storyboard_step(context, record),
        *(writing_step(charge, record) for charge in writings),
        *clip_steps(record, clips),
        *render_steps(context, runs),
    )


def storyboard_step(context: VideoContext, record: FilmRecord) -> HistoryStep:
    if context.job.is_imported:
        return imported_history_step(context)
    board = record.storyboard
    who = board.member.first_name if board else maker_text(context.job)
    meta = f"{who}, {clock((board or context.job).created_at)}"
    return HistoryStep("completed", "Storyboard", FREE_AMOUNT, meta)


def writing_step(charge: Charge, record: FilmRecord) -> HistoryStep:
    if not charge.is_charged:
        return unspent_history_step(charge, WRITING_NAME)
    count = len(sent_scenes_of(record.copy_of(charge)))
    name = f"{scene_count_text(count)} written" if count else "Scenes written"
    words = len(str(charge.body.get("prompt") or "").split())
    source = f" from {words:,} words" if words else ""
    meta = f"By the service{source}, {clock(charge.settled_at or charge.created_at)}"
    return HistoryStep("completed", name, paid_amount([charge]), meta)


def clip_steps(record: FilmRecord, charges: Sequence[Charge]) -> Iterator[HistoryStep]:
    """One step for all clips, and one of each scene below it; open and refused requests after
    them."""
    charged = [charge for charge in charges if charge.is_charged]
    if charged:
        tries = load_clip_tries(record)
        yield all_clips_step(record, charged, tries)
        for number, scene in enumerate(record.scenes, start=1):
            if done := tries.pop(scene["scene"], None):
                yield scene_step(number, scene, done)
        removed = [one for rest in tries.values() for one in rest]
        if removed:
            yield removed_scenes_step(removed)
    for charge in charges:
        if not charge.is_charged:
            yield unspent_history_step(charge, CLIPS_NAME)


def all_clips_step(
    record: FilmRecord, charged: Sequence[Charge], tries: dict[str, list[ClipTry]]
) -> HistoryStep:
    made = [one for rest in tries.values() for one in rest]
    failed = sum(one.has_failed for one in made)
    first, last = (clock(row.sent_at or row.created_at) for row in (charged[0], charged[-1]))
    parts = [first if first == last else f"{first} to {last}"]
    if made:  # what a script requested names no scenes of ours
        parts.append("1 clip" if len(made) == 1 else f"{len(made)} clips")
    if failed:
        parts.append(f"{failed} failed")
    if earlier := sum(one.charge.job_id != record.job.pk for one in made):
        parts.append(f"{earlier} before a change that sent the film anew")
    shown = {scene["scene"] for scene in record.scenes} & tries.keys()
    name = f"Clips of {scene_count_text(len(shown))}" if shown else CLIPS_NAME
    return HistoryStep("completed", name, paid_amount(charged), ", ".join(parts))


def scene_step(number: int, scene: dict[str, object], tries: list[ClipTry]) -> HistoryStep:
    failed = [one for one in tries if one.has_failed]
    return HistoryStep(
        "failed" if tries[-1].has_failed else "completed",
        f"Scene {number}",
        tries_amount(tries),
        f"{scene_seconds(scene)} s, {tries_text(tries)}",
        quote=failure_reason(failed[-1].failure) if failed else "",
        note=failed_clip_note(failed[-1]) if failed else "",
        quote_state="failed",
        branch=True,
        scene=number,
    )


def removed_scenes_step(tries: list[ClipTry]) -> HistoryStep:
    """Clips of scenes that the film does not have any more."""
    meta = "1 clip" if len(tries) == 1 else f"{len(tries)} clips"
    amount = tries_amount(tries)
    return HistoryStep("completed", REMOVED_SCENES_NAME, amount, f"{meta}, not used", branch=True)


def tries_text(tries: list[ClipTry]) -> str:
    """Return how often a clip was made, such as `made twice, first with Brook`."""
    failed, engines = sum(one.has_failed for one in tries), [one.engine for one in tries]
    if len(tries) == 1:
        return "failed" if failed else engines[0] or "made once"
    if failed and failed == len(tries):
        return f"failed {times_text(failed)}"
    if failed == len(tries) - 1 and not tries[-1].has_failed:
        return f"failed {times_text(failed)}, then made"
    text = f"made {times_text(len(tries))}"
    if failed:
        return f"{text}, failed {times_text(failed)}"
    return f"{text}, first with {engines[0]}" if engines[0] and engines[0] != engines[-1] else text


def times_text(count: int) -> str:
    return TIMES_TEXTS.get(count, f"{count} times")


def tries_amount(tries: list[ClipTry]) -> CreditAmount:
    """The sum is about right if the service did not say what each clip of a charge cost."""
    cost = sum((one.cost for one in kept_tries(tries)), NO_CREDITS)
    if not any(one.cost for one in tries):
        return FREE_AMOUNT
    return CreditAmount(cost, "about" if any(one.is_split for one in tries) else "exact")


def kept_tries(tries: list[ClipTry]) -> Iterator[ClipTry]:
    """Leave out those whose credits came back."""
    return (one for one in tries if one.charge.refunded_at is None)


def failed_clip_note(one: ClipTry) -> str:
    if not one.cost:
        return "It was free of charge."
    if one.charge.refunded_at is not None:
        return f"Its credits came back at {clock(one.charge.refunded_at)}."
    about = "About " if one.is_split else ""
    return f"{about}{credits(one.cost)} cr were charged for it. {NONE_CAME_BACK}"


def paid_amount(charged: Sequence[Charge]) -> CreditAmount:
    is_free = not any(charge.cost for charge in charged)
    return FREE_AMOUNT if is_free else CreditAmount(spent_credits(charged))


def render_steps(context: VideoContext, runs: Sequence[Charge]) -> Iterator[HistoryStep]:
    charged = [charge for charge in runs if charge.is_charged]
    for charge in runs:
        is_first = charge is charged[0] if charged else charge is runs[0]
        name = RENDER_NAME if is_first else RENDER_AGAIN_NAME
        if charge.is_charged:
            step = render_history_step(charge, context, after=next_run_after(charge, charged))
            yield replace(step, name=name, amount=charge_amount(charge))
        else:
            yield unspent_history_step(charge, name)
