"""Bad days on demand: which request suffers, and how its answer does.

`when: before` means that the work is not done; `after` that it is done and charged, and only
the answer suffers. Faults of the connection act on the real socket where there is one. A `late`
request is held back, and handled when its time has come.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Iterator
from fnmatch import fnmatchcase
from heapq import heappop, heappush
from random import Random
from typing import Any, Literal, NamedTuple, Protocol, get_args

from starlette.types import Scope

from proxyapi.sandbox.records import Fault
from proxyapi.sandbox.world import InFlight, World

Action = Literal[
    "status",
    "html",
    "latency",
    "stall",
    "malformed_json",
    "drop_meta",
    "rate_limited",
    "half_body",
    "close",
    "reset",
    "late",
]
ACTIONS: tuple[Action, ...] = get_args(Action)
# Actions that need the work to be done: they spoil the answer that it gave.
BODY_FAULTS = ("malformed_json", "drop_meta", "half_body")
# Actions after which the client has the whole answer, if late or without its meta.
HARMLESS_FAULTS = ("latency", "drop_meta")
# Actions of what lies between client and service: the request is not seen by the service yet.
NETWORK_FAULTS = ("late",)
# HTTP allows these no body: one that is sent breaks the connection.
BODILESS = (204, 304)


Headers = list[tuple[bytes, bytes]]


class FaultedAnswer(NamedTuple):
    status: int
    headers: Headers
    body: bytes


class Transport(Protocol):
    """What is used of asyncio's transport."""

    def close(self) -> None: ...

    def abort(self) -> None: ...

    def is_closing(self) -> bool: ...

    def get_extra_info(self, name: str) -> Any: ...


class ConnectionLost(ConnectionResetError):
    """The fault of a connection, where there is no socket to act on."""


def pick_fault(
    world: World, method: str, path: str, account_id: int | None, *, between: bool = False
) -> Fault | None:
    """The first fault that fires for this request, of the service or of what lies before it."""
    for fault in list(world.faults):
        is_between = fault.action in NETWORK_FAULTS
        if is_between != between or not _matches(fault.match, method, path, account_id):
            continue
        fault.matched += 1
        world.faults.put(fault)
        if _fires(fault):
            fault.fired += 1
            return fault
    return None


def _matches(match: dict[str, Any], method: str, path: str, account_id: int | None) -> bool:
    wanted_method, wanted_path = match.get("method"), match.get("path")
    return (
        (wanted_method is None or wanted_method.upper() == method)
        and (wanted_path is None or fnmatchcase(path, wanted_path))
        and match.get("account_id") in (None, account_id)
    )


def _fires(fault: Fault) -> bool:
    if fault.times is not None and fault.fired >= fault.times:
        return False
    nth = fault.match.get("nth")
    if nth is not None and fault.matched != nth:
        return False
    # Not for cryptography: the same seed must fire at the same requests again.
    chance = Random(f"{fault.seed}/{fault.matched}").random()  # noqa: S311
    return chance < fault.probability


def does_work(fault: Fault | None) -> bool:
    """Whether the request is handled although the fault fires."""
    return (
        fault is None
        or fault.when == "after"
        or fault.action in (*BODY_FAULTS, *NETWORK_FAULTS, "latency")
    )


def replacement_answer(fault: Fault, headers: Headers, now: float) -> FaultedAnswer | None:
    """The answer that takes the place of the true one, or None if the true one is kept.

    An HTML page comes from something before the API, so it carries no rate headers.
    """
    options = fault.options
    if fault.action == "html":
        code = int(options.get("code") or 502)
        page = f"<html><head><title>{code}</title></head><body><h1>{code}</h1></body></html>"
        raw = b"" if code in BODILESS else page.encode()
        return FaultedAnswer(code, [(b"content-type", b"text/html")], raw)
    if fault.action == "status":
        code = int(options.get("code") or 500)
        body = options.get("body")
        if body is None:
            error = {"code": "GEN-API-ERROR", "message": "An unexpected error occurred."}
            body = {"message": error["message"], "status": code, "error": error}
        own = [(k.encode(), str(v).encode()) for k, v in (options.get("headers") or {}).items()]
        return _json(code, body, [*headers, *own])
    if fault.action == "rate_limited":
        wait = int(options.get("retry_after") or 60)
        error = {"code": "GEN-TOO-MANY-REQUESTS", "message": "Too many requests."}
        body = {"message": error["message"], "status": 429, "error": error}
        kept = [pair for pair in headers if pair[0] != b"x-ratelimit-remaining"]
        own = [
            (b"x-ratelimit-remaining", b"0"),
            (b"retry-after", str(wait).encode()),
            (b"x-ratelimit-reset", str(int(now) + wait).encode()),
        ]
        return _json(429, body, [*kept, *own])
    return None


def damage_answer(fault: Fault, answer: FaultedAnswer) -> FaultedAnswer:
    """The true answer, damaged."""
    if fault.action == "malformed_json":
        return answer._replace(body=answer.body[: max(1, len(answer.body) * 2 // 3)])
    if fault.action == "drop_meta":
        body = json.loads(answer.body)
        if isinstance(body, dict):
            body.pop("meta", None)
        return answer._replace(body=json.dumps(body).encode())
    return answer


def hold_request(world: World, fault: Fault, scope: Scope, body: bytes) -> None:
    """Keep the request until it arrives, with the first request after that instant."""
    at = world.now + float(fault.options.get("seconds") or 30)
    heappush(world.in_flight, InFlight(at, world.number("in flight"), scope, body, fault))


def arrived_requests(world: World) -> Iterator[InFlight]:
    """The requests that were held back until now, in the order of their arrival."""
    while world.in_flight and world.in_flight[0].at <= world.now:
        yield heappop(world.in_flight)


async def wait_for_fault(fault: Fault) -> None:
    """Wait as the fault says; this is the machine's time, for the connection has no other."""
    if fault.action == "latency":
        await asyncio.sleep(float(fault.options.get("ms") or 1000) / 1000)
    if fault.action == "stall":
        await asyncio.sleep(float(fault.options.get("seconds") or 30))


def cut_connection(fault: Fault, transport: Transport | None) -> None:
    """End the connection: with a FIN, or for `reset` with a RST."""
    if transport is None:
        raise ConnectionLost(f"fault {fault.id}: {fault.action}")
    if fault.action != "reset":
        transport.close()
        return
    raw = transport.get_extra_info("socket")
    if raw is not None:
        # A linger time of zero makes the kernel answer with RST instead of FIN.
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _json(status: int, body: Any, headers: Headers) -> FaultedAnswer:
    if status in BODILESS:
        return FaultedAnswer(status, headers, b"")
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return FaultedAnswer(status, [(b"content-type", b"application/json"), *headers], raw)
