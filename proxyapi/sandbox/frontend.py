"""The front of the sandbox: everything a request passes before and after the routes.

For /v2: what holds a request back, then token and rate limit by the headers alone, then the body,
then faults, then the routes, then the journal, then saving; only then is the request answered. The
control plane and media are neither limited nor journaled.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proxyapi.sandbox import client_checks, envelope, faults, rate_limits, tokens, top_up, uploads
from proxyapi.sandbox.errors import ApiError, PayloadTooLarge, TooManyRequests
from proxyapi.sandbox.faults import FaultedAnswer
from proxyapi.sandbox.job_runner import JobRunner
from proxyapi.sandbox.records import Charge, Fault, JournalLine
from proxyapi.sandbox.world import World

log = logging.getLogger("sandbox")
NO_CALLER = "nobody"


class ServedAnswer(NamedTuple):
    answer: FaultedAnswer
    fault: Fault | None
    charges: list[Charge]


class SandboxFrontend:
    def __init__(self, app: ASGIApp, studio: JobRunner) -> None:
        self._app = app
        self._studio = studio

    @property
    def _world(self) -> World:
        return self._studio.world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._studio.tick()
        for late in faults.arrived_requests(self._world):
            await self._serve(late.scope, _replay_body(late.body), late.fault)
        if scope["path"].startswith("/v2/"):
            await self._handle_request(scope, receive, send)
        else:
            await self._app(scope, receive, self._saving(send))

    def _saving(self, send: Send) -> Send:
        async def save_then_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._studio.tick()  # a job that was just started begins at once
                self._studio.save()
            await send(message)

        return save_then_send

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if (late := self._pick(scope, between=True)) is not None:
                await self._hold_back(late, scope, receive)
                return
            served = await self._serve(scope, receive)
        except ClientDisconnect:
            return
        wait = self._world.clock.machine_seconds(scope["sandbox.wait"][0])
        if not await _deliver(served.answer, served.fault, scope, send, wait):
            self._mark_answered(served.charges, answered=False)
            self._world.commit()
            await receive()  # the server's word that the connection is gone

    async def _hold_back(self, late: Fault, scope: Scope, receive: Receive) -> None:
        """Cut the connection; the request arrives later."""
        body = b""
        with suppress(PayloadTooLarge):  # by its headers it is so then, too
            body = await _read_body(scope, receive, uploads.max_body_bytes(self._world.settings))
        faults.hold_request(self._world, late, scope, body)
        self._studio.save()
        faults.cut_connection(late, scope.get("state", {}).get("transport"))
        await receive()

    def _pick(self, scope: Scope, *, between: bool = False) -> Fault | None:
        presented = tokens.bearer_token(scope["headers"])
        token = self._world.tokens.get(tokens.token_digest(presented)) if presented else None
        account = token.account_id if token else None
        return faults.pick_fault(
            self._world, scope["method"], scope["path"], account, between=between
        )

    async def _serve(
        self, scope: Scope, receive: Receive, late: Fault | None = None
    ) -> ServedAnswer:
        """Handle a request that is there; `late`: the fault that held it back. Raises
        ClientDisconnect."""
        world, method, path = self._world, scope["method"], scope["path"]
        presented = tokens.bearer_token(scope["headers"])
        key = tokens.token_digest(presented) if presented else NO_CALLER
        token = world.tokens.get(key)
        allowance = rate_limits.count_request(world, key)
        body = b""
        refused: ApiError | None = None if allowance.allowed else TooManyRequests()
        if refused is None and token is not None and not token.revoked:  # else nobody reads it
            try:
                body = await _read_body(scope, receive, uploads.max_body_bytes(world.settings))
            except PayloadTooLarge as error:
                refused = error
        visit = JournalLine(
            id=world.number("visit"),
            at=world.now,
            token=key[:12] if presented else None,
            method=method,
            path=path,
            status=None,
        )
        digests = _request_digest(scope, body, path), _request_digest(scope, body, "")
        scope["sandbox.token"], scope["sandbox.request"] = token, (*digests, visit.id)
        scope["sandbox.wait"] = [0.0]
        charges: list[Charge] = []
        scope["sandbox.charges"] = charges
        told = [
            (name.lower().encode(), value.encode())
            for name, value in allowance.headers(world.now).items()
        ]
        fault = late
        if refused is not None:
            answer = _refusal_answer(refused, world)
        else:
            fault = late or self._pick(scope)
            answer = await self._run_request(scope, body, fault)
        answer = answer._replace(headers=[*answer.headers, *told])
        if fault is not None:
            visit.fault = f"{fault.action} {fault.when}"
            answer = faults.replacement_answer(fault, told, world.now) or faults.damage_answer(
                fault, answer
            )
        self._finish_request(visit, charges, answer, fault)
        return ServedAnswer(answer, fault, charges)

    async def _run_request(self, scope: Scope, body: bytes, fault: Fault | None) -> FaultedAnswer:
        if not faults.does_work(fault):
            return FaultedAnswer(500, [], b"")
        try:
            answer = await capture_answer(self._app, scope, body)
        except Exception:
            log.exception("%s %s", scope["method"], scope["path"])
            return _refusal_answer(ApiError(), self._world)
        self._studio.tick()
        return answer

    def _finish_request(
        self, visit: JournalLine, charges: list[Charge], answer: FaultedAnswer, fault: Fault | None
    ) -> None:
        """Write the journal, let the top-up rules look, save."""
        world = self._world
        self._mark_answered(
            charges, answered=fault is None or fault.action in faults.HARMLESS_FAULTS
        )
        for charge in charges:
            visit.charge += charge.credits
            if charge.credits:
                top_up.top_up_if_due(world, charge.account_id)
                client_checks.after_charge(world, charge)
        silent = fault is not None and fault.action in ("close", "reset", "stall", "late")
        visit.status = None if silent else answer.status
        world.visits.put(visit)
        while len(world.visits) > world.settings.journal_lines:
            world.visits.drop(next(iter(world.visits.rows)))
        if visit.id % 1000 == 0:
            rate_limits.drop_old_windows(world)
        self._studio.save()

    def _mark_answered(self, charges: list[Charge], *, answered: bool) -> None:
        """Keep whether the client learned of what it was charged."""
        for charge in charges:
            charge.answered = answered
            if self._world.charges.get(charge.id) is charge:  # not of a world that was reset
                self._world.charges.put(charge)


async def _deliver(
    answer: FaultedAnswer, fault: Fault | None, scope: Scope, send: Send, wait: float
) -> bool:
    """Send the answer after a wait, as the fault lets it; False if the connection was cut."""
    transport = scope.get("state", {}).get("transport")
    if wait:
        await asyncio.sleep(wait)
    if fault is not None:
        await faults.wait_for_fault(fault)
    if transport is not None and transport.is_closing():
        return False  # the client did not wait for so long
    if fault is not None and fault.action in ("close", "reset", "stall"):
        faults.cut_connection(fault, transport)
        return False
    headers = [pair for pair in answer.headers if pair[0] != b"content-length"]
    headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if fault is not None and fault.action == "half_body":
        half = answer.body[: len(answer.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        faults.cut_connection(fault, transport)
        return False
    await send({"type": "http.response.body", "body": answer.body})
    return True


def _request_digest(scope: Scope, body: bytes, path: str) -> str:
    """What makes two requests the same; a form's boundary is another one each time."""
    kinds = [value for name, value in scope["headers"] if name.lower() == b"content-type"]
    _, marked, boundary = b"".join(kinds).partition(b"boundary=")
    if marked and boundary:
        body = body.replace(boundary.strip(b'"'), b"")
    parts = [scope["method"].encode(), path.encode(), body]
    return sha256(b"\0".join(parts)).hexdigest()


def _refusal_answer(error: ApiError, world: World) -> FaultedAnswer:
    response = envelope.refusal_body(error, world.settings)
    return FaultedAnswer(response.status_code, list(response.raw_headers), bytes(response.body))


async def _read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """The body. Raises PayloadTooLarge without keeping more than `most` bytes of it, and
    ClientDisconnect when the client left before it was whole; the server throws the rest away."""
    lengths = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
    if any(length.isdigit() and int(length) > most for length in lengths):
        raise PayloadTooLarge
    body, is_more = bytearray(), True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
        if len(body) > most:
            raise PayloadTooLarge
    return bytes(body)


def _replay_body(body: bytes) -> Receive:
    """What gives a body that was read already."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def capture_answer(app: ASGIApp, scope: Scope, body: bytes) -> FaultedAnswer:
    """Run the routes on a body already read, and keep what they answer."""
    kept: dict[str, Any] = {"status": 500, "headers": []}
    parts: list[bytes] = []
    receive = _replay_body(body)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept["status"], kept["headers"] = message["status"], list(message["headers"])
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return FaultedAnswer(kept["status"], kept["headers"], b"".join(parts))
