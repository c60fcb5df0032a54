"""A small draw of lost answers of two teams on one account: each debit is one charge's."""

from __future__ import annotations

import os
from random import Random

import pytest

from proxyapi import rate_limiter
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.proxyapi.money.two_teams import add_other_team, check_mirrors, play_round

SEED = os.environ.get("DRILL_SEED", "19")


@pytest.mark.slow
def test_no_debit_settles_charges_of_two_teams(
    sandbox_account: SandboxAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow: answers are waited for in vain."""
    monkeypatch.setattr(rate_limiter, "PREVIEWS_PER_MINUTE", 10_000)
    verdict, chance = ChargeAudit(), Random(f"{SEED}/0")  # noqa: S311
    with add_other_team(sandbox_account) as other:
        for _ in range(2):
            play_round((sandbox_account, other), chance, verdict)
        check_mirrors((sandbox_account, other), verdict)
    assert verdict.problems == []
    assert verdict.charges == 4
