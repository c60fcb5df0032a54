"""How somebody signed in, in words, from the records that allauth keeps in a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from allauth.mfa.models import Authenticator

METHOD_WORDS = {"socialaccount": "single sign-on"}
SECOND_FACTOR_WORDS: dict[str, str] = {
    Authenticator.Type.TOTP: "code",
    Authenticator.Type.RECOVERY_CODES: "recovery code",
    Authenticator.Type.WEBAUTHN: "passkey",
}
NO_NAMES: Mapping[int, str] = {}


def authentication_method(
    records: Iterable[Mapping[str, Any]], passkey_names: Mapping[int, str] = NO_NAMES
) -> str:
    """Return "password and code" or the like; with the names of the passkeys by their id, also
    which one it was. Passwords that were asked again later do not count."""
    words = [
        method_word(record, passkey_names)
        for record in records
        if not record.get("reauthenticated")
    ]
    return " and ".join(dict.fromkeys(words))


def method_word(record: Mapping[str, Any], passkey_names: Mapping[int, str]) -> str:
    method = str(record.get("method", ""))
    if method != "mfa":
        return METHOD_WORDS.get(method, method)
    name = passkey_names.get(record.get("id", 0))
    word = SECOND_FACTOR_WORDS.get(str(record.get("type", "")), "second factor")
    return f"{word} “{name}”" if name else word
