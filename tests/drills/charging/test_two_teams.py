"""Lost answers of two teams with tokens of one account: every pair of them on the real wire."""

from __future__ import annotations

import os
from random import Random

import httpx

from tests.drills.figures import Figures
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.sandbox_account import open_sandbox_account
from tests.proxyapi.money.two_teams import add_other_team, check_mirrors, play_round
from tests.settings import ON_POSTGRES

ACCOUNTS = int(os.environ.get("DRILL_ACCOUNTS", "6"))
ROUNDS = 10  # on each account


def test_two_teams_on_one_account_never_share_a_debit(
    control: httpx.Client, faulty_transport: FaultyTransport
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, verdict = Figures(f"two teams on one account, {database}"), ChargeAudit()
    control.post("reset", json={})
    decided = 0
    for number in range(ACCOUNTS):
        chance = Random(f"{figures.seed}/{number}")  # noqa: S311 - not for cryptography
        with open_sandbox_account(control, empty=False) as stage, add_other_team(stage) as other:
            decided += sum(play_round((stage, other), chance, verdict) for _ in range(ROUNDS))
            check_mirrors((stage, other), verdict)
    wanted = 2 * ROUNDS * ACCOUNTS
    figures.report(f"{verdict.charges} charges", str(wanted), holds=verdict.charges == wanted)
    for name, found in verdict.kinds.items():
        told = f"{len(found)} {name} of {verdict.charges} charges"
        figures.report(told, "0", holds=not found, found=found)
    told = f"{decided} charges that reading could not tell apart, ended by a person"
    figures.report(told, "any number", holds=True)
    figures.close()
