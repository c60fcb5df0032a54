"""The fourteen faults of a charging call, as they are had on the real wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from tests.proxyapi.money.faulty_transport import TIMEOUT, FaultyTransport
from tests.proxyapi.money.sandbox_account import SandboxAccount

Fault = Callable[[SandboxAccount, FaultyTransport, str, Random], None]


def fault_before_sending(trouble: str) -> Fault:
    """The request never gets there."""

    def ordered(_: SandboxAccount, wire: FaultyTransport, path: str, __: Random) -> None:
        wire.trouble = (path, getattr(wire, trouble))

    return ordered


def fault_in_answer(when: str, *actions: str, **options: object) -> Fault:
    """It gets there, and its answer suffers in one of these ways."""

    def ordered(stage: SandboxAccount, _: FaultyTransport, path: str, chance: Random) -> None:
        stage.set_fault(path, chance.choice(actions), when, **options)

    return ordered


def stall_answer(stage: SandboxAccount, _: FaultyTransport, path: str, chance: Random) -> None:
    """It gets there, and nobody waits for its answer as long as it takes."""
    stage.set_fault(path, "stall", "after", seconds=TIMEOUT * chance.uniform(1.25, 2.5))


def answer_rate_limited(
    stage: SandboxAccount, _: FaultyTransport, path: str, chance: Random
) -> None:
    """Not with X-RateLimit-Remaining: 0, after which nothing is sent for a minute, as it should
    be."""
    headers = {"Retry-After": chance.choice(("1", "2"))}
    stage.set_fault(path, "status", code=429, headers=headers)


def answer_status(when: str, action: str, *codes: int) -> Fault:
    def ordered(stage: SandboxAccount, _: FaultyTransport, path: str, chance: Random) -> None:
        stage.set_fault(path, action, when, code=chance.choice(codes))

    return ordered


FAULTS: Mapping[str, Fault] = {
    "refused": fault_before_sending("refused"),
    "DNS fails": fault_before_sending("unnamed"),
    "TLS fails": fault_before_sending("unciphered"),
    "connect time-out": fault_before_sending("unaccepted"),
    "pool time-out": fault_before_sending("crowded"),
    "reset before commit": fault_in_answer("before", "reset", "close"),
    "reset after commit": fault_in_answer("after", "reset", "close"),
    "read time-out after commit": stall_answer,
    "half body": fault_in_answer("after", "half_body"),
    "500 before": answer_status("before", "status", 500, 501, 503, 507, 599),
    "500 after": answer_status("after", "status", 500, 501, 503, 507, 599),
    "502/504 page after": answer_status("after", "html", 502, 504, 520, 524),
    "429 with Retry-After": answer_rate_limited,
    "202 malformed or without meta": fault_in_answer("after", "malformed_json", "drop_meta"),
}
