"""ID tokens that are made here, with one thing wrong each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey

from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.openid.id_token import ExpectedToken, verify_id_token

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)
EXPECTED = ExpectedToken("https://login.example", "reelroom", "nonce-1", NOON)
NOW = NOON + timedelta(seconds=20)
KEY = RSAKey.generate_key(2048, {"kid": "first"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "first"})
NEW_KEY = ECKey.generate_key("P-256", {"kid": "second"})
Changes = dict[str, Any]


def claims(**changes: Any) -> Changes:
    at = int(NOON.timestamp()) + 10
    said = {
        "iss": "https://login.example",
        "aud": "reelroom",
        "sub": "sam",
        "nonce": "nonce-1",
        "iat": at,
        "exp": at + 300,
        **changes,
    }
    return {name: value for name, value in said.items() if value is not None}


def token(key: Any = KEY, alg: str = "RS256", **changes: Any) -> str:
    header = {"alg": alg, "kid": key.kid}
    return jwt.encode(header, claims(**changes), key, algorithms=[alg])


def verify(
    text: str, *key_sets: KeySet, now: datetime = NOW, expected: ExpectedToken = EXPECTED
) -> Changes:
    """Each time the keys are read, the next set is there."""
    sets = iter(key_sets or (KeySet([KEY]), KeySet([KEY])))
    return verify_id_token(text, lambda _: next(sets), expected, now)


def sentence_of(call: Callable[[], object]) -> str:
    with pytest.raises(ProviderFailed) as failed:
        call()
    return failed.value.sentence


def test_a_good_token_gives_its_claims() -> None:
    assert verify(token())["sub"] == "sam"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"iss": "https://evil.example"}, "issued by somebody else"),
        ({"iss": None}, "issued by somebody else"),
        ({"aud": "another"}, "for another client than “reelroom”"),
        ({"aud": ["another", "third"]}, "for another client"),
        ({"aud": None}, "for another client"),
        ({"aud": ["reelroom", "another"]}, "for another client"),  # and no azp
        ({"aud": ["reelroom", "another"], "azp": "another"}, "for another client"),
        ({"azp": "another"}, "for another client"),
        ({"nonce": "nonce-2"}, "belongs to another sign-in"),
        ({"nonce": None}, "belongs to another sign-in"),
        ({"nonce": 7}, "belongs to another sign-in"),
        ({"sub": ""}, "lacks “sub”"),
        ({"iat": None}, "lacks “iat”"),
        ({"exp": None}, "lacks “exp”"),
        ({"exp": "soon"}, "lacks “exp”"),
        ({"exp": float("inf")}, "lacks “exp”"),
        ({"exp": int(NOON.timestamp()) - 100}, "expired before it arrived"),
        ({"iat": int(NOON.timestamp()) + 320}, "5 minutes ahead of Reelroom’s"),
        ({"iat": int(NOON.timestamp()) - 300}, "5 minutes behind Reelroom’s"),
        ({"nbf": int(NOON.timestamp()) + 320}, "5 minutes ahead of Reelroom’s"),
    ],
)
def test_a_token_with_something_wrong_is_refused(changes: Changes, sentence: str) -> None:
    assert sentence in sentence_of(lambda: verify(token(**changes)))


def test_two_audiences_are_fine_if_we_asked_for_it() -> None:
    assert verify(token(aud=["another", "reelroom"], azp="reelroom"))


@pytest.mark.parametrize("shift_s", [-60, 60])
def test_a_minute_of_clock_skew_is_taken(shift_s: int) -> None:
    at = int(NOON.timestamp())
    assert verify(token(iat=at + shift_s, exp=at + 300), now=NOON)


@pytest.mark.parametrize(
    ("asked", "counts"),
    [
        *((seconds, True) for seconds in (-60, 0, 80)),
        *((said, False) for said in (-61, 81, None, "0", True, float("nan"), float("inf"))),
    ],
)
def test_the_person_was_asked_since_the_browser_went_there(asked: Any, counts: bool) -> None:
    said = int(NOON.timestamp()) + asked if asked.__class__ is int else asked
    expected = replace(EXPECTED, asks_person=True)
    if counts:
        assert verify(token(auth_time=said), expected=expected)
    else:
        sentence = sentence_of(lambda: verify(token(auth_time=said), expected=expected))
        assert "does not say that it asked you" in sentence
    assert verify(token(auth_time=said)), "a sign-in does not need it"


def test_a_signature_of_another_key_is_refused() -> None:
    assert "not signed with a key of the provider" in sentence_of(lambda: verify(token(OTHER_KEY)))


@pytest.mark.parametrize("damage", ["", "x", "a.b.c", "é.é.é", "." * 200_001])
def test_what_is_no_token_is_refused(damage: str) -> None:
    assert "not signed" in sentence_of(lambda: verify(damage))


def test_a_token_that_the_client_secret_or_nobody_signed_is_refused() -> None:
    secret = OctKey.import_key("a secret that only the provider knows", {"kid": "first"})
    assert "not signed" in sentence_of(lambda: verify(token(secret, "HS256")))
    unsigned = "eyJhbGciOiJub25lIiwia2lkIjoiZmlyc3QifQ." + token().split(".")[1] + "."
    assert "not signed" in sentence_of(lambda: verify(unsigned))


def test_keys_are_read_again_once_when_the_provider_has_new_ones() -> None:
    text = token(NEW_KEY, "ES256")
    assert verify(text, KeySet([KEY]), KeySet([KEY, NEW_KEY]))["sub"] == "sam"
    assert "not signed" in sentence_of(
        lambda: verify(text, KeySet([KEY]), KeySet([KEY]), KeySet([NEW_KEY]))
    )
