"""Storyboards of the demo's past: one whose film is rendered, and one in work, whose scenes the
service wrote: some have a clip, one failed, one was changed after its clip.

Both are made at the sandbox, which charges the film when it is rendered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from dashboard.demo.history.replay import Call, ReplayAnswer, build_call
from dashboard.demo.history.rows import PastRows
from dashboard.shared.clip_models import account_clip_models, estimate_from_list, find_clip_model
from dashboard.shared.storyboards.scene_writing import join_writing_prompt
from proxyapi import pricing
from proxyapi.kinds import (
    KINDS,
    SCENE_CLIPS_OPERATION,
    STORYBOARD_RENDER_OPERATION,
    WRITING_OPERATION,
    copy_content,
)
from proxyapi.models import (
    Charge,
    Draft,
    Job,
    JobKind,
    JobPart,
    JobState,
    Storyboard,
    StoryboardCopy,
    StoryboardMode,
    StoryboardScene,
)

CLIPS_AFTER, MORE_CLIPS_AFTER = timedelta(minutes=4), timedelta(minutes=9)
ESTIMATE_AFTER, READ_AFTER = timedelta(minutes=15), timedelta(minutes=25)
CLIP_DURATION = timedelta(minutes=2)  # from the order to the poll that saw the clip
FILM_DURATION = timedelta(minutes=3)
EDIT_AFTER = timedelta(hours=2)  # from the start to the edit of a scene
FAILED_CLIP = {
    "kind": "scene-clip",
    "statuses": ["queued", "processing", "failed"],
    "failure": {"code": "GENERATION-FAILED", "message": "Provider timed out."},
}
FORMATS = {"aspect_ratio": "16:9", "resolution": "720p"}


class PastStoryboard(NamedTuple):
    """`scenes` are prompts with seconds and whether they are chained; without any the service
    writes `scene_count` of them from the description. `days` and `minutes` before now."""

    name: str
    title: str
    member: str
    days: int
    minutes: int
    engine: str
    scenes: tuple[tuple[str, int, bool], ...] = ()
    description: str = ""
    style: str = ""
    scene_count: int = 0

    @property
    def is_written(self) -> bool:
        return not self.scenes

    @property
    def writing_body(self) -> dict[str, Any]:
        prompt = join_writing_prompt(self.description, self.style)
        return {"prompt": prompt, "scenes": self.scene_count}


FILM = PastStoryboard(
    name="storyboard film",
    title="Night train north",
    member="Priya",
    days=9,
    minutes=200,
    engine="brook",
    scenes=(
        ("Wide shot of a fjord station after the last daylight, a train waits, snow", 5, False),
        ("The train leaves along the fjord, lit windows mirrored in black water", 5, True),
        ("A lighthouse turns its beam over the tracks, aurora above the ridge", 6, False),
        ("First light by a glacier, the train arrives, the camera rises slowly", 5, False),
    ),
)
IN_WORK = PastStoryboard(
    name="storyboard in work",
    title="Harbour, one morning",
    member="Luca",
    days=1,
    minutes=160,
    engine="brook",
    description=(
        "A harbour wakes up. Fishing boats come in through the fog, crates are unloaded, gulls "
        "circle, a cook buys the first fish, and the sun breaks through over the pier."
    ),
    style="documentary",
    scene_count=6,
)
PAST_STORYBOARDS = (FILM, IN_WORK)
FIRST_CLIPS, FAILED_SCENE, CHANGED_SCENE = 3, 3, 2  # of those that were written; places from 0
CHANGED_PROMPT = "Medium shot: crates of cod swing ashore, hands in gloves; the camera tracks along"


def storyboard_calls(
    now: datetime, engine_ids: Mapping[str, int], tokens: Mapping[str, str]
) -> Iterator[Call]:
    for one in PAST_STORYBOARDS:
        at = started_at(one, now)
        auth, path = {"token": tokens[one.member]}, f"/v2/text-to-scene/{{{one.name}.data.id}}"
        mode = StoryboardMode.WIZARD if one.is_written else StoryboardMode.MANUAL
        chosen = {"clip_engine_id": engine_ids[one.engine], **FORMATS}
        body = {"mode": mode, "title": one.title, "settings": chosen}
        yield build_call(at, "POST", "/v2/text-to-scene", name=one.name, body=body, **auth)
        scenes = f"{one.name} scenes"
        if one.is_written:
            wanted = {"name": scenes, "body": one.writing_body}
            yield build_call(at, "POST", f"{path}/prompt", **wanted, **auth)
        else:
            rows = [
                {"raw_video_prompt": text, "duration": length} for text, length, _ in one.scenes
            ]
            yield build_call(
                at, "POST", f"{path}/scenes", name=scenes, body={"scenes": rows}, **auth
            )
        yield from (clip_calls_in_work if one.is_written else film_calls)(one, at, path, auth)
        yield build_call(at + READ_AFTER, "GET", path, name=f"{one.name} read", **auth)


def started_at(one: PastStoryboard, now: datetime) -> datetime:
    return now - timedelta(days=one.days, minutes=one.minutes)


def film_calls(
    one: PastStoryboard, at: datetime, path: str, auth: Mapping[str, str]
) -> Iterator[Call]:
    for place, (_, _, is_chained) in enumerate(one.scenes):
        if is_chained:
            chain = f"{path}/scenes/{{{one.name} scenes.data.scenes.{place}.id}}/chain"
            yield build_call(at, "PUT", chain, body={"chained": True}, **auth)
    clips = {"name": f"{one.name} clips", "body": {}}
    yield build_call(at + CLIPS_AFTER, "POST", f"{path}/clips", **clips, **auth)
    at += ESTIMATE_AFTER
    yield build_call(at, "GET", f"{path}/estimate", name=f"{one.name} estimate", **auth)
    yield build_call(at, "POST", f"{path}/render", name=f"{one.name} render", **auth)


def clip_calls_in_work(
    one: PastStoryboard, at: datetime, path: str, auth: Mapping[str, str]
) -> Iterator[Call]:
    ids = [f"{{{one.name} scenes.data.scenes.{place}.id}}" for place in range(FAILED_SCENE + 1)]
    first = {"name": f"{one.name} clips", "body": {"scenes": ids[:FIRST_CLIPS]}}
    yield build_call(at + CLIPS_AFTER, "POST", f"{path}/clips", **first, **auth)
    at += MORE_CLIPS_AFTER
    yield build_call(at, "POST", "/_sandbox/outcomes", body=FAILED_CLIP)
    second = {"name": f"{one.name} more clips", "body": {"scenes": ids[FAILED_SCENE:]}}
    yield build_call(at, "POST", f"{path}/clips", **second, **auth)


def store_storyboards(rows: PastRows, engine_ids: Mapping[str, int]) -> None:
    """Add the portal's rows of the storyboards, and save them."""
    built = [build_storyboard(rows, one) for one in PAST_STORYBOARDS]
    for one, (storyboard, scenes, job) in zip(PAST_STORYBOARDS, built, strict=True):
        record = rows.answers[f"{one.name} read"].data
        content = copy_content(
            storyboard, scenes, engine_ids[one.engine], {}, mode=storyboard.mode, unready={}
        )
        remote = [
            {**entry, "remote_id": row["id"]}
            for entry, row in zip(content["scenes"], record["scenes"], strict=True)
        ]
        sent = {**content, "scenes": remote}
        draft = Draft(job=job, settings=content, sent_settings=sent, edited_at=job.created_at)
        rows.jobs.append(job)
        rows.drafts.append(draft)
        if one.is_written:
            add_writing(rows, one, job)
            add_clips(rows, one, job, scenes[:FIRST_CLIPS], "clips")
            add_clips(rows, one, job, scenes[FAILED_SCENE : FAILED_SCENE + 1], "more clips")
        else:
            add_clips(rows, one, job, scenes, "clips")
            add_film(rows, one, job, draft, record)
    rows.save()
    for one, (storyboard, scenes, job) in zip(PAST_STORYBOARDS, built, strict=True):
        save_document(one, storyboard, scenes, job)
        store_scene_clips(rows, one, job)


