"""Which of a token's due jobs to look at now. Pure: ages in, choices out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from proxyapi.polling.duration_model import DurationModel

JobId = TypeVar("JobId")


@dataclass(frozen=True, slots=True)
class PollCandidate(Generic[JobId]):
    """A due job: its age at the last look that saw it, its age now (seconds), and how much more
    than another it matters, because somebody looks at it."""

    id: JobId
    last_seen_age: float
    age: float
    duration_model: DurationModel
    weight: float = 1.0

    @property
    def weighted_staleness(self) -> float:
        """Seconds of not knowing that a look now is expected to end, weighted."""
        return self.weight * self.duration_model.expected_staleness(self.last_seen_age, self.age)


def select_stalest(
    candidates: Iterable[PollCandidate[JobId]], most: int
) -> list[PollCandidate[JobId]]:
    """The `most` jobs whose expected lag is largest, the largest first.

    Nobody starves: the lag of a job that is passed over grows without end, and weights do not.
    """
    return heapq.nlargest(most, candidates, key=lambda candidate: candidate.weighted_staleness)
