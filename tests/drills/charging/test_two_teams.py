"""Lost answers of two teams with tokens of one account: every pair of them on the real wire."""

from __future__ import annotations

import os
from random import Random

import httpx

from tests.drills.figures import Figures
from tests.proxyapi.money.stage import opened
from tests.proxyapi.money.two_teams import joined_by_another_team, play, weigh
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire
from tests.settings import ON_POSTGRES

ACCOUNTS = int(os.environ.get("DRILL_ACCOUNTS", "6"))
ROUNDS = 10  # on each account


def test_two_teams_on_one_account_never_share_a_debit(control: httpx.Client, wire: Wire) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, verdict = Figures(f"two teams on one account, {database}"), Verdict()
    control.post("reset", json={})
    decided = 0
    for number in range(ACCOUNTS):
        chance = Random(f"{figures.seed}/{number}")  # noqa: S311 - not for cryptography
        with opened(control, empty=False) as stage, joined_by_another_team(stage) as other:
            decided += sum(play((stage, other), chance, verdict) for _ in range(ROUNDS))
            weigh((stage, other), verdict)
    wanted = 2 * ROUNDS * ACCOUNTS
    figures.tell(f"{verdict.charges} charges", str(wanted), holds=verdict.charges == wanted)
    for name, found in verdict.kinds.items():
        told = f"{len(found)} {name} of {verdict.charges} charges"
        figures.tell(told, "0", holds=not found, found=found)
    told = f"{decided} charges that reading could not tell apart, ended by a person"
    figures.tell(told, "any number", holds=True)
    figures.close()
