"""Which of a token's due jobs to look at now. Pure: ages in, choices out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from proxyapi.watching.lag import Durations

Id = TypeVar("Id")


@dataclass(frozen=True, slots=True)
class Candidate(Generic[Id]):
    """A due job: its age at the last look that saw it, its age now (seconds), and how much more
    than another it matters, because somebody looks at it."""

    id: Id
    seen: float
    age: float
    durations: Durations
    weight: float = 1.0

    @property
    def worth(self) -> float:
        """Seconds of not knowing that a look now is expected to end, weighted."""
        return self.weight * self.durations.lag(self.seen, self.age)


def best(candidates: Iterable[Candidate[Id]], most: int) -> list[Candidate[Id]]:
    """The `most` jobs whose expected lag is largest, the largest first.

    Nobody starves: the lag of a job that is passed over grows without end, and weights do not.
    """
    return heapq.nlargest(most, candidates, key=lambda candidate: candidate.worth)
