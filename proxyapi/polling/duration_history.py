"""What past renders taught, for choosing among those that run now: one query for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple, Self

from proxyapi.models import Job, RenderDurations
from proxyapi.polling.duration_model import DurationModel

MIN_DURATION_SAMPLES = 5  # durations of one length; with fewer, those of all lengths count


class DurationKey(NamedTuple):
    environment: str
    kind: str
    subtype: str
    length: int

    @classmethod
    def for_job(cls, job: Job) -> Self:
        return cls(job.account.environment, job.kind, job.subtype, job.length)


class DurationHistory:
    """The durations of each sort. Few of a length: those of its type; none: imagined ones."""

    def __init__(self, kinds: Collection[str]) -> None:
        self._seconds: dict[DurationKey, list[float]] = {}
        self._of_type: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._made: dict[DurationKey, DurationModel] = {}
        paces = RenderDurations.objects.filter(kind__in=set(kinds))
        for *sort, seconds in paces.values_list(*DurationKey._fields, "seconds"):
            self._seconds[DurationKey(*sort)] = seconds
            self._of_type[sort[0], sort[1], sort[2]] += seconds

    def model_for(self, sort: DurationKey) -> DurationModel:
        if sort not in self._made:
            learned = self._seconds.get(sort, [])
            if len(learned) < MIN_DURATION_SAMPLES:
                learned = self._of_type[sort[:3]]
            self._made[sort] = DurationModel(learned)
        return self._made[sort]