def build_storyboard(
    rows: PastRows, one: PastStoryboard
) -> tuple[Storyboard, list[StoryboardScene], Job]:
    """The storyboard as its scenes were sent; nothing is saved."""
    created, written = rows.answers[one.name], rows.answers[f"{one.name} scenes"]
    member, token = rows.members[one.member].user, rows.tokens[one.member]
    owner = {"tenant_id": rows.account.tenant_id, "account": rows.account, "token": token}
    storyboard = Storyboard(
        **owner,
        member=member,
        title=one.title,
        mode=StoryboardMode.WIZARD if one.is_written else StoryboardMode.MANUAL,
        description=one.description,
        style=one.style,
        scene_count=one.scene_count,
        engine=one.engine,
        **FORMATS,
        created_at=created.at,
        edited_at=written.at,
    )
    chained = [is_chained for _, _, is_chained in one.scenes] or [False] * one.scene_count
    scenes = [
        StoryboardScene(
            storyboard=storyboard,
            position=place,
            prompt=row["raw_video_prompt"],
            duration=row["duration"],
            is_chained=chained[place - 1],
            edited_by=member,
            edited_at=written.at,
            created_at=written.at,
        )
        for place, row in enumerate(written.data["scenes"], start=1)
    ]
    job = Job(
        **owner,
        member=member,
        kind=JobKind.STORYBOARD,
        remote_id=str(created.data["id"]),
        title=one.title,
        created_at=created.at,
    )
    return storyboard, scenes, job


