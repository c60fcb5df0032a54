"""The one door of a token (law 1): sealed in here, opened here for one call, nowhere else in the
clear."""

from __future__ import annotations

import hashlib

from proxyapi import seal
from proxyapi.models import Token
from proxyapi.upstream.secret import Secret


def seal_in(token: Token, secret: Secret) -> None:
    """Seal the value into its row. The row's key is part of the seal, so the row has one before."""
    value = secret.reveal()
    token.sealed = seal.seal(value.encode(), token.seal_row(), seal.ring())
    token.fingerprint = fingerprint(secret)
    token.last_four = value[-4:]


def opened(token: Token) -> Secret:
    """The value, for one call. Raises `seal.SealBroken` when the row was moved or tampered with."""
    return Secret(seal.open_sealed(bytes(token.sealed), token.seal_row(), seal.ring()).decode())


def fingerprint(secret: Secret) -> str:
    """16 hexadecimal digits that recognise a token without telling anything about it."""
    return hashlib.sha256(b"reelroom token\0" + secret.reveal().encode()).hexdigest()[:16]
