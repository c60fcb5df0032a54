"""A small draw: each of the fourteen faults on one of the charging operations, by the seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from proxyapi import calls
from tests.admission import admit_charge
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faults import FAULTS
from tests.proxyapi.money.faulty_transport import FaultyTransport, short_timeout_client
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import SandboxAccount, work_until_settled

SEED = int(os.environ.get("DRILL_SEED", "4"))
CHANCE = Random(SEED)  # noqa: S311 - not for cryptography: the same seed draws the same
DRAW = [(fault, CHANCE.choice(sorted(INTENT_MAKERS))) for fault in FAULTS]


@pytest.fixture
def faulty_transport(
    sandbox_account: SandboxAccount, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FaultyTransport]:
    with short_timeout_client(f"{sandbox}/v2", monkeypatch) as (client, wire):
        monkeypatch.setattr(calls, "upstream_client", lambda: client)
        yield wire


@pytest.mark.parametrize(("fault", "operation"), DRAW)
def test_rule_2_holds_under_every_fault(
    fault: str,
    operation: str,
    sandbox_account: SandboxAccount,
    faulty_transport: FaultyTransport,
    settings: Any,
) -> None:
    verdict, chance = ChargeAudit(), Random(f"{SEED}/{fault}/{operation}")  # noqa: S311
    intent = INTENT_MAKERS[operation](sandbox_account)
    already = sandbox_account.spent_credits()
    FAULTS[fault](sandbox_account, faulty_transport, path_pattern(operation), chance)
    charge = work_until_settled(admit_charge(intent))
    assert faulty_transport.trouble is None
    assert sandbox_account.are_faults_met()
    verdict.judge_charge(charge, sandbox_account.spent_credits() - already, f"{fault} {operation}")
    verdict.check_account(sandbox_account, operation)
    assert verdict.problems == []
