"""The newest clips of the team, as cards."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.action_buttons import ActionButton, clip_card_buttons
from dashboard.shared.query_params import build_page_url
from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    with_card_relations,
)
from proxyapi.models import Charge, Job, JobKind, JobState
from proxyapi.polling.duration_history import DurationHistory

RECENT_CLIPS = 12


@dataclass(frozen=True, slots=True)
class ClipCard:
    card: VideoCard
    actions: tuple[ActionButton, ...]


@dataclass(frozen=True, slots=True)
class RecentClips:
    cards: tuple[ClipCard, ...]
    total: int
    library_url: str

    @property
    def all_text(self) -> str:
        return f"All {self.total:,} in the library" if self.total > len(self.cards) else ""


def load_recent_clips(reader: Membership) -> RecentClips:
    """Three queries, or four. A draft that was never sent is in the composer, not here."""
    sent = Exists(Charge.objects.filter(job=OuterRef("pk")))
    clips = Job.objects.visible().filter(tenant=reader.team.tenant_id, kind=JobKind.CLIP)
    clips = clips.filter(~Q(state=JobState.DRAFT) | sent)
    newest = list(with_card_relations(clips).order_by("-created_at", "-pk")[: RECENT_CLIPS + 1])
    durations, now = DurationHistory(tenant_id=reader.team.tenant_id), timezone.now()
    contexts = [build_video_context(job, durations, now) for job in newest[:RECENT_CLIPS]]
    return RecentClips(
        cards=tuple(
            ClipCard(
                build_video_card(context, durations),
                clip_card_buttons(context.job, context.state.name, reader),
            )
            for context in contexts
        ),
        total=clips.count() if len(newest) > RECENT_CLIPS else len(newest),
        library_url=build_page_url("library", {"type": JobKind.CLIP.value}),
    )
