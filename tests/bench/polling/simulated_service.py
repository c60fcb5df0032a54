"""The simulated service: its limiter, of either kind, and renders that end by the clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

LIMIT, MINUTE = 30, 60.0


class RenderClass(NamedTuple):
    """Renders of one kind, type and length: their share, the middle of their durations in seconds,
    and the standard deviation of its logarithm."""

    share: float
    middle: float
    spread: float = 0.25


RENDER_CLASSES = (
    RenderClass(0.15, 80),
    RenderClass(0.45, 150),
    RenderClass(0.25, 270),
    RenderClass(0.15, 500),
)
STRAGGLERS, THEIR_DELAY = 0.03, 2.0  # this share takes so many times as long


class LimiterAnswer(NamedTuple):
    allowed: bool
    left: int
    retry_after: float


@dataclass
class SimulatedLimiter:
    """30 requests a minute: in any sixty seconds, or in windows that begin with a request."""

    kind: str
    since: float = -MINUTE
    hits: deque[float] = field(default_factory=deque)

    def admit(self, now: float) -> LimiterAnswer:
        if self.kind == "sliding":
            while self.hits and self.hits[0] <= now - MINUTE:
                self.hits.popleft()
        elif now >= self.since + MINUTE:
            self.since = now
            self.hits.clear()
        allowed = len(self.hits) < LIMIT
        if allowed:
            self.hits.append(now)
        begins = self.hits[0] if self.kind == "sliding" else self.since
        return LimiterAnswer(allowed, LIMIT - len(self.hits), begins + MINUTE - now)


def draw_duration(chance: Random, sort: RenderClass) -> float:
    seconds = sort.middle * chance.lognormvariate(0, sort.spread)
    return seconds * (THEIR_DELAY if chance.random() < STRAGGLERS else 1)


def draw_render_class(chance: Random) -> int:
    return chance.choices(range(len(RENDER_CLASSES)), [sort.share for sort in RENDER_CLASSES])[0]
