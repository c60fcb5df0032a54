"""a1, a small draw: each of the fourteen faults on one of the charging operations, by the seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from proxyapi import calls
from proxyapi.charges import admit_charge
from tests.proxyapi.money.faults import FAULTS
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import Stage, carried
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire, impatient

SEED = int(os.environ.get("DRILL_SEED", "4"))
CHANCE = Random(SEED)  # noqa: S311 - not for cryptography: the same seed draws the same
DRAW = [(fault, CHANCE.choice(sorted(OPERATIONS))) for fault in FAULTS]


@pytest.fixture
def wire(stage: Stage, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    with impatient(f"{sandbox}/v2", monkeypatch) as (client, wire):
        monkeypatch.setattr(calls, "upstream_client", lambda: client)
        yield wire


@pytest.mark.parametrize(("fault", "operation"), DRAW)
def test_law_2_holds_under_every_fault(
    fault: str, operation: str, stage: Stage, wire: Wire, settings: Any
) -> None:
    verdict, chance = Verdict(), Random(f"{SEED}/{fault}/{operation}")  # noqa: S311
    intent = OPERATIONS[operation](stage)
    already = stage.spent()
    FAULTS[fault](stage, wire, path_of(operation), chance)
    charge = carried(admit_charge(intent))
    assert wire.trouble is None
    assert stage.are_met()
    verdict.judge(charge, stage.spent() - already, f"{fault} {operation}")
    verdict.weigh(stage, operation)
    assert verdict.problems == []
