"""Make, find and end API keys.

A key is `rr_live_`, 30 random characters and 6 of a checksum, so that a scanner can tell a leaked
key from other text without asking the portal. Only its SHA-256 is stored: 178 random bits need no
slow hash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from proxyapi.models import ApiKey, KeyScope, Tenant

KEY_BEGINNING = "rr_live_"
RANDOM_CHARS, CHECKSUM_CHARS, PREFIX_CHARS = 30, 6, 12
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
KEY_RE = re.compile(rf"{KEY_BEGINNING}[0-9A-Za-z]{{{RANDOM_CHARS}}}[0-9A-Za-z]{{{CHECKSUM_CHARS}}}")


class NewKey(NamedTuple):
    """A key with its value, which exists nowhere else and is shown once."""

    key: ApiKey
    value: str


def create_key(
    tenant: Tenant, owner_id: int, name: str, scopes: Collection[KeyScope], **limits: Any
) -> NewKey:
    """Store a new key. `limits` are the other fields of `ApiKey`, such as `daily_limit`."""
    value = new_value()
    key = ApiKey(tenant=tenant, owner_id=owner_id, name=name, scopes=sorted(scopes), **limits)
    set_value(key, value)
    key.save(force_insert=True)
    return NewKey(key, value)


@transaction.atomic
def rotate_key(key: ApiKey, grace: timedelta) -> NewKey:
    """Give the key a new value; the one before is accepted for `grace` longer."""
    key = ApiKey.objects.select_for_update().get(pk=key.pk)
    value, before = new_value(), key.digest
    set_value(key, value)
    key.previous_digest = before if grace else None
    key.previous_until = timezone.now() + grace if grace else None
    key.save()
    return NewKey(key, value)


def revoke_keys(keys: Collection[ApiKey], now: datetime) -> int:
    """End keys for good, at once; return how many were not ended before."""
    rows = ApiKey.objects.filter(pk__in=[key.pk for key in keys], revoked_at=None)
    return rows.update(revoked_at=now, previous_digest=None, previous_until=None)


def find_key(value: str, now: datetime) -> ApiKey | None:
    """The active key with this value, with its tenant, owner and token; no query for what is no
    key, and one for the value of a key that was not rotated."""
    if not is_well_formed(value):
        return None
    hashed = digest(value)
    rows = ApiKey.objects.select_related("tenant", "owner", "token__account")
    # By one unique column each: to build a statement with more conditions takes longer than to run.
    found = next(iter(rows.filter(digest=hashed)), None)
    if found is None:
        found = next(iter(rows.filter(previous_digest=hashed, previous_until__gt=now)), None)
    return found if found is not None and found.is_active(now) else None


def is_well_formed(value: str) -> bool:
    body, check = value[:-CHECKSUM_CHARS], value[-CHECKSUM_CHARS:]
    return bool(KEY_RE.fullmatch(value)) and secrets.compare_digest(checksum(body), check)


def new_value() -> str:
    body = KEY_BEGINNING + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_CHARS))
    return body + checksum(body)


def set_value(key: ApiKey, value: str) -> None:
    key.digest, key.prefix, key.last_four = digest(value), value[:PREFIX_CHARS], value[-4:]


def digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def checksum(text: str) -> str:
    """The CRC-32 of the text in base 62, with leading zeros."""
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(CHECKSUM_CHARS):
        number, rest = divmod(number, len(ALPHABET))
        digits = ALPHABET[rest] + digits
    return digits
