"""The displayed state of a video, from the job, its open charge and its token.

States of our knowledge (late, paused, unknown) never become states of the job (rule 6): only the
glyph and its label change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.shared.videos.charge_status import charge_label
from proxyapi.models import Charge, Job, JobState, Token, TokenState

# Known status words of the upstream; any other is shown raw, because the list is open.
# "draft" is a clip that the service accepted (spec, Text-to-video asset).
UPSTREAM_STATUS_LABELS = {
    "rendering": "Rendering",
    "draft": "Accepted",
    "processing": "Processing",
}
UNPOLLABLE_TOKEN_STATES = frozenset({TokenState.REVOKED, TokenState.PAUSED, TokenState.REMOVED})
JOB_STATE_DISPLAY: dict[str, tuple[str, str]] = {
    JobState.DRAFT: ("draft", "Draft"),
    JobState.COMPLETED: ("completed", "Completed"),
    JobState.FAILED: ("failed", "Failed"),
}
LOST_LABEL, STALLED_LABEL = "Lost", "No longer moving"
ACTIVE_STATES = frozenset({"running", "late", "waiting", "unknown", "paused"})


@dataclass(frozen=True, slots=True)
class DisplayState:
    """`name` is the `data-state` value, `label` is shown beside the glyph."""

    name: str
    label: str

    @property
    def is_active(self) -> bool:
        return self.name in ACTIVE_STATES


def display_state(job: Job, charge: Charge | None, token: Token, *, late: bool) -> DisplayState:
    """Return the state to show; `charge` is the open one, `late` says that the render takes longer
    than usual."""
    if charge is not None:
        return DisplayState(*charge_label(charge)[:2])
    if job.state != JobState.RUNNING:
        return DisplayState(*JOB_STATE_DISPLAY[job.state])
    if token.state in UNPOLLABLE_TOKEN_STATES or not job.account.is_of_current_upstream:
        return DisplayState("paused", "Paused")
    if job.is_stalled:
        return DisplayState("late", STALLED_LABEL)
    return DisplayState("late" if late else "running", upstream_status_label(job.raw_status))


def display_state_of_charges(
    job: Job, charges: Sequence[Charge], open_charge: Charge | None, *, late: bool
) -> DisplayState:
    """Return the state to show of a job with all its charges."""
    if open_charge is None and find_lost_charge(job, charges):
        return DisplayState("failed", LOST_LABEL)
    return display_state(job, open_charge, job.token, late=late)


def find_lost_charge(job: Job, charges: Sequence[Charge]) -> Charge | None:
    """Return the charge of a resource that was paid for and whose id never arrived."""
    if job.state != JobState.DRAFT:
        return None
    return next((charge for charge in reversed(charges) if charge.unidentified_at), None)


def upstream_status_label(raw: str) -> str:
    return UPSTREAM_STATUS_LABELS.get(raw) or (f"In progress: {raw}" if raw else "In progress")
