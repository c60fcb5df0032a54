"""Exponential backoff: the next attempt comes after as long again as the failure has lasted."""

from __future__ import annotations

from datetime import timedelta
from random import SystemRandom
from typing import NamedTuple

JITTER_FRACTION = 0.2  # of the delay, either way, so that rows that failed together spread out
rng = SystemRandom()


class Backoff(NamedTuple):
    """Bounds of the delay; each failed attempt doubles the duration of the failure."""

    shortest: timedelta
    longest: timedelta

    def delay_after(self, failing_for: timedelta) -> timedelta:
        """The delay before the next attempt, for a failure of this duration."""
        return max(self.shortest, min(failing_for, self.longest))


def add_jitter(delay: timedelta) -> timedelta:
    return delay * rng.uniform(1 - JITTER_FRACTION, 1 + JITTER_FRACTION)
