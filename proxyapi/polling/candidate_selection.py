"""Select which of a token's due jobs to poll now. Pure: ages in, jobs out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from proxyapi.polling.duration_model import DurationModel

JobId = TypeVar("JobId")


@dataclass(frozen=True, slots=True)
class PollCandidate(Generic[JobId]):
    """A due job: its age in seconds at the last poll that read it as running, its age now, and a
    weight, which is higher while somebody views it."""

    id: JobId
    last_seen_age: float
    age: float
    duration_model: DurationModel
    weight: float = 1.0

    @property
    def weighted_staleness(self) -> float:
        """Expected staleness in seconds that a poll now would end, times the weight."""
        return self.weight * self.duration_model.expected_staleness(self.last_seen_age, self.age)


def select_stalest(
    candidates: Iterable[PollCandidate[JobId]], most: int
) -> list[PollCandidate[JobId]]:
    """Return the `most` jobs with the highest weighted staleness, the highest first.

    No job starves: the staleness of a job that is not selected grows without limit, and weights do
    not.
    """
    return heapq.nlargest(most, candidates, key=lambda candidate: candidate.weighted_staleness)
