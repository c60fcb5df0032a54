"""Encryption at rest: AES-256-GCM, bound to one row, with the id of the key that was used.

Contract: only `decrypt` decrypts what `encrypt` makes, and only for the same row. The envelope:

    1 byte     version, 1
    1 byte     length n of the key id
    n bytes    key id, ASCII
    12 bytes   nonce, random
    the rest   ciphertext and its 16-byte tag

and the associated data is everything before the nonce, then the row's name in UTF-8. So an envelope
that is moved to another row, changed, cut, or relabelled to another key or version does not
decrypt: `DecryptionFailed`, never a wrong plaintext. The row's name must exist before the row is
written; rows with encrypted values therefore have UUID keys made by us.

Keys come from the setting ENCRYPTION_KEYS, `id:base64` of 32 bytes, several separated by commas:
the first encrypts, all of them decrypt. To rotate: put a new key first, encrypt every row again,
remove the old key when no envelope names it (`envelope_key_id`). SECRET_KEY plays no part in this.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

ENVELOPE_VERSION = 1
KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16


class EncryptionError(Exception):
    """The keys are not usable; the text has the reason and quotes no key."""


class DecryptionFailed(EncryptionError):
    """The envelope does not decrypt for this row with these keys. Must never be ignored."""


@dataclass(frozen=True)
class KeyRing:
    """The keys by id, and the id of the one that encrypts. Its repr shows ids only."""

    current_key_id: str
    keys: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        if self.current_key_id not in self.keys:
            raise EncryptionError(
                f"There is no encryption key with the id {self.current_key_id!r}."
            )
        for name, key in self.keys.items():
            _check_key(name, key)
        object.__setattr__(self, "keys", MappingProxyType(dict(self.keys)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `k2:base64,k1:base64`; the first key is current. Raises `EncryptionError`."""
        keys: dict[str, bytes] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, colon, value = part.partition(":")
            if not colon:
                raise EncryptionError("An encryption key is written as id:base64.")
            if name in keys:
                raise EncryptionError(f"The encryption key id {name!r} is used twice.")
            keys[name] = _decode_key(name, value)
        if not keys:
            raise EncryptionError("There is no encryption key.")
        return cls(next(iter(keys)), keys)


def _check_key(name: str, key: bytes) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name):
        raise EncryptionError("The id of an encryption key has 1 to 32 letters, digits, - or _.")
    if len(key) != KEY_BYTES:
        raise EncryptionError(
            f"The encryption key {name!r} has {len(key)} bytes instead of {KEY_BYTES}."
        )
    if len(set(key)) < 8:
        raise EncryptionError(f"The encryption key {name!r} is a placeholder, not a random key.")


def _decode_key(name: str, value: str) -> bytes:
    try:
        return base64.b64decode(value.translate(str.maketrans("-_", "+/")), validate=True)
    except (binascii.Error, ValueError):
        sentence = f"The encryption key {name!r} is not base64."
    raise EncryptionError(sentence)


def encrypt(plain: bytes, row: str, ring: KeyRing) -> bytes:
    """The envelope of `plain` for the row of that name, made with the ring's current key."""
    if not row:
        raise EncryptionError("The row of an encrypted value needs a name.")
    head = envelope_header(ring.current_key_id)
    nonce = secrets.token_bytes(NONCE_BYTES)
    ciphertext = AESGCM(ring.keys[ring.current_key_id]).encrypt(nonce, plain, head + row.encode())
    return head + nonce + ciphertext


def decrypt(blob: bytes, row: str, ring: KeyRing) -> bytes:
    """The plaintext that `encrypt` was given for this row; raises `DecryptionFailed` for anything
    else."""
    name, start = _parse_header(blob)
    if name not in ring.keys:
        raise DecryptionFailed(
            f"The key {name!r} that encrypted this value is not in the key ring."
        )
    nonce, ciphertext = blob[start : start + NONCE_BYTES], blob[start + NONCE_BYTES :]
    try:
        return AESGCM(ring.keys[name]).decrypt(nonce, ciphertext, blob[:start] + row.encode())
    except InvalidTag:
        pass
    raise DecryptionFailed("The encrypted value was changed, or belongs to another row.")


def envelope_key_id(blob: bytes) -> str:
    """The id of the key that encrypted the envelope; a rotation compares it."""
    return _parse_header(blob)[0]


def envelope_key_id_or_blank(blob: bytes) -> str:
    """Like `envelope_key_id`, but empty for an envelope that is empty or was tampered with."""
    try:
        return envelope_key_id(blob)
    except DecryptionFailed:
        return ""


def generate_encryption_key() -> str:
    """A new random key in base64, to be written after an id and a colon."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def load_key_ring() -> KeyRing:
    """The key ring of the setting ENCRYPTION_KEYS. Raises `EncryptionError`."""
    return _cached_key_ring(settings.ENCRYPTION_KEYS)


@lru_cache(maxsize=4)
def _cached_key_ring(text: str) -> KeyRing:
    return KeyRing.parse(text)


def envelope_header(name: str) -> bytes:
    """The start of each envelope that the key of this id makes."""
    return bytes((ENVELOPE_VERSION, len(name))) + name.encode("ascii")


def _parse_header(blob: bytes) -> tuple[str, int]:
    if len(blob) < 2 or blob[0] != ENVELOPE_VERSION:
        raise DecryptionFailed("This is not an encrypted value of a known version.")
    start = 2 + blob[1]
    name = blob[2:start].decode("ascii", errors="replace")
    if len(blob) < start + NONCE_BYTES + TAG_BYTES or not re.fullmatch(r"[\w-]{1,32}", name):
        raise DecryptionFailed("The encrypted value is truncated.")
    return name, start
