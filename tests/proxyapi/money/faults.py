"""The fourteen faults of a charging call, as they are had on the real wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from tests.proxyapi.money.stage import Stage
from tests.proxyapi.money.wire import TIMEOUT, Wire

Fault = Callable[[Stage, Wire, str, Random], None]


def line(trouble: str) -> Fault:
    """The request never gets there."""

    def ordered(_: Stage, wire: Wire, path: str, __: Random) -> None:
        wire.trouble = (path, getattr(wire, trouble))

    return ordered


def answer(when: str, *actions: str, **options: object) -> Fault:
    """It gets there, and its answer suffers in one of these ways."""

    def ordered(stage: Stage, _: Wire, path: str, chance: Random) -> None:
        stage.fault(path, chance.choice(actions), when, **options)

    return ordered


def stalled(stage: Stage, _: Wire, path: str, chance: Random) -> None:
    """It gets there, and nobody waits for its answer as long as it takes."""
    stage.fault(path, "stall", "after", seconds=TIMEOUT * chance.uniform(1.25, 2.5))


def limited(stage: Stage, _: Wire, path: str, chance: Random) -> None:
    """Not with X-RateLimit-Remaining: 0, after which nothing is sent for a minute, as it should
    be."""
    headers = {"Retry-After": chance.choice(("1", "2"))}
    stage.fault(path, "status", code=429, headers=headers)


def of_code(when: str, action: str, *codes: int) -> Fault:
    def ordered(stage: Stage, _: Wire, path: str, chance: Random) -> None:
        stage.fault(path, action, when, code=chance.choice(codes))

    return ordered


FAULTS: Mapping[str, Fault] = {
    "refused": line("refused"),
    "DNS fails": line("unnamed"),
    "TLS fails": line("unciphered"),
    "connect time-out": line("unaccepted"),
    "pool time-out": line("crowded"),
    "reset before commit": answer("before", "reset", "close"),
    "reset after commit": answer("after", "reset", "close"),
    "read time-out after commit": stalled,
    "half body": answer("after", "half_body"),
    "500 before": of_code("before", "status", 500, 501, 503, 507, 599),
    "500 after": of_code("after", "status", 500, 501, 503, 507, 599),
    "502/504 page after": of_code("after", "html", 502, 504, 520, 524),
    "429 with Retry-After": limited,
    "202 malformed or without meta": answer("after", "malformed_json", "drop_meta"),
}
