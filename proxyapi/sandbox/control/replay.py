"""Replay: requests at instants of the past, handled in order as if each had come then."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.types import ASGIApp, Scope

from proxyapi.sandbox.control.dependencies import JobRunnerDep, require_unicode
from proxyapi.sandbox.faults import ConnectionLost
from proxyapi.sandbox.frontend import capture_answer
from proxyapi.sandbox.job_runner import JobRunner

router = APIRouter()

_REFERENCE = re.compile(r"{([^{}]+)}")


class ReplayedCall(BaseModel):
    """A request. `{name.key.key}` in its path and token is a value of the answer named so before.
    With a `content_type` the body is a text of Latin-1 that is sent as it is, such as a form with
    files; else it is sent as JSON.

    Only answers with a `name` are answered with their body.
    """

    model_config = ConfigDict(extra="forbid")

    at: AwareDatetime
    method: str
    path: str
    token: str = ""
    body: Any = None
    content_type: str = ""
    name: str = ""


class Replay(BaseModel):
    model_config = ConfigDict(extra="forbid")

    calls: list[ReplayedCall] = Field(max_length=20_000)


class ReplayedAnswer(BaseModel):
    """`status` is null where a fault cut the connection."""

    status: int | None
    body: Any = None


class ReplayResult(BaseModel):
    answers: list[ReplayedAnswer]


@router.post("/replay", response_model=ReplayResult)
async def replay_calls(request: Request, studio: JobRunnerDep, wanted: Replay) -> JSONResponse:
    """Handle the calls at their instants, and save all of it at the end or nothing.

    For accounts that the calls make: a ledger is in the order of its making. Films are promised,
    not made: each is made when somebody asks for it. Afterwards the clock is as before. 422, and
    nothing changed, for calls out of order or after the present, or a reference to no answer.
    """
    calls, clock = wanted.calls, studio.world.clock
    require_unicode(wanted.model_dump(mode="json"))
    instants = [call.at.timestamp() for call in calls]
    if instants != sorted(instants) or (instants and not 0 <= instants[-1] <= clock.now()):
        raise HTTPException(422, "The calls are in order of time, and none after the present.")
    before, present = studio.world.snapshot(), clock.state
    named: dict[str, Any] = {}
    answers: list[dict[str, Any]] = []
    with studio.world.held_commits(), studio.promised_films():
        try:
            for call, instant in zip(calls, instants, strict=True):
                advance_to(studio, instant)
                status, body = await _send(request.app, call, named)
                named[call.name] = body
                answers.append({"status": status, "body": body if call.name else None})
        except BaseException:
            studio.world.restore(before)
            raise
        finally:
            clock.state = present
        advance_to(studio, clock.now())
        clock.state = present
    return JSONResponse({"answers": answers})


def advance_to(studio: JobRunner, instant: float) -> None:
    """Put a frozen clock forward; each job that changes on the way does so in its own time."""
    world = studio.world
    world.clock.set_mode("frozen", now=min(instant, world.now))
    while world.agenda and world.agenda[0][0] <= instant:
        world.clock.set_mode("frozen", now=max(world.now, world.agenda[0][0]))
        studio.tick()
    world.clock.set_mode("frozen", now=instant)
    studio.tick()


async def _send(app: ASGIApp, call: ReplayedCall, named: dict[str, Any]) -> tuple[int | None, Any]:
    path, _, query = _fill_in(call.path, named).partition("?")
    kind = call.content_type or "application/json"
    headers = [(b"host", b"127.0.0.1"), (b"content-type", kind.encode())]
    if call.token:
        headers.append((b"authorization", f"Bearer {_fill_in(call.token, named)}".encode()))
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": call.method,
        "scheme": "http",
        "path": path,
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
    }
    sent = b"" if call.body is None else json.dumps(call.body).encode()
    if call.content_type:
        sent = str(call.body).encode("latin-1", "replace")
    try:
        answer = await capture_answer(app, scope, sent)
    except ConnectionLost:
        return None, None
    return answer.status, json.loads(answer.body) if answer.body else None


def _fill_in(text: str, named: dict[str, Any]) -> str:
    """The text with its references; raises 422 for one that leads nowhere."""

    def value(found: re.Match[str]) -> str:
        at: Any = named
        for key in found[1].split("."):
            if not isinstance(at, dict) or key not in at:
                raise HTTPException(422, f"There is no {found[0]} before this call.")
            at = at[key]
        return str(at)

    return _REFERENCE.sub(value, text)
