"""Rotating the sealing key: online, resumable, and no key goes while a token needs it."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from proxyapi.credentials import encryption, key_rotation, token_vault
from proxyapi.models import Token
from tests.factories import TokenFactory

OLD, NEW = (
    f"old:{encryption.generate_encryption_key()}",
    f"new:{encryption.generate_encryption_key()}",
)


@pytest.fixture
def tokens(db: None, settings: Any) -> Iterator[list[Token]]:
    """Three tokens under the old key, in a portal that has the new one in front of it."""
    settings.ENCRYPTION_KEYS = OLD
    made = TokenFactory.create_batch(3)
    settings.ENCRYPTION_KEYS = f"{NEW},{OLD}"
    yield made


def rotate(*options: str) -> str:
    out = StringIO()
    call_command("rotate_keys", *options, stdout=out)
    return out.getvalue()


def keys() -> set[str]:
    return {
        encryption.envelope_key_id(bytes(token.ciphertext)) for token in Token.objects.not_removed()
    }


def test_every_token_is_sealed_with_the_first_key_and_opens_as_before(
    tokens: list[Token],
) -> None:
    assert "3 tokens encrypted again" in rotate()
    assert keys() == {"new"}
    for token in Token.objects.all():
        assert token_vault.decrypt_token(token).reveal() == f"sbx_{token.pk}"


def test_a_second_run_has_nothing_to_do(tokens: list[Token]) -> None:
    rotate()
    assert "0 tokens encrypted again" in rotate()


def test_a_dry_run_counts_and_changes_nothing(tokens: list[Token]) -> None:
    assert "3 tokens need an old key" in rotate("--dry-run")
    assert keys() == {"old"}


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(tokens: list[Token]) -> None:
    key_rotation.reencrypt_row(tokens[0])
    assert keys() == {"new", "old"}
    assert "2 tokens encrypted again" in rotate()


def test_a_row_that_changed_meanwhile_is_not_overwritten(tokens: list[Token]) -> None:
    stale = Token.objects.get(pk=tokens[0].pk)
    key_rotation.reencrypt_row(tokens[0])
    assert not key_rotation.reencrypt_row(stale)


def test_a_tampered_row_is_named_and_left_alone(tokens: list[Token]) -> None:
    blob = bytes(tokens[0].ciphertext)
    Token.objects.filter(pk=tokens[0].pk).update(ciphertext=blob[:-1] + bytes([blob[-1] ^ 1]))
    with pytest.raises(CommandError, match=str(tokens[0].pk)):
        rotate()
    assert keys() == {"new", "old"}


@pytest.mark.parametrize("blob", [b"", b"\x01", b"no envelope at all"])
def test_a_row_without_an_envelope_does_not_stop_the_others(
    blob: bytes, tokens: list[Token]
) -> None:
    Token.objects.filter(pk=tokens[0].pk).update(ciphertext=blob)
    with pytest.raises(CommandError, match=str(tokens[0].pk)):
        rotate()
    others = Token.objects.exclude(pk=tokens[0].pk)
    assert {encryption.envelope_key_id(bytes(token.ciphertext)) for token in others} == {"new"}


def test_a_key_that_is_still_needed_cannot_be_taken_out(tokens: list[Token], settings: Any) -> None:
    settings.ENCRYPTION_KEYS = NEW
    found = run_checks(databases=["default"])
    assert [one.id for one in found if one.id == "proxyapi.E002"] == ["proxyapi.E002"]
    assert "3 tokens" in next(one.msg for one in found if one.id == "proxyapi.E002")


@pytest.mark.parametrize("keys", ["", "nonsense", "k1:AAAA", "k1:not base64 at all"])
def test_a_wrong_key_stops_the_start(keys: str, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = keys
    assert "proxyapi.E001" in {one.id for one in run_checks()}
