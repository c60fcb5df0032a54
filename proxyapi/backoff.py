"""Exponential back-off: the next try comes after as long again as the trouble has lasted."""

from __future__ import annotations

from datetime import timedelta
from random import SystemRandom
from typing import NamedTuple

JITTER_FRACTION = 0.2  # of the delay, either way: what failed together does not come back together
rng = SystemRandom()


class Backoff(NamedTuple):
    """Bounds of the delay; each try without success doubles the duration of the trouble."""

    shortest: timedelta
    longest: timedelta

    def delay_after(self, lasting: timedelta) -> timedelta:
        """The delay before the next try, for trouble that has lasted so long."""
        return max(self.shortest, min(lasting, self.longest))


def add_jitter(delay: timedelta) -> timedelta:
    return delay * rng.uniform(1 - JITTER_FRACTION, 1 + JITTER_FRACTION)
