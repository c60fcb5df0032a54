"""A small draw: a few lives of the engine against the sandbox, by the seed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.state_machine_runs import run_state_machine

SEED = int(os.environ.get("DRILL_SEED", "2"))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_rule_2_holds_whatever_people_do_and_whatever_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Slow: sixty steps, each followed by a reading of the ledger."""
    told: dict[str, int] = {}
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        run_state_machine(sandbox, monkeypatch, told, runs=3, steps=20, number=SEED)
    assert told["lives"] >= 3
    assert told["sendings"] > 0
