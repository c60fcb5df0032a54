"""Requests that arrive late, a small draw: no press is paid twice, none is called uncharged."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from proxyapi.operations import get_operation as row_of
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.late_arrivals import (
    LateArrivals,
    arrive_in_time,
    arrive_too_late,
    draw_delays,
)
from tests.proxyapi.money.operations import INTENT_MAKERS

SEED = int(os.environ.get("DRILL_SEED", "6"))
CHANCE = Random(SEED)  # noqa: S311 - not for cryptography: the same seed draws the same
DRAW = ["faceless.render", CHANCE.choice(sorted(INTENT_MAKERS))]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("operation", DRAW)
def test_a_request_that_arrives_within_its_longest_time_is_paid_once(
    operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    found = LateArrivals()
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        arrive_in_time(sandbox, operation, draw_delays(operation, 3), found)
    assert (found.twice, found.false_uncharged, found.wrong) == ([], [], [])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("operation", "again"), [("faceless.scripts", True), ("text_to_video.create", False)]
)
def test_a_request_that_arrives_later_still_has_its_charge_and_an_alert(
    operation: str, again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    found = LateArrivals()
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        delay = row_of(operation).max_duration_s + 300
        arrive_too_late(sandbox, operation, delay, found, again=again)
    assert (found.wrong, found.matched_late) == ([], 1)