def add_writing(rows: PastRows, one: PastStoryboard, job: Job) -> None:
    answer = rows.answers[f"{one.name} scenes"]
    price = pricing.script_credits(rows.account)
    charge = rows.build_charge(job, WRITING_OPERATION, answer.at, price)
    charge.body = one.writing_body
    rows.settle_charge(charge, answer_cost(answer), 200)


def add_clips(
    rows: PastRows, one: PastStoryboard, job: Job, scenes: list[StoryboardScene], name: str
) -> None:
    """The order of clips: it charges nothing, the film does."""
    answer = rows.answers[f"{one.name} {name}"]
    model = find_clip_model(account_clip_models(rows.account), one.engine)
    prices = (
        estimate_from_list(model, {**FORMATS, "duration": scene.duration}) if model else None
        for scene in scenes
    )
    price = sum((price for price in prices if price is not None), Decimal(0))
    charge = rows.build_charge(job, SCENE_CLIPS_OPERATION, answer.at, price)
    charge.body = {"scenes": [str(scene.pk) for scene in scenes]}
    rows.settle_charge(charge, answer_cost(answer), 202)


def answer_cost(answer: ReplayAnswer) -> Decimal:
    """The credits of an answer that charges nothing as the sandbox is set."""
    return Decimal(answer.cost) if (answer.body.get("meta") or {}).get("credits") else Decimal(0)


def add_film(
    rows: PastRows, one: PastStoryboard, job: Job, draft: Draft, record: dict[str, Any]
) -> None:
    answer = rows.answers[f"{one.name} render"]
    estimate = Decimal(str(rows.answers[f"{one.name} estimate"].data["cost"]))
    charge: Charge = rows.build_charge(job, STORYBOARD_RENDER_OPERATION, answer.at, estimate)
    rows.settle_charge(charge, Decimal(answer.cost), 202)
    draft.estimate, draft.estimate_as_of = estimate, rows.answers[f"{one.name} estimate"].at
    reading = KINDS[JobKind.STORYBOARD].read_status(record)
    job.state, job.raw_status = reading.state or JobState.RUNNING, reading.raw_status
    job.started_at = charge.applied_at
    job.polled_at = job.finished_at = answer.at + FILM_DURATION
    job.media_url, job.poster_url = reading.media_url, reading.poster_url
    job.media_as_of = job.finished_at if reading.media_url else None


def save_document(
    one: PastStoryboard, storyboard: Storyboard, scenes: list[StoryboardScene], job: Job
) -> None:
    """Save the storyboard; a scene of the one in work is changed after its clip."""
    if one.is_written:
        changed, edited_at = scenes[CHANGED_SCENE], storyboard.created_at + EDIT_AFTER
        changed.prompt, changed.edited_at = CHANGED_PROMPT, edited_at
        storyboard.edited_at = edited_at
    storyboard.copy = job
    storyboard.save(force_insert=True)
    StoryboardScene.objects.bulk_create(scenes)
    StoryboardCopy.objects.create(job=job, storyboard=storyboard)


def store_scene_clips(rows: PastRows, one: PastStoryboard, job: Job) -> None:
    """Store the clips as the last read showed them, with the times of their orders."""
    read = rows.answers[f"{one.name} read"]
    KINDS[JobKind.STORYBOARD].store_parts(job, read.data, read.at)
    parts = list(job.parts.select_related("charge"))
    for part in parts:
        ordered_at = part.charge.sent_at if part.charge and part.charge.sent_at else read.at
        part.created_at, part.finished_at = ordered_at, ordered_at + CLIP_DURATION
    JobPart.objects.bulk_update(parts, ["created_at", "finished_at"])
