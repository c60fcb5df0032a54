"""What a video shows itself as: one table over the job, its open charge and its token.

A state of our knowledge (late, paused, unknown) never becomes a state of the job (law 6): the raw
word and the job's own state stay as they are, only the glyph and the word beside it change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proxyapi.models import Charge, ChargeState, Job, JobState, Token, TokenState

# Words of the upstream that we know; every other one is shown raw (pitfall 7).
KNOWN_WORDS = {"rendering": "Rendering"}
OUT_OF_SIGHT = frozenset({TokenState.REVOKED, TokenState.PAUSED, TokenState.REMOVED})
# Of several open charges the one with the greatest doubt speaks for the video.
DOUBT = (ChargeState.UNKNOWN, ChargeState.SENDING, ChargeState.HELD, ChargeState.DRAFT)

CHARGING: dict[str, tuple[str, str]] = {
    ChargeState.UNKNOWN: ("unknown", "Unknown"),
    ChargeState.SENDING: ("running", "Sending"),
    ChargeState.HELD: ("waiting", "Waiting"),
    ChargeState.DRAFT: ("waiting", "Waiting"),
}
RESTING: dict[str, tuple[str, str]] = {
    JobState.DRAFT: ("draft", "Draft"),
    JobState.COMPLETED: ("completed", "Completed"),
    JobState.FAILED: ("failed", "Failed"),
}
WRITING = "Writing"  # what sending means for a script: the service writes while the call waits
MOVING = frozenset({"running", "late", "waiting", "unknown", "paused"})


@dataclass(frozen=True, slots=True)
class Shown:
    """`name` is the look's data-state, `word` stands beside the glyph."""

    name: str
    word: str

    @property
    def moving(self) -> bool:
        return self.name in MOVING


def shown(job: Job, charge: Charge | None, token: Token, *, late: bool) -> Shown:
    """The state to show; `charge` is the job's open one, `late` says it runs past the usual."""
    if charge is not None:
        name, word = CHARGING[charge.state]
        writes = charge.state == ChargeState.SENDING and charge.operation.endswith("scripts")
        return Shown(name, WRITING if writes else word)
    if job.state != JobState.RUNNING:
        return Shown(*RESTING[job.state])
    if token.state in OUT_OF_SIGHT or not job.account.is_of_current_upstream:
        return Shown("paused", "Paused")
    return Shown("late" if late else "running", upstream_word(job.raw_status))


def upstream_word(raw: str) -> str:
    return KNOWN_WORDS.get(raw) or (f"In progress: {raw}" if raw else "In progress")


def open_charge(charges: Iterable[Charge]) -> Charge | None:
    """The open charge that decides what the video shows; none when all are settled."""
    standing = [charge for charge in charges if charge.is_open]
    return min(standing, key=lambda charge: DOUBT.index(ChargeState(charge.state)), default=None)
