"""What past renders taught, for choosing among those that run now: one query for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple, Self

from proxyapi.models import Job, Pace
from proxyapi.watching.lag import Durations

ENOUGH = 5  # durations of one length; with fewer, those of all lengths count


class Sort(NamedTuple):
    environment: str
    kind: str
    variety: str
    length: int

    @classmethod
    def of(cls, job: Job) -> Self:
        return cls(job.account.environment, job.kind, job.variety, job.length)


class Experience:
    """The durations of each sort. Few of a length: those of its type; none: imagined ones."""

    def __init__(self, kinds: Collection[str]) -> None:
        self._seconds: dict[Sort, list[float]] = {}
        self._of_type: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._made: dict[Sort, Durations] = {}
        paces = Pace.objects.filter(kind__in=set(kinds))
        for *sort, seconds in paces.values_list(*Sort._fields, "seconds"):
            self._seconds[Sort(*sort)] = seconds
            self._of_type[sort[0], sort[1], sort[2]] += seconds

    def durations(self, sort: Sort) -> Durations:
        if sort not in self._made:
            learned = self._seconds.get(sort, [])
            if len(learned) < ENOUGH:
                learned = self._of_type[sort[:3]]
            self._made[sort] = Durations(learned)
        return self._made[sort]
