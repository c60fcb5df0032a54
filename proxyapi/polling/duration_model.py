"""How much later than need be we shall know that a job has finished, if we look now.

Pure: seconds in, seconds out. A job was seen running at the age `seen`; it is `age` old now. Its
expected lag is the time for which it may have been finished without our knowing,

    ∫ P(finished by u | not finished at `seen`) du   from `seen` to `age`,

which is the mean of `age - duration` over the durations that fit what was seen, those beyond
`age` counted as nothing. Looks are worth most where it is largest: for jobs whose chance to finish
changes slowly, looking at the largest first is the best order there is.

The durations are those learned here, each with some a little shorter and longer, because 64 alone
leave gaps in which nothing would seem to end, and an imagined one: a log-logistic law, whose chance
to finish rises up to its middle and then falls like 2 / age. Alone it is the start without
experience; beside learned durations it keeps us looking at jobs that end much sooner than any
before, and at those that outlived them all, ever more seldom (pitfalls 8 and 18).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from math import atan, exp
from random import Random
from statistics import median

MIN_POLL_INTERVAL_S = 5.0  # seconds between two looks at one resource; spec, Limits: every 5 to 10
MAX_POLL_INTERVAL_S = 15.0  # seconds; a job may end sooner than any did before
STUCK_AFTER_FACTOR = (
    4.0  # times as long as the longest: no longer late but stuck, and looked at seldom
)
STUCK_POLL_INTERVAL_S = 3600.0  # seconds
PRIOR_MEDIAN_S = 180.0  # seconds; half of the imagined durations are shorter, before any is learned
PRIOR_WEIGHT = 1.0  # durations' worth of doubt beside what was learned
SPREAD_FACTORS = tuple(
    exp(tenths / 10) for tenths in range(-2, 3)
)  # times a duration: as likely as it was
MAX_ESTIMATE_GAP_S = 30.0  # seconds between two looks, for a duration however short
MIN_STALENESS_S = 0.0005  # seconds of expected lag; a look for less is not worth a request


class DurationModel:
    """What is known of how long jobs of one kind, type and length take."""

    def __init__(self, learned: Iterable[float] = (), middle: float = PRIOR_MEDIAN_S) -> None:
        self._learned = sorted(learned)
        self._likely = sorted(
            seconds * like for seconds in self._learned for like in SPREAD_FACTORS
        )
        self._sums = [0.0, *accumulate(self._likely)]
        self.middle = max(1.0, median(self._learned) if self._learned else middle)

    @property
    def longest_duration_s(self) -> float:
        """Seconds that no known job outlived, or hardly any imagined one."""
        return max(self._learned, default=20 * self.middle)

    def expected_staleness(self, seen: float, age: float) -> float:
        """Expected seconds of not knowing, for a job seen running at `seen`, now `age` old."""
        age = max(seen, age)
        over, now = bisect_right(self._likely, seen), bisect_right(self._likely, age)
        fitting = len(self._likely) - over
        doubt = PRIOR_WEIGHT * len(SPREAD_FACTORS) / (1 + (seen / self.middle) ** 2)
        late = age * (now - over) - (self._sums[now] - self._sums[over])
        return (late + doubt * self._prior_staleness(seen, age)) / (fitting + doubt)

    def _prior_staleness(self, seen: float, age: float) -> float:
        middle = self.middle
        alive = middle * (atan(age / middle) - atan(seen / middle)) * (1 + (seen / middle) ** 2)
        return max(0.0, age - seen - alive)

    def estimate_duration(self, seen: float, age: float, chance: Random) -> float | None:
        """When a job finished that was running at `seen` and was not at `age`.

        Halfway; where that says little, one of the durations that others had in between. None
        where nothing tells: what Reelroom slept in between is no duration.
        """
        inside = self._learned[bisect_right(self._learned, seen) : bisect_right(self._learned, age)]
        if inside and age - seen > age / 5:
            return chance.choice(inside)
        return midpoint_duration(seen, age)

    def next_poll_delay(self, seen: float) -> float:
        """Seconds from a look at the age `seen` until another one may be worth its request."""
        if seen > STUCK_AFTER_FACTOR * self.longest_duration_s:
            return min(max(MIN_POLL_INTERVAL_S, seen / 20), STUCK_POLL_INTERVAL_S)
        wait = MIN_POLL_INTERVAL_S
        while (
            wait < MAX_POLL_INTERVAL_S
            and self.expected_staleness(seen, seen + wait) < MIN_STALENESS_S
        ):
            wait *= 1.25
        return min(wait, MAX_POLL_INTERVAL_S)


def midpoint_duration(seen: float, age: float) -> float | None:
    """How long a job took that was running at the age `seen` and was not at `age`, where these
    two looks were near each other; at worst a third of it is wrong."""
    return (seen + age) / 2 if age - seen <= max(MAX_ESTIMATE_GAP_S, age / 2) else None
