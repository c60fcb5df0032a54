"""The books balance after every step, whatever is bought, breaks or passes.

A few runs here; `make drill` makes 2,000 of 50 steps.
"""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.sandbox.conftest import READY_SETTINGS
from tests.sandbox.ledger_state_machine import LedgerStateMachine

SEED = 20260115
RUNS, STEPS = 5, 20


@pytest.mark.slow
def test_the_ledger_balances_after_every_step(tmp_path):
    """Hundreds of steps."""
    with asyncio.Runner() as loop:
        run(tmp_path, loop, runs=RUNS, steps=STEPS, number=SEED)
    print(f"seed {SEED}, {RUNS} runs of {STEPS} steps")


def test_a_failed_render_gives_back_its_own_price_and_not_that_of_a_script(sandbox):
    sandbox.set(failed_render_refunds=True)
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post("/_sandbox/outcomes", {"statuses": ["rendering", "failed"]})
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.put(f"/v2/faceless/{number}/scripts", {"topic": "tides", "duration": 30})
    sandbox.advance(60)
    (refund,) = sandbox.money()["refunds"]
    assert (refund["feature"], sandbox.money()["balance"]) == ("faceless_render", 996)


def run(folder, loop, *, runs, steps, number):
    machine = type("WorldsBooks", (LedgerStateMachine,), {"folder": folder, "loop": loop})
    chosen = settings(
        max_examples=runs,
        stateful_step_count=steps,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(number)(machine), settings=chosen)
