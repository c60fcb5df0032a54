"""Which of an account's tokens reads for it: one whose seal opens, whatever it has left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from proxyapi import rate_limiter, redis_client
from proxyapi.credentials import encryption, token_vault
from proxyapi.ledger.page_reader import open_ledger_reader
from proxyapi.models import Account, Token, TokenState
from proxyapi.rate_limiter import Priority
from tests.factories import AccountFactory, TokenFactory

pytestmark = pytest.mark.postgresql


@pytest.fixture
def account(db: None) -> Account:
    return AccountFactory.create()


def test_a_token_that_does_not_open_leaves_the_account_to_the_next(account: Account) -> None:
    """One that works is asked first, and it was damaged; the other one waits for its plan."""
    TokenFactory.create(account=account)
    Token.objects.update(ciphertext=b"not ours")
    other = TokenFactory.create(account=account, state=TokenState.PAUSED)
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    assert source is not None
    assert source.token == other


def test_where_none_opens_the_first_says_why(account: Account) -> None:
    first = TokenFactory.create(account=account)
    TokenFactory.create(account=account)
    Token.objects.update(ciphertext=b"")
    assert token_vault.first_decryptable(account.tokens.order_by("state_since")) == first
    assert token_vault.first_decryptable(account.tokens.none()) is None


def test_pitfall_32_a_token_whose_requests_are_used_up_is_not_passed_over(
    account: Account,
) -> None:
    first = TokenFactory.create(account=account)
    TokenFactory.create(account=account)
    rate_limiter.pause_bucket(redis_client.connect_redis(), first.bucket, 60)
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    assert source is not None
    assert source.token == first


def test_a_backup_opens_with_its_key_and_with_no_other(
    account: Account, settings: Any, tmp_path: Path
) -> None:
    its_keys, backup = settings.ENCRYPTION_KEYS, str(tmp_path / "tokens.json")
    values = {one.pk: f"sbx_{one.pk}" for one in TokenFactory.create_batch(3, account=account)}
    call_command("dumpdata", "proxyapi.token", output=backup)
    assert not any(value in Path(backup).read_text() for value in values.values())
    Token.objects.all().delete()
    call_command("loaddata", backup, verbosity=0)
    rows = list(Token.objects.all())
    for keys in (
        f"k1:{encryption.generate_encryption_key()}",
        f"k2:{encryption.generate_encryption_key()}",
    ):
        settings.ENCRYPTION_KEYS = keys
        assert not any(token_vault.can_decrypt(row) for row in rows)
    settings.ENCRYPTION_KEYS = its_keys
    assert {row.pk: token_vault.decrypt_token(row).reveal() for row in rows} == values
