"""Whether the chain of entries is intact, as last verified."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from dashboard.models import AuditChainCheck, AuditChainHead, AuditEvent
from dashboard.shared.formatting import clock

CHECK_INTERVAL = timedelta(minutes=30)
OVERDUE_AFTER = timedelta(hours=1)
# A verification of a million entries takes minutes; a lost task must not block the button.
MAX_CHECK_TIME = timedelta(minutes=15)
HASH_GROUP_CHARS = 4


@dataclass(frozen=True, slots=True)
class ChainState:
    """`state`: good | info (not verified yet, or running) | late | failed. `short_hash` is shown,
    `full_hash` copied; both empty before the first verification."""

    state: str
    title: str
    text: str
    short_hash: str
    full_hash: str
    verified: int
    broken: int | None
    is_running: bool

    @property
    def glyph(self) -> str:
        return {"info": "running" if self.is_running else "info"}.get(self.state, self.state)


def load_chain_state(team_id: UUID) -> ChainState:
    """Two queries."""
    check = AuditChainCheck.objects.filter(pk=team_id).first() or AuditChainCheck()
    head = AuditChainHead.objects.filter(pk=team_id).values_list("position", flat=True).first() or 0
    now = timezone.now()
    is_running = check.requested_at is not None and now - check.requested_at < MAX_CHECK_TIME
    state, title, text = describe_chain(check, head, is_running=is_running)
    return ChainState(
        state=state,
        title=title,
        text=text,
        short_hash=short_hash_text(check.verified_hash),
        full_hash=check.verified_hash,
        verified=check.verified_position,
        broken=check.broken_position,
        is_running=is_running,
    )


def describe_chain(check: AuditChainCheck, head: int, *, is_running: bool) -> tuple[str, str, str]:
    """Return the state, what is known, and what it means."""
    if check.broken_position is not None:
        since = f" It was changed after the last good check, {clock(check.verified_at)}."
        text = (
            f"{since if check.verified_at else ''} Entries before it are intact. Compare entry "
            f"{check.broken_position:,} and later ones with a backup, and find out who can write "
            "to the database."
        )
        return "failed", check.problem, text.strip()
    newer = head - check.verified_position
    if is_running:
        return "info", f"Checking {head:,} entries.", "You can leave the page."
    if check.checked_at is None:
        text = "The first check runs within 30 minutes, or now if you press the button."
        return "info", "The chain was not verified yet.", text
    if timezone.now() - check.checked_at > OVERDUE_AFTER:
        text = "The check should run every 30 minutes. See Operations for the workers."
        return "late", f"The chain was last checked at {clock(check.checked_at)}.", text
    title = f"Chain verified to entry {check.verified_position:,} at {clock(check.checked_at)}."
    return "good", title, newer_entries_text(newer, check)


def newer_entries_text(newer: int, check: AuditChainCheck) -> str:
    if newer <= 0 or check.checked_at is None:
        return "There is no newer entry."
    due = clock(check.checked_at + CHECK_INTERVAL)
    return f"{newer:,} newer {'entry is' if newer == 1 else 'entries are'} checked at {due}."


def short_hash_text(row_hash: str) -> str:
    """ "3f9a 07c2 … b81e"."""
    if not row_hash:
        return ""
    first, second = row_hash[:HASH_GROUP_CHARS], row_hash[HASH_GROUP_CHARS : 2 * HASH_GROUP_CHARS]
    return f"{first} {second} … {row_hash[-HASH_GROUP_CHARS:]}"


def entry_state_text(event: AuditEvent, chain: ChainState) -> tuple[str, str]:
    """Return the glyph and the sentence about one entry in the chain."""
    if chain.broken is not None and event.position >= chain.broken:
        if event.position == chain.broken:
            return "failed", chain.title
        return "failed", f"It comes after entry {chain.broken:,}, which does not match its hash."
    if event.position <= chain.verified:
        return (
            "good",
            "Verified: its hash matches, and each entry up to the check carries the one before.",
        )
    return "waiting", "Not checked yet. It is newer than the last check."
