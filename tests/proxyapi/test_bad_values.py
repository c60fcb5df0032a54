"""Values that no specification promises: each is read as unknown or as what it says, and none
raises."""

from __future__ import annotations

from decimal import Decimal

import pytest

from proxyapi import pricing
from proxyapi.models import Account
from proxyapi.models.account import AccountPlan
from tests.factories import AccountFactory

pytestmark = pytest.mark.postgresql

HUGE = 10**12
COSTS = [
    ("5", 5), ("4.50", Decimal("4.5")), (0, 0), (HUGE, None), (str(HUGE), None), (-5, None),
    ("-5", None), ("NaN", None), ("Infinity", None), (None, None), (True, None), ([5], None),
    ({"credits": 5}, None), ("five", None), ("", None), ("5" * 4096, None),
]  # fmt: skip


PRICE_LISTS = [{}, {"": {}}, {"FACELESS_EXPORT": None}, {"faceless": 7}, {"FACELESS_EXPORT": []}]
UNREADABLE = (None, "NaN", "", True, [1], {"a": 1}, HUGE)
BALANCES: list[object] = [None, [], "", 7, {}, *({"remaining": value} for value in UNREADABLE)]


@pytest.mark.django_db
def test_a_price_that_cannot_be_is_not_known() -> None:
    account = AccountFactory.create()
    for credits, price in COSTS:
        account.costs = {"FACELESS_EXPORT": {"credits": credits}}
        assert pricing.fixed_price(account, "faceless.export") == price, credits
    for costs in PRICE_LISTS:
        account.costs = costs
        assert pricing.fixed_price(account, "faceless.export") is None, costs


def test_free_uses_are_a_count_or_none() -> None:
    for free, uses in ((3, 3), ("3", 3), (None, 0), (-1, 0), (True, 0), ("many", 0), (HUGE, 0)):
        costs = {"CONTENT_PROMPT_REQUESTED": {"credits": 4, "free": free}}
        assert pricing.free_script_uses(Account(costs=costs)) == uses, free


def test_a_balance_that_cannot_be_read_leaves_the_one_that_is_known() -> None:
    for credits in BALANCES:
        account = Account(plan=AccountPlan.PAID, balance=Decimal(300))
        account.apply_profile({"id": 5, "credits": credits, "subscription": None})
        assert (account.balance, account.plan) == (300, AccountPlan.PAID), credits
