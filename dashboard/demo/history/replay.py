"""The demo's past at the sandbox: its calls in order of time, and what they answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dashboard.demo.history.plan import PastVideo, VideoCourse
from dashboard.demo.sandbox_admin import SandboxAdmin

# From the start of a video to each step.
PAGE_AFTER = timedelta(seconds=25)
SCRIPT_AFTER = timedelta(seconds=40)
SETTINGS_AFTER = timedelta(minutes=3)
RENDER_AFTER = timedelta(minutes=3, seconds=30)
READ_AFTER = timedelta(minutes=4, seconds=30)
RETRY_AFTER = timedelta(minutes=6)
LAST_READ_AFTER = timedelta(minutes=8)
FAILURES = (
    ("SCENE-IMAGE-FAILED", "Image for scene 3 could not be made."),
    ("FOOTAGE-NOT-FOUND", "No footage was found for two sentences."),
)
RENDERED_COURSES = frozenset(
    {
        VideoCourse.COMPLETED,
        VideoCourse.FAILED,
        VideoCourse.RETRIED,
        VideoCourse.ANSWER_LOST,
    }
)


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """What one call of the past answered; `status` is None if its answer was lost."""

    at: datetime
    status: int | None
    body: Any

    @property
    def data(self) -> dict[str, Any]:
        """The resource. Raises `KeyError` for a refusal, which a past has none of."""
        data: dict[str, Any] = self.body["data"]
        return data

    @property
    def cost(self) -> str:
        """The credits that it was charged, as text."""
        return str(self.body["meta"]["credits"]["cost"])


Call = dict[str, Any]


def build_call(at: datetime, method: str, path: str, **parts: Any) -> Call:
    return {"at": at.isoformat(), "method": method, "path": path, **parts}


def run_calls(sandbox: SandboxAdmin, calls: Sequence[Call]) -> dict[str, ReplayAnswer]:
    """The answers of the named calls by their names. Raises `OSError` if one was refused."""
    answers = sandbox.replay(calls)
    for call, answer in zip(calls, answers, strict=True):
        status = answer["status"]
        if status is not None and status >= 400:
            raise OSError(f"the sandbox answered {status} to {call['method']} {call['path']}")
    return {
        call["name"]: ReplayAnswer(
            datetime.fromisoformat(call["at"]), answer["status"], answer["body"]
        )
        for call, answer in zip(calls, answers, strict=True)
        if call.get("name")
    }


def video_calls(video: PastVideo, token: str, account_id: int) -> Iterator[Call]:
    """The calls of a video from its draft to the last look at it."""
    name, at = video.name, video.at
    path, auth = f"/v2/faceless/{{{name}.data.id}}", {"token": token}
    draft = first_settings(video)
    yield build_call(at, "POST", "/v2/faceless", name=name, body=draft, **auth)
    if video.course is VideoCourse.NOT_PRICED:
        return
    if video.page:
        at = video.at + PAGE_AFTER
        page_name, body = f"{name} page", {"url": video.page}
        yield build_call(at, "POST", f"{path}/scrape-images", name=page_name, body=body, **auth)
    method, suffix = ("POST", "scrape-script") if video.page else ("PUT", "scripts")
    at, script = video.at + SCRIPT_AFTER, {"name": f"{name} script", "body": script_body(video)}
    yield build_call(at, method, f"{path}/{suffix}", **script, **auth)
    at = video.at + SETTINGS_AFTER
    yield build_call(at, "PATCH", path, body=video.settings, **auth)
    yield build_call(at, "GET", f"{path}/estimate", name=f"{name} estimate", **auth)
    if video.course in RENDERED_COURSES:
        yield from render_calls(video, path, auth, account_id)


def render_calls(
    video: PastVideo, path: str, auth: Mapping[str, str], account_id: int
) -> Iterator[Call]:
    name, at = video.name, video.at + RENDER_AFTER
    if video.course in (VideoCourse.FAILED, VideoCourse.RETRIED):
        code, message = FAILURES[video.type == "b-roll"]
        failure = {"code": code, "message": message}
        outcome = {"statuses": ["rendering", "failed"], "failure": failure}
        yield build_call(at, "POST", "/_sandbox/outcomes", body=outcome)
    if video.course is VideoCourse.ANSWER_LOST:
        match = {"path": "*/render", "account_id": account_id}
        fault = {"match": match, "when": "after", "action": "close", "times": 1}
        yield build_call(at, "POST", "/_sandbox/faults", body=fault)
    yield build_call(at, "POST", f"{path}/render", name=f"{name} render", **auth)
    yield build_call(video.at + READ_AFTER, "GET", path, name=f"{name} read", **auth)
    if video.course is VideoCourse.RETRIED:
        retry = f"{name} retry"
        yield build_call(video.at + RETRY_AFTER, "POST", f"{path}/retry", name=retry, **auth)
        yield build_call(video.at + LAST_READ_AFTER, "GET", path, name=f"{name} read", **auth)


def first_settings(video: PastVideo) -> dict[str, Any]:
    """What a draft is created with."""
    topic = {} if video.page else {"topic": video.title}
    return {"type": video.type, "title": video.title, **topic}


def script_body(video: PastVideo) -> dict[str, Any]:
    style, tone = video.style
    return {
        **({"url": video.page} if video.page else {"topic": video.title}),
        "duration": video.seconds,
        "style": style,
        "tone": tone,
        "language": "English",
    }
