"""Which of an account's tokens reads for it: one whose seal opens, whatever it has left."""

from __future__ import annotations

import pytest

from proxyapi import allowance, door
from proxyapi.allowance import Lane
from proxyapi.ledger.page import reader
from proxyapi.models import Account, Token, TokenState
from tests.factories import AccountFactory, TokenFactory


@pytest.fixture
def account(db: None) -> Account:
    return AccountFactory.create()


def test_a_token_that_does_not_open_leaves_the_account_to_the_next(account: Account) -> None:
    """One that works is asked first, and it was damaged; the other one waits for its plan."""
    TokenFactory.create(account=account)
    Token.objects.update(sealed=b"not ours")
    other = TokenFactory.create(account=account, state=TokenState.PAUSED)
    source = reader(account, Lane.MIRRORING)
    assert source is not None
    assert source.token == other


def test_where_none_opens_the_first_says_why(account: Account) -> None:
    first = TokenFactory.create(account=account)
    TokenFactory.create(account=account)
    Token.objects.update(sealed=b"")
    assert door.openable(account.tokens.order_by("state_since")) == first
    assert door.openable(account.tokens.none()) is None


def test_pitfall_32_a_token_whose_requests_are_used_up_is_not_passed_over(
    account: Account,
) -> None:
    first = TokenFactory.create(account=account)
    TokenFactory.create(account=account)
    allowance.pause(allowance.connection(), str(first.pk), 60)
    source = reader(account, Lane.MIRRORING)
    assert source is not None
    assert source.token == first
