"""Failpoints: nothing happens without the variable, and it is refused where it would cost."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from proxyapi import checks, failpoints

ROOT = Path(failpoints.__file__).parent


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The signals that this process would have got."""
    signals: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _, number: signals.append(number))
    return signals


def test_a_point_that_is_not_named_does_nothing(killed: list[int]) -> None:
    for point in failpoints.FAILPOINTS:
        failpoints.hit_failpoint(point)
    assert killed == []


def test_a_named_point_kills_at_its_time(
    killed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failpoints, "ACTIVE_FAILPOINT", "sent")
    monkeypatch.setattr(failpoints, "_hits_left", 2)
    failpoints.hit_failpoint("answered")
    failpoints.hit_failpoint("sent")
    assert killed == []
    failpoints.hit_failpoint("sent")
    assert killed == [signal.SIGKILL]


def test_every_point_stands_somewhere_in_the_way_of_a_charge() -> None:
    code = "".join(path.read_text() for path in ROOT.rglob("*.py"))
    reached = set(re.findall(r'failpoints\.hit_failpoint\("(\w+)"\)', code))
    assert reached == set(failpoints.FAILPOINTS)


@pytest.mark.parametrize(
    ("named", "is_sandbox", "told"),
    [
        ("", False, []),
        ("sent", True, []),
        ("sent", False, ["proxyapi.E003"]),
        ("nowhere", True, ["proxyapi.E004"]),
    ],
)
def test_a_process_that_would_cost_does_not_start(
    named: str, is_sandbox: bool, told: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failpoints, "ACTIVE_FAILPOINT", named)
    settings.VIDEO_API_IS_SANDBOX = is_sandbox
    assert [error.id for error in checks.check_failpoint_is_sandboxed()] == told
