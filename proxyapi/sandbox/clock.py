"""The sandbox's clock: renders, rate windows, UTC days and cooldowns all run on it.

Three modes: `real` follows the machine, `frozen` moves only by `advance`, `scaled` runs
`scale` times as fast as the machine. Instants are seconds since the epoch, UTC. A clock that
has got to the end of the year 8999 stands still there until it is set to another instant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field

Mode = Literal["real", "frozen", "scaled"]

# A frozen world starts at a fixed instant, so that same seed + same calls = same bodies.
FROZEN_START = datetime(2026, 1, 15, 9, 0, tzinfo=UTC).timestamp()
# Dates end with the year 9999, and what the world promises lies after its instant.
MAX_INSTANT = datetime(9000, 1, 1, tzinfo=UTC).timestamp()


class ClockState(BaseModel):
    """What is saved of a clock: the world's instant at one instant of the machine."""

    mode: Mode = "real"
    scale: float = Field(default=1.0, gt=0, le=100_000)
    world: float = Field(ge=0, le=MAX_INSTANT)
    machine: float = Field(allow_inf_nan=False)


class SandboxClock:
    def __init__(
        self,
        mode: Mode | None = None,
        *,
        scale: float = 1.0,
        now: float | None = None,
        machine: Callable[[], float] = time.time,
    ) -> None:
        """Without a mode it is real, or as a saved world has it."""
        self._machine = machine
        self._told = mode is not None
        self._held: float | None = None
        start = FROZEN_START if mode == "frozen" else machine()
        self.state = ClockState(
            mode=mode or "real", scale=scale, world=start if now is None else now, machine=machine()
        )

    def now(self) -> float:
        return self._now_of(self.state) if self._held is None else self._held

    @contextmanager
    def freeze_reads(self) -> Iterator[None]:
        """All that is asked within is told one instant."""
        self._held = self.now()
        try:
            yield
        finally:
            self._held = None

    def _now_of(self, state: ClockState) -> float:
        """Where a clock has got to that was set so; at the ends of its time it stands still."""
        if state.mode == "frozen":
            return state.world
        scale = state.scale if state.mode == "scaled" else 1.0
        return min(max(0.0, state.world + (self._machine() - state.machine) * scale), MAX_INSTANT)

    def machine_seconds(self, seconds: float) -> float:
        """How long so many seconds of the world take on the machine; none while frozen."""
        if self.state.mode == "frozen":
            return 0.0
        return seconds / self.state.scale if self.state.mode == "scaled" else seconds

    def advance(self, seconds: float) -> None:
        """Put the clock forward; raises ValueError beyond the year 8999."""
        if self.now() + seconds > MAX_INSTANT:
            raise ValueError("The clock ends with the year 8999.")
        self.state = self.state.model_copy(update={"world": self.state.world + seconds})

    def set_mode(self, mode: Mode, *, now: float | None = None, scale: float = 1.0) -> None:
        """Change the mode; without `now` the world goes on from where it is.

        Raises ValueError before 1970 and beyond the year 8999.
        """
        world = self.now() if now is None else now
        self.state = ClockState(mode=mode, scale=scale, world=world, machine=self._machine())

    def restore(self, saved: ClockState) -> None:
        """Go on from a saved world, in its mode unless this clock was told another; then from
        where the saved one is by now, never back in time."""
        told = self.state
        if self._told and (told.mode, told.scale) != (saved.mode, saved.scale):
            now = max(self._now_of(saved), self.now())
            self.set_mode(told.mode, now=now, scale=told.scale)
        else:
            self.state = saved


def format_iso(instant: float) -> str:
    """ISO 8601 with offset, whole seconds: `2026-01-15T09:00:00+00:00`."""
    return datetime.fromtimestamp(int(instant), tz=UTC).isoformat()


def utc_day(instant: float) -> str:
    return datetime.fromtimestamp(instant, tz=UTC).date().isoformat()


def parse_clock_mode(text: str) -> tuple[Mode, float]:
    """Read the command line's `real`, `frozen` or `xN` into a mode and a scale."""
    if text == "real" or text == "frozen":
        return ("real" if text == "real" else "frozen"), 1.0
    try:
        scale = float(text.removeprefix("x"))
    except ValueError:
        scale = 0.0
    if not text.startswith("x") or not 0 < scale <= 100_000:
        raise ValueError(f"clock must be real, frozen or xN (for example x10), not {text!r}")
    return "scaled", scale
