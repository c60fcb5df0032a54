"""What a video shows itself as: one table over the job, its open charge and its token.

A state of our knowledge (late, paused, unknown) never becomes a state of the job (rule 6): the raw
word and the job's own state stay as they are, only the glyph and the word beside it change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proxyapi.models import Charge, ChargeState, Job, JobState, Token, TokenState

# Words of the upstream that we know; every other one is shown raw (pitfall 7).
UPSTREAM_STATUS_LABELS = {"rendering": "Rendering"}
UNPOLLABLE_TOKEN_STATES = frozenset({TokenState.REVOKED, TokenState.PAUSED, TokenState.REMOVED})
# Of several open charges the one with the greatest doubt speaks for the video.
CHARGE_STATES_BY_DOUBT = (
    ChargeState.UNKNOWN,
    ChargeState.SENDING,
    ChargeState.HELD,
    ChargeState.DRAFT,
)

CHARGE_STATE_DISPLAY: dict[str, tuple[str, str]] = {
    ChargeState.UNKNOWN: ("unknown", "Unknown"),
    ChargeState.SENDING: ("running", "Sending"),
    ChargeState.HELD: ("waiting", "Waiting"),
    ChargeState.DRAFT: ("waiting", "Waiting"),
}
JOB_STATE_DISPLAY: dict[str, tuple[str, str]] = {
    JobState.DRAFT: ("draft", "Draft"),
    JobState.COMPLETED: ("completed", "Completed"),
    JobState.FAILED: ("failed", "Failed"),
}
SENDING_SCRIPT_LABEL = (
    "Writing"  # what sending means for a script: the service writes while the call waits
)
ACTIVE_STATES = frozenset({"running", "late", "waiting", "unknown", "paused"})


@dataclass(frozen=True, slots=True)
class DisplayState:
    """`name` is the look's data-state, `word` stands beside the glyph."""

    name: str
    label: str

    @property
    def is_active(self) -> bool:
        return self.name in ACTIVE_STATES


def display_state(job: Job, charge: Charge | None, token: Token, *, late: bool) -> DisplayState:
    """The state to show; `charge` is the job's open one, `late` says it runs past the usual."""
    if charge is not None:
        name, word = CHARGE_STATE_DISPLAY[charge.state]
        writes = charge.state == ChargeState.SENDING and charge.operation.endswith("scripts")
        return DisplayState(name, SENDING_SCRIPT_LABEL if writes else word)
    if job.state != JobState.RUNNING:
        return DisplayState(*JOB_STATE_DISPLAY[job.state])
    if token.state in UNPOLLABLE_TOKEN_STATES or not job.account.is_of_current_upstream:
        return DisplayState("paused", "Paused")
    return DisplayState("late" if late else "running", upstream_status_label(job.raw_status))


def upstream_status_label(raw: str) -> str:
    return UPSTREAM_STATUS_LABELS.get(raw) or (f"In progress: {raw}" if raw else "In progress")


def select_open_charge(charges: Iterable[Charge]) -> Charge | None:
    """The open charge that decides what the video shows; none when all are settled."""
    standing = [charge for charge in charges if charge.is_open]
    return min(
        standing,
        key=lambda charge: CHARGE_STATES_BY_DOUBT.index(ChargeState(charge.state)),
        default=None,
    )
