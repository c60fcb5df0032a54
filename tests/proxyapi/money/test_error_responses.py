"""A small draw: every error on one of the charging operations, by the seed."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.proxyapi.money.error_responses import ERROR_RESPONSES, check_error_response
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import SandboxAccount

SEED = int(os.environ.get("DRILL_SEED", "11"))
CHANCE = Random(SEED)  # noqa: S311 - not for cryptography: the same seed draws the same
DRAW = [(name, CHANCE.choice(sorted(INTENT_MAKERS))) for name in ERROR_RESPONSES]


@pytest.mark.parametrize(("name", "operation"), DRAW)
def test_pitfall_82_an_error_ends_the_charge_with_its_cause(
    name: str, operation: str, sandbox_account: SandboxAccount
) -> None:
    assert check_error_response(sandbox_account, name, operation) == ""
