"""Prices that are known before asking."""

from __future__ import annotations

from decimal import Decimal

import pytest

from proxyapi import costs
from tests.factories import AccountFactory


@pytest.mark.parametrize(
    ("quote", "hold"), [("96", 106), ("0.5", 1), ("12.16", 14), ("100", 110), ("0", 0)]
)
def test_pitfall_43_a_hold_is_a_little_above_an_approximate_price(quote: str, hold: int) -> None:
    assert costs.hold_for(Decimal(quote)) == hold


@pytest.mark.parametrize("key", ["CONTENT_PROMPT_REQUESTED", "content_prompt_requested"])
def test_pitfall_59_a_key_of_the_cost_map_is_found_in_any_case(key: str) -> None:
    account = AccountFactory.build(costs={key: {"credits": 7, "free": 2}})
    assert costs.script(account) == 7
    assert costs.free_scripts(account) == 2


def test_an_account_whose_costs_were_never_read_has_the_usual_price() -> None:
    assert costs.script(AccountFactory.build(costs={})) == costs.SCRIPT_FALLBACK
