"""Whether a storyboard is locked: its film is rendering, or the service is writing its scenes."""

from __future__ import annotations

from dataclasses import dataclass

from proxyapi.models import Charge, ChargeState, JobState, Storyboard
from proxyapi.operations import get_operation

RENDERING_TEXT = "The film is rendering. Scenes are locked until it ends."
UNKNOWN_TEXT = (
    "It is not known whether the render was ordered. Scenes are locked until the ledger shows it."
)
WRITING_TEXT = "The service is writing the scenes. They appear here by themselves."


@dataclass(frozen=True, slots=True)
class StoryboardLock:
    """What is done with a storyboard while its scenes must stay as they are."""

    is_rendering: bool = False
    is_render_unknown: bool = False  # among those that are rendering
    is_writing: bool = False

    @property
    def text(self) -> str:
        """Return why scenes cannot be changed now; empty if they can."""
        if self.is_render_unknown:
            return UNKNOWN_TEXT
        if self.is_rendering:
            return RENDERING_TEXT
        return WRITING_TEXT if self.is_writing else ""


def load_storyboard_lock(storyboard: Storyboard) -> StoryboardLock:
    """Return what locks the scenes; one query. A charge whose outcome is not known locks them.
    Scenes are written in a copy that is not the current one yet."""
    job = storyboard.copy
    charges = Charge.objects.holding().filter(job__storyboard_copy__storyboard=storyboard)
    # Done: only their cost is not known yet.
    charges = charges.exclude(state=ChargeState.UNKNOWN, applied_at__isnull=False)
    pairs = set(charges.values_list("operation", "state"))
    charged = [(get_operation(name), state) for name, state in pairs]
    renders = {state for row, state in charged if row.starts_rendering}
    is_running = job is not None and job.state == JobState.RUNNING
    return StoryboardLock(
        is_rendering=is_running or bool(renders),
        is_render_unknown=ChargeState.UNKNOWN in renders,
        is_writing=any(row.path.endswith("/prompt") for row, _ in charged),
    )
