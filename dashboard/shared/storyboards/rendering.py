"""Whether a storyboard is locked: its film is rendering, or the service is writing its scenes."""

from __future__ import annotations

from dataclasses import dataclass

from proxyapi.models import Charge, JobState, Storyboard
from proxyapi.operations import get_operation

RENDERING_TEXT = "The film is rendering. Scenes are locked until it ends."
WRITING_TEXT = "The service is writing the scenes. They appear here by themselves."


@dataclass(frozen=True, slots=True)
class StoryboardLock:
    """What is done with a storyboard while its scenes must stay as they are."""

    is_rendering: bool = False
    is_writing: bool = False

    @property
    def text(self) -> str:
        """Return why scenes cannot be changed now; empty if they can."""
        if self.is_rendering:
            return RENDERING_TEXT
        return WRITING_TEXT if self.is_writing else ""


def load_storyboard_lock(storyboard: Storyboard) -> StoryboardLock:
    """Return what locks the scenes; one query. A charge whose outcome is not known locks them.
    Scenes are written in a copy that is not the current one yet."""
    job = storyboard.copy
    charges = Charge.objects.holding().filter(job__storyboard_copy__storyboard=storyboard)
    charged = [get_operation(name) for name in set(charges.values_list("operation", flat=True))]
    is_running = job is not None and job.state == JobState.RUNNING
    return StoryboardLock(
        is_rendering=is_running or any(row.starts_rendering for row in charged),
        is_writing=any(row.path.endswith("/prompt") for row in charged),
    )
