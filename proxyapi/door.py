"""The one door of a token (law 1): sealed in here, opened here for one call, nowhere else in the
clear."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from proxyapi import seal
from proxyapi.models import Token
from proxyapi.upstream.secret import Secret


def seal_in(token: Token, secret: Secret) -> None:
    """Seal the value into its row. The row's key is part of the seal, so the row has one before."""
    # No variable holds it: reports of errors quote those.
    token.sealed = seal.seal(secret.reveal().encode(), token.seal_row(), seal.ring())
    token.fingerprint = fingerprint(secret)
    token.last_four = secret.reveal()[-4:]


def opened(token: Token) -> Secret:
    """The value, for one call. Raises `seal.SealBroken` when the row was moved or tampered with."""
    return Secret(seal.open_sealed(bytes(token.sealed), token.seal_row(), seal.ring()).decode())


def openable(tokens: Iterable[Token]) -> Token | None:
    """The first of them that opens; where none does the first, whose call then says why.

    So a row that was damaged does not stop what another token of the account can do. How much of
    its allowance a token has left is not asked here: none lends another its own (pitfall 32).
    """
    ready = list(tokens)
    return next(filter(opens, ready), ready[0] if ready else None)


def opens(token: Token) -> bool:
    """Whether its seal opens; the value is let go at once."""
    try:
        opened(token)
    except seal.SealError:
        return False
    return True


def fingerprint(secret: Secret) -> str:
    """16 hexadecimal digits that recognise a token without telling anything about it."""
    return hashlib.sha256(b"reelroom token\0" + secret.reveal().encode()).hexdigest()[:16]


def reseal(token: Token) -> bool:
    """Seal the value again with the current key; False when the row changed meanwhile.

    Online and resumable: each row is one conditional update, and a row that is open under an old
    key opens under the ring before and after.
    """
    old, ring = bytes(token.sealed), seal.ring()
    plain = seal.open_sealed(old, token.seal_row(), ring)
    new = seal.seal(plain, token.seal_row(), ring)
    return bool(Token.objects.filter(pk=token.pk, sealed=old).update(sealed=new))
