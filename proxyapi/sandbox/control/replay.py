"""Replay: requests at instants of the past, handled in order as if each had come then."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, Base64Bytes, BaseModel, ConfigDict, Field
from starlette.types import ASGIApp, Scope

from proxyapi.sandbox.control.dependencies import JobRunnerDep, require_unicode
from proxyapi.sandbox.faults import ConnectionLost
from proxyapi.sandbox.frontend import capture_answer
from proxyapi.sandbox.job_runner import JobRunner

router = APIRouter()

_REFERENCE = re.compile(r"{([^{}]+)}")
_BOUNDARY = b"replayed-file"


class ReplayedFile(BaseModel):
    """A field of a form with a file; the body has the other fields."""

    model_config = ConfigDict(extra="forbid")

    field: str
    name: str
    content_type: str
    content: Base64Bytes


class ReplayedCall(BaseModel):
    """A request. `{name.key.key}` in its path, its token, or as a value of its body or of a list in
    it is a value of the answer named so before; a key of a list is a number from 0.

    Only answers with a `name` are answered with their body.
    """

    model_config = ConfigDict(extra="forbid")

    at: AwareDatetime
    method: str
    path: str
    token: str = ""
    body: Any = None
    file: ReplayedFile | None = None
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
    nothing changed, for calls out of order, before 1970 or after the present, or a reference to no
    answer.
    """
    calls, clock = wanted.calls, studio.world.clock
    require_unicode(wanted.model_dump(mode="json"))
    instants = [call.at.timestamp() for call in calls]
    if instants != sorted(instants) or not all(0 <= at <= clock.now() for at in instants):
        raise HTTPException(422, "The calls are in order of time, from 1970 to the present.")
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
    content_type, sent = _encode_body(call, named)
    headers = [(b"host", b"127.0.0.1"), (b"content-type", content_type)]
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
    try:
        answer = await capture_answer(app, scope, sent)
    except ConnectionLost:
        return None, None
    return answer.status, json.loads(answer.body) if answer.body else None


def _encode_body(call: ReplayedCall, named: dict[str, Any]) -> tuple[bytes, bytes]:
    """The content type and the bytes of the body: a form with the file, else JSON."""
    body = call.body
    if isinstance(body, dict):
        body = {name: _fill_value(value, named) for name, value in body.items()}
    if call.file is None:
        return b"application/json", b"" if body is None else json.dumps(body).encode()
    file = call.file
    named_file = f'name="{file.field}"; filename="{file.name}"\r\nContent-Type: {file.content_type}'
    parts = [_form_part(f'name="{name}"', str(body[name]).encode()) for name in body or ()]
    sent = b"".join([*parts, _form_part(named_file, file.content), b"--", _BOUNDARY, b"--\r\n"])
    return b"multipart/form-data; boundary=" + _BOUNDARY, sent


def _form_part(head: str, content: bytes) -> bytes:
    disposition = f"Content-Disposition: form-data; {head}\r\n\r\n".encode()
    return b"--" + _BOUNDARY + b"\r\n" + disposition + content + b"\r\n"


def _fill_value(value: Any, named: dict[str, Any]) -> Any:
    """The value that a text refers to, as it was answered; any other value as it is."""
    if isinstance(value, list):
        return [_fill_value(one, named) for one in value]
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return _find_value(found[1], named) if found else value


def _fill_in(text: str, named: dict[str, Any]) -> str:
    """The text with its references."""
    return _REFERENCE.sub(lambda found: str(_find_value(found[1], named)), text)


def _find_value(reference: str, named: dict[str, Any]) -> Any:
    """Raises 422 for a reference that leads nowhere."""
    at: Any = named
    for key in reference.split("."):
        if isinstance(at, list) and key.isdecimal() and int(key) < len(at):
            at = at[int(key)]
        elif isinstance(at, dict) and key in at:
            at = at[key]
        else:
            raise HTTPException(422, f"There is no {{{reference}}} before this call.")
    return at
