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
    """Return what locks the scenes; one query. A charge whose outcome is not known locks them."""
    job = storyboard.copy
    if job is None:
        return StoryboardLock()
    names = Charge.objects.holding().filter(job=job).values_list("operation", flat=True)
    charged = [get_operation(name) for name in set(names)]
    return StoryboardLock(
        is_rendering=job.state == JobState.RUNNING or any(row.starts_rendering for row in charged),
        is_writing=any(row.path.endswith("/prompt") for row in charged),
    )
