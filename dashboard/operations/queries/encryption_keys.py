"""The keys that encrypt the team's secrets, and how many secrets still need an old one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models.functions import Substr

from dashboard.models import AlertWebhook, SingleSignOnSecret, Team
from proxyapi.credentials import encryption
from proxyapi.models import StoredFile, Token

# Version and length, the longest key id, nonce and tag.
HEADER_BYTES = 2 + 32 + encryption.NONCE_BYTES + encryption.TAG_BYTES


@dataclass(frozen=True, slots=True)
class KeyRow:
    """`state`: completed (encrypts new secrets) | waiting (still needed) | good (may be removed)
    | failed (its secrets cannot be read)."""

    key_id: str
    tokens: int
    others: int
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class EncryptionKeys:
    """`problem` is set if the setting cannot be read."""

    rows: tuple[KeyRow, ...]
    under_current: int
    total: int
    problem: str = ""

    @property
    def is_rotating(self) -> bool:
        return self.under_current < self.total

    @property
    def percent_done(self) -> float:
        return 100 * self.under_current / self.total if self.total else 100.0


def load_encryption_keys(team: Team, tokens: Iterable[Token]) -> EncryptionKeys:
    """Two queries."""
    try:
        ring = encryption.load_key_ring()
    except encryption.EncryptionError as error:
        return EncryptionKeys((), 0, 0, str(error))
    token_keys = Counter(key_of(token.ciphertext) for token in tokens if token.ciphertext)
    hooks = AlertWebhook.objects.filter(team=team).values_list("ciphertext", flat=True)
    client_secrets = SingleSignOnSecret.objects.filter(single_sign_on__team=team)
    blobs = hooks.union(client_secrets.values_list("ciphertext", flat=True), all=True)
    other_keys = Counter(key_of(blob) for blob in blobs)
    files = StoredFile.objects.filter(job__tenant=team.tenant_id)
    # Only the header: a file may have megabytes.
    headers = files.values_list(Substr("ciphertext", 1, HEADER_BYTES), flat=True)
    other_keys.update(key_of(header) for header in headers)
    ids = dict.fromkeys([*ring.keys, *token_keys, *other_keys])
    rows = tuple(
        build_key_row(key_id, token_keys[key_id], other_keys[key_id], ring) for key_id in ids
    )
    current = ring.current_key_id
    return EncryptionKeys(
        rows=rows,
        under_current=token_keys[current] + other_keys[current],
        total=sum(token_keys.values()) + sum(other_keys.values()),
    )


def key_of(blob: bytes | memoryview) -> str:
    return encryption.envelope_key_id_or_blank(bytes(blob))


def build_key_row(key_id: str, tokens: int, others: int, ring: encryption.KeyRing) -> KeyRow:
    needed = tokens + others
    if key_id == ring.current_key_id:
        state, text = "completed", "Active"
    elif key_id not in ring.keys:
        state, text = "failed", "Not in the settings: put it back, or replace these secrets"
    elif needed:
        state, text = "waiting", f"Needed for {needed} more"
    else:
        state, text = "good", "Not needed by this team"
    return KeyRow(key_id or "unreadable", tokens, others, state, text)
