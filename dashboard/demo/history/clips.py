"""Clips of the demo's past: made at the sandbox like everything of it, one of them failed and
refunded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from dashboard.demo.history.replay import Call, ReplayAnswer, build_call
from dashboard.demo.history.rows import REQUEST_DURATION, PastRows
from proxyapi.kinds import CREATE_CLIP_OPERATION, KINDS, clip_body
from proxyapi.models import Draft, Job, JobKind, JobState
from proxyapi.models.duration_class import duration_class_of

READ_AFTER = timedelta(minutes=4)
POLL_DELAY = timedelta(seconds=50)  # from the order to the poll that saw the end
FAILURE = {"code": "GENERATION-FAILED", "message": "Provider timed out."}
FAILED_OUTCOME = {
    "kind": "text-to-video",
    "statuses": ["draft", "processing", "failed"],
    "failure": FAILURE,
}


class PastClip(NamedTuple):
    """`settings` are those of the draft without the prompt; `days` and `minutes` before now."""

    member: str
    days: int
    minutes: int
    settings: dict[str, Any]
    prompt: str
    fails: bool = False

    @property
    def name(self) -> str:
        return f"clip {self.days} {self.minutes}"

    @property
    def chosen(self) -> dict[str, Any]:
        return {**self.settings, "prompt": self.prompt}


def frame(model: str, duration: int, resolution: str, ratio: str, **more: str) -> dict[str, Any]:
    options = {"duration": duration, "resolution": resolution, "aspect_ratio": ratio}
    return {"model": model, **options, **more}


PAST_CLIPS = (
    PastClip("Luca", 24, 310, frame("brook", 5, "720p", "16:9"), "Waves fold over black sand"),
    PastClip(
        "Priya",
        22,
        95,
        frame("kestrel", 10, "1080p", "16:9"),
        "An octopus unfolds in shafts of light above a reef",
    ),
    PastClip(
        "Luca",
        19,
        220,
        frame("brook", 8, "720p", "9:16"),
        "A loaf steams on a dark table, macro, vertical, flour in the air",
    ),
    PastClip(
        "Priya",
        17,
        130,
        frame("kestrel-voice", 5, "720p", "16:9", audio="on"),
        "A crowd on a platform turns towards the camera as a train arrives",
        fails=True,
    ),
    PastClip(
        "Luca",
        14,
        180,
        frame("marlow-02", 6, "1080P", "16:9"),
        "Aurora over a silent ridge, mirrored in a lake, locked horizon",
    ),
    PastClip(
        "Mira",
        12,
        250,
        frame("halden", 4, "720p", "16:9", audio="off"),
        "Slow dolly through a glass workshop, furnace glow on every face",
    ),
)


def clip_calls(now: datetime, tokens: Mapping[str, str]) -> Iterator[Call]:
    for clip in PAST_CLIPS:
        at = now - timedelta(days=clip.days, minutes=clip.minutes)
        auth, name = {"token": tokens[clip.member]}, clip.name
        if clip.fails:
            yield build_call(at, "POST", "/_sandbox/outcomes", body=FAILED_OUTCOME)
        body = clip_body(clip.chosen)
        yield build_call(at, "POST", "/v2/text-to-video", name=name, body=body, **auth)
        path = f"/v2/text-to-video/{{{name}.data.asset.id}}"
        yield build_call(at + READ_AFTER, "GET", path, name=f"{name} read", **auth)


def store_clips(rows: PastRows) -> None:
    """Add the portal's rows of the clips, and save them."""
    for clip in PAST_CLIPS:
        add_clip(rows, clip, rows.answers[clip.name], rows.answers[f"{clip.name} read"])
    rows.save()


def add_clip(rows: PastRows, clip: PastClip, created: ReplayAnswer, read: ReplayAnswer) -> None:
    price, ended_at = Decimal(created.cost), created.at + POLL_DELAY
    reading = KINDS[JobKind.CLIP].read_status(read.data)
    job = Job(
        tenant_id=rows.account.tenant_id,
        account=rows.account,
        token=rows.tokens[clip.member],
        member=rows.members[clip.member].user,
        kind=JobKind.CLIP,
        remote_id=str(created.data["asset"]["id"]),
        title=clip.prompt,
        state=reading.state or JobState.RUNNING,
        raw_status=reading.raw_status,
        failure_code=reading.failure_code,
        failure_message=reading.failure_message,
        media_url=reading.media_url,
        media_as_of=ended_at if reading.media_url else None,
        created_at=created.at - REQUEST_DURATION,
        started_at=created.at,
        finished_at=ended_at,
        polled_at=ended_at,
    )
    job.subtype, job.length = duration_class_of(clip.chosen)
    draft = Draft(
        job=job, settings=clip.chosen, sent_settings=clip.chosen, edited_at=job.created_at
    )
    draft.estimate, draft.estimate_as_of = price, job.created_at
    charge = rows.build_charge(job, CREATE_CLIP_OPERATION, created.at, price)
    charge.body = clip_body(clip.chosen)
    rows.settle_charge(charge, price, 202)
    if reading.state == JobState.FAILED:
        charge.refund_owed_at = ended_at
    rows.jobs.append(job)
    rows.drafts.append(draft)
