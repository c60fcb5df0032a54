"""API tokens: `sbx_<random>_<crc>`. They are shown once; only their SHA-256 is kept."""

from __future__ import annotations

import string
import zlib
from hashlib import sha256

from proxyapi.sandbox.records import Token
from proxyapi.sandbox.world import World

_ALPHABET = string.ascii_letters + string.digits


def issue_token(
    world: World, account_id: int, label: str = "", chosen: str = ""
) -> tuple[str, Token]:
    """Make a token of an account; returns it in the clear, for the only time, with its row.

    `chosen`: a text of one's own, for who wants to see what becomes of another alphabet.
    """
    body = "sbx_" + "".join(world.random_source("token").choices(_ALPHABET, k=32))
    token = chosen or f"{body}_{zlib.crc32(body.encode()):08x}"
    row = Token(
        id=token_digest(token),
        account_id=account_id,
        label=label,
        created_at=world.now,
        number=world.number("token"),
    )
    return token, world.tokens.put(row)


def token_digest(token: str) -> str:
    return sha256(token.encode(errors="surrogateescape")).hexdigest()


def bearer_token(headers: list[tuple[bytes, bytes]]) -> str | None:
    """The token that a request presents, or None."""
    for name, value in headers:
        if name.lower() == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return token.strip() or None if scheme.lower() == "bearer" else None
    return None
