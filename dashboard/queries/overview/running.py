"""What renders now: the library's own cards, the longest running first."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from dashboard.queries.videos.cards import Card, card_of, rows, tell
from dashboard.queries.videos.usual import usuals
from proxyapi.models import Job, JobState

MOST = 6


@dataclass(frozen=True, slots=True)
class Running:
    """`count` of all that run; the cards of those that are shown."""

    cards: tuple[Card, ...]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.cards)


def running_of(vault_id: UUID, count: int) -> Running:
    """Three queries; none when nothing runs."""
    if not count:
        return Running((), 0)
    jobs = Job.objects.visible().filter(vault_id=vault_id, state=JobState.RUNNING)
    page = list(rows(jobs.order_by("started_at", "pk")[:MOST]))
    usual, now = usuals(vault_id), timezone.now()
    return Running(tuple(card_of(tell(job, usual, now), usual) for job in page), count)
