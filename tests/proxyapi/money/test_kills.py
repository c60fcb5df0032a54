"""A small draw: real processes die with -9 on the way of a charge, and others take over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.drills.charging.test_kills import run_round
from tests.drills.charging.worker_control import WorkerControl, running_process_factory
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.sandbox_account import SandboxAccount


@pytest.fixture
def worker_control(
    transactional_db: None, sandbox: str, sandbox_account: SandboxAccount
) -> Iterator[WorkerControl]:
    with running_process_factory(sandbox) as hands:
        yield hands


@pytest.mark.slow
def test_rule_2_holds_when_processes_are_killed(
    sandbox_account: SandboxAccount, worker_control: WorkerControl
) -> None:
    """Slow: each round starts and kills real processes."""
    verdict = ChargeAudit()
    for point in ("sent", "reconcile"):
        assert run_round(sandbox_account, worker_control, point, "text_to_video.create", verdict)
    verdict.check_account(sandbox_account, "kills")
    assert verdict.problems == []
