"""Runs of the portal's state machine, by a seed."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from proxyapi import tasks
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox
from tests.proxyapi.money.portal_state_machine import PortalStateMachine

PHASES = (Phase.generate, *([Phase.shrink] if "LIFE_SHRINKS" in os.environ else []))


def run_state_machine(
    sandbox: InProcessSandbox,
    patch: pytest.MonkeyPatch,
    told: dict[str, int],
    *,
    runs: int,
    steps: int,
    number: int,
) -> None:
    """Run the machine `runs` times; `told` counts the actions. Raises with the failing steps."""
    machine = type("Life", (PortalStateMachine,), {"sandbox": sandbox, "told": told})
    patch.setattr(tasks, "_enqueue", sandbox.record_enqueued)
    chosen = settings(
        max_examples=runs,
        stateful_step_count=steps,
        database=None,
        phases=PHASES,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(number)(machine), settings=chosen)
