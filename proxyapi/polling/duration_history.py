"""How long renders usually take, read by one query for polling and for pages.

Polling uses the durations of all tenants on the upstream, pages those of their own tenant (rule 8).
No progress percentage is shown, because the upstream reports none: the band covers 8 of 10 of
the newest durations, and late is longer than 19 of 20.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from statistics import quantiles
from typing import NamedTuple, Self
from uuid import UUID

from proxyapi.models import Job, JobKind, RenderDurations
from proxyapi.polling.duration_model import DurationModel

MIN_DURATION_SAMPLES = 5  # durations of one length; with fewer, those of all lengths count
MIN_RENDERS_FOR_BAND = 3
MIN_RENDERS_FOR_LATE = 5
# The newest, for pages: after two slower renders neither the band nor "late" is of the past alone.
COMPARED_RENDERS = 12


class DurationKey(NamedTuple):
    environment: str
    kind: str
    subtype: str
    length: int

    @classmethod
    def for_job(cls, job: Job) -> Self:
        return cls(job.account.environment, job.kind, job.subtype, job.length)


class UsualDuration(NamedTuple):
    """Seconds: the newest duration, the band from `low` to `high`, and the age at which a render
    counts as late; None if too few durations are known."""

    last: float | None = None
    low: float | None = None
    high: float | None = None
    late_after: float | None = None

    @classmethod
    def of_durations(cls, seconds: list[float]) -> Self:
        """`seconds` are ordered oldest first; the newest `COMPARED_RENDERS` count."""
        seconds = seconds[-COMPARED_RENDERS:]
        if len(seconds) < MIN_RENDERS_FOR_BAND:
            return cls(*seconds[-1:])
        _, low, *_, high, late_after = quantiles(seconds, n=20, method="inclusive")
        return cls(
            seconds[-1], low, high, late_after if len(seconds) >= MIN_RENDERS_FOR_LATE else None
        )

    def is_late(self, elapsed: float) -> bool:
        return self.late_after is not None and elapsed > self.late_after


class DurationHistory:
    """The known durations of each duration class, of all tenants or of one."""

    def __init__(
        self, kinds: Collection[str] = tuple(JobKind), tenant_id: UUID | None = None
    ) -> None:
        self._seconds: defaultdict[DurationKey, list[float]] = defaultdict(list)
        self._of_type: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
        self._made: dict[DurationKey, DurationModel] = {}
        rows = RenderDurations.objects.filter(kind__in=set(kinds))
        if tenant_id is not None:
            rows = rows.filter(tenant_id=tenant_id)
        for *key, seconds in rows.values_list(*DurationKey._fields, "seconds"):
            self._seconds[DurationKey(*key)] += seconds
            self._of_type[key[0], key[1], key[2]] += seconds

    def model_for(self, key: DurationKey) -> DurationModel:
        """The model for polling. If a length has too few durations, those of its type count;
        without any, the model uses its prior alone."""
        if key not in self._made:
            learned = self._seconds[key]
            if len(learned) < MIN_DURATION_SAMPLES:
                learned = self._of_type[key[:3]]
            self._made[key] = DurationModel(learned)
        return self._made[key]

    def usual_for(self, job: Job) -> UsualDuration:
        """The durations for pages, of the job's own length only."""
        return UsualDuration.of_durations(self._seconds[DurationKey.for_job(job)])
