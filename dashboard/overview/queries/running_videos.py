"""What renders now: the library's own cards, the longest running first."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    with_card_relations,
)
from proxyapi.models import Job, JobState
from proxyapi.polling.duration_history import DurationHistory

MAX_RUNNING_CARDS = 6


@dataclass(frozen=True, slots=True)
class RunningRenders:
    """`count` of all that run; the cards of those that are shown."""

    cards: tuple[VideoCard, ...]
    count: int

    @property
    def more_count(self) -> int:
        return self.count - len(self.cards)


def load_running_renders(tenant_id: UUID, count: int) -> RunningRenders:
    """Three queries; none when nothing runs."""
    if not count:
        return RunningRenders((), 0)
    jobs = Job.objects.visible().filter(tenant_id=tenant_id, state=JobState.RUNNING)
    page = list(with_card_relations(jobs.order_by("started_at", "pk")[:MAX_RUNNING_CARDS]))
    usual, now = DurationHistory(tenant_id=tenant_id), timezone.now()
    return RunningRenders(
        tuple(build_video_card(build_video_context(job, usual, now), usual) for job in page), count
    )
