"""Encrypt and decrypt tokens. The only place that decrypts one, for one call (rule 1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from proxyapi.credentials import encryption
from proxyapi.models import Token
from proxyapi.upstream.secret import Secret


def encrypt_token_into(token: Token, secret: Secret) -> None:
    """Encrypt the value into its row. The ciphertext is bound to the row's primary key, so the row
    needs one before."""
    # No variable holds the plain value, because error reports quote variables.
    token.ciphertext = encryption.encrypt(
        secret.reveal().encode(), token.encryption_context(), encryption.load_key_ring()
    )
    token.fingerprint = token_fingerprint(secret)
    token.last_four = secret.reveal()[-4:]


def decrypt_token(token: Token) -> Secret:
    """The plain value, for one call. Raises `DecryptionFailed` if the row was moved or changed."""
    return Secret(
        encryption.decrypt(
            bytes(token.ciphertext), token.encryption_context(), encryption.load_key_ring()
        ).decode()
    )


def first_decryptable(tokens: Iterable[Token]) -> Token | None:
    """The first token that can be decrypted; if none can, the first, whose call then fails with the
    reason.

    So a damaged row does not block another token of the account. The requests that a token has left
    are not considered: no token is used in place of another (pitfall 32).
    """
    ready = list(tokens)
    return next(filter(can_decrypt, ready), ready[0] if ready else None)


def can_decrypt(token: Token) -> bool:
    """Whether the token can be decrypted; the value is dropped at once."""
    try:
        decrypt_token(token)
    except encryption.EncryptionError:
        return False
    return True


def token_fingerprint(secret: Secret) -> str:
    """16 hexadecimal digits that identify a token without revealing any of it."""
    return hashlib.sha256(b"reelroom token\0" + secret.reveal().encode()).hexdigest()[:16]
