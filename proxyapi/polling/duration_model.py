"""Expected staleness: how long a job may have been finished without our knowing, if we poll it now.

Pure: seconds in, seconds out. A job was read as running at the age `seen` and is `age` old now. Its
expected staleness is

    ∫ P(finished by u | not finished at `seen`) du   from `seen` to `age`,

which is the mean of `age - duration` over the durations longer than `seen`, with those beyond `age`
counted as 0. A poll is worth most where it is largest: for jobs whose hazard rate changes slowly,
polling the largest first is the optimal order.

The distribution has two parts. One is the recorded durations, each with slightly shorter and longer
variants, because 64 alone leave gaps without any end. The other is a log-logistic prior, whose
hazard rate rises up to its median and then falls like 2 / age. The prior is used alone while no
duration is recorded; later it keeps polling jobs that end much sooner than any before, and, ever
more seldom, those that outlive all of them (pitfalls 8 and 18).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from math import atan, exp
from random import Random
from statistics import median

MIN_POLL_INTERVAL_S = 5.0  # seconds between two polls of one resource; spec, Limits: every 5 to 10
MAX_POLL_INTERVAL_S = 15.0  # seconds; a job may end sooner than any did before
# A job is stalled at this multiple of the longest duration, not sooner than the minimum; without
# a recorded duration at the given age. The second row is for a word that says nothing to us.
STALL_LIMITS = {True: (4.0, 300.0, 3600.0), False: (2.0, 180.0, 600.0)}
MIN_STALLED_INTERVAL_S = 30.0  # seconds, for each stalled job of a token: two a minute for all
MAX_STALLED_INTERVAL_S = 3600.0  # seconds
PRIOR_MEDIAN_S = 180.0  # seconds; the prior's median while no duration is recorded
PRIOR_WEIGHT = 1.0  # the prior counts as much as this many recorded durations
# Each multiple of a recorded duration is as likely as the duration itself.
SPREAD_FACTORS = tuple(exp(tenths / 10) for tenths in range(-2, 3))
MAX_ESTIMATE_GAP_S = 30.0  # seconds between two polls; accepted for any duration
MIN_STALENESS_S = 0.0005  # seconds of expected staleness that are worth a request


class DurationModel:
    """The distribution of the durations of jobs of one kind, type and length."""

    def __init__(self, learned: Iterable[float] = (), middle: float = PRIOR_MEDIAN_S) -> None:
        self._learned = sorted(learned)
        self._likely = sorted(
            seconds * like for seconds in self._learned for like in SPREAD_FACTORS
        )
        self._sums = [0.0, *accumulate(self._likely)]
        self.middle = max(1.0, median(self._learned) if self._learned else middle)

    def is_stalled(self, age: float, word_age: float, *, is_known_word: bool) -> bool:
        """Whether a running job no longer moves: it is much older than any other became, or its
        status says nothing known and did not change for `word_age` seconds."""
        return age > self._stall_limit_s(True) or (
            not is_known_word and word_age > self._stall_limit_s(False)
        )

    def _stall_limit_s(self, is_known_word: bool) -> float:
        factor, minimum, unlearned = STALL_LIMITS[is_known_word]
        return max(minimum, factor * self._learned[-1]) if self._learned else unlearned

    def expected_staleness(self, seen: float, age: float) -> float:
        """Expected staleness in seconds of a job read as running at the age `seen` and now `age`
        old."""
        age = max(seen, age)
        ended_by_seen, ended_by_age = (
            bisect_right(self._likely, seen),
            bisect_right(self._likely, age),
        )
        fitting = len(self._likely) - ended_by_seen
        prior_weight = PRIOR_WEIGHT * len(SPREAD_FACTORS) / (1 + (seen / self.middle) ** 2)
        stale_seconds = age * (ended_by_age - ended_by_seen) - (
            self._sums[ended_by_age] - self._sums[ended_by_seen]
        )
        return (stale_seconds + prior_weight * self._prior_staleness(seen, age)) / (
            fitting + prior_weight
        )

    def _prior_staleness(self, seen: float, age: float) -> float:
        middle = self.middle
        running_seconds = (
            middle * (atan(age / middle) - atan(seen / middle)) * (1 + (seen / middle) ** 2)
        )
        return max(0.0, age - seen - running_seconds)

    def estimate_duration(self, seen: float, age: float, chance: Random) -> float | None:
        """Estimate in seconds the duration of a job that was running at the age `seen` and finished
        by `age`.

        The midpoint, or, if the interval is wide, a random one of the recorded durations within it.
        None if the interval is too wide to estimate from, such as after downtime of Reelroom.
        """
        inside = self._learned[bisect_right(self._learned, seen) : bisect_right(self._learned, age)]
        if inside and age - seen > age / 5:
            return chance.choice(inside)
        return midpoint_duration(seen, age)

    def next_poll_delay(self, seen: float) -> float:
        """Seconds from a poll at the age `seen` until another one may be worth its request."""
        wait = MIN_POLL_INTERVAL_S
        while (
            wait < MAX_POLL_INTERVAL_S
            and self.expected_staleness(seen, seen + wait) < MIN_STALENESS_S
        ):
            wait *= 1.25
        return min(wait, MAX_POLL_INTERVAL_S)


def midpoint_duration(seen: float, age: float) -> float | None:
    """The midpoint in seconds of the ages `seen` and `age`, if they are close enough that it is
    wrong by a third at most; otherwise None."""
    return (seen + age) / 2 if age - seen <= max(MAX_ESTIMATE_GAP_S, age / 2) else None


def stalled_poll_delay(age: float, stalled_count: int) -> float:
    """Seconds to the next poll of a stalled job of this age: ten minutes or more after an hour.
    `stalled_count` jobs of its token are stalled; together they are polled twice a minute."""
    delay = max(MIN_STALLED_INTERVAL_S * max(1, stalled_count), age / 6)
    return min(delay, MAX_STALLED_INTERVAL_S)
