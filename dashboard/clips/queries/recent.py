"""The newest clips of the team, as cards, with their filters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from dashboard.clips.queries.filters import MAX_SHOWN_CLIPS, ClipFilters
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.action_buttons import ActionButton, clip_card_buttons
from dashboard.shared.clip_models import clip_model_name
from dashboard.shared.filter_chips import FilterChip, build_chips
from dashboard.shared.people import load_team_people
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    with_card_relations,
)
from dashboard.shared.videos.state_tabs import annotate_tabs
from proxyapi.models import Account, Charge, Job, JobKind, JobState
from proxyapi.polling.duration_history import DurationHistory

UNSENT_TAB = "drafts"
LOST = Exists(Charge.objects.filter(job=OuterRef("pk"), unidentified_at__isnull=False))
STATE_CONDITIONS = {
    "making": Q(shelf__in=("rendering", "waiting")),
    "completed": Q(shelf="completed"),
    "failed": Q(shelf="failed") | (Q(shelf=UNSENT_TAB) & Q(LOST)),
    "unknown": Q(shelf="unknown"),
    "unsent": Q(shelf=UNSENT_TAB) & ~Q(LOST),
}


@dataclass(frozen=True, slots=True)
class RecentClips:
    filters: ClipFilters
    cards: list[tuple[VideoCard, tuple[ActionButton, ...]]]  # the buttons are the reader's
    total: int
    may_change: bool

    @property
    def all_text(self) -> str:
        if self.total <= len(self.cards) or not self.filters.library_url:
            return ""
        return f"All {self.total:,} in the library"

    @property
    def has_more(self) -> bool:
        return len(self.cards) < min(self.total, MAX_SHOWN_CLIPS)


def load_recent_clips(reader: Membership, filters: ClipFilters | None = None) -> RecentClips:
    """Three queries, or four."""
    filters = filters or ClipFilters()
    clips = apply_clip_filters(team_clips(reader), reader, filters)
    ordered = with_card_relations(clips).order_by("-created_at", "-pk")
    newest = list(ordered[: filters.limit + 1])
    durations, now = DurationHistory(tenant_id=reader.team.tenant_id), timezone.now()
    contexts = [build_video_context(job, durations, now) for job in newest[: filters.limit]]
    return RecentClips(
        filters=filters,
        cards=[
            (
                build_video_card(context, durations),
                clip_card_buttons(context.job, context.state.name, reader),
            )
            for context in contexts
        ],
        total=clips.count() if len(newest) > filters.limit else len(newest),
        may_change=has_permission(reader, Permission.RENDER),
    )


def team_clips(reader: Membership) -> QuerySet[Job]:
    """Return the clips of the team. A draft that was never sent is in the composer, not here."""
    sent = Exists(Charge.objects.filter(job=OuterRef("pk")))
    clips = Job.objects.visible().filter(tenant=reader.team.tenant_id, kind=JobKind.CLIP)
    return clips.filter(~Q(state=JobState.DRAFT) | sent)


def apply_clip_filters(
    clips: QuerySet[Job], reader: Membership, filters: ClipFilters
) -> QuerySet[Job]:
    clips = filters.narrow(clips)
    if filters.state:
        tabs = annotate_tabs(clips, reader.team.tenant_id)
        return clips.filter(pk__in=tabs.filter(STATE_CONDITIONS[filters.state]).values("pk"))
    return clips


def load_clip_chips(reader: Membership, filters: ClipFilters) -> tuple[FilterChip, ...]:
    """Return the filters by state, model and member. Three queries."""
    people = {str(person.id): person.first_name for person in load_team_people(reader.team)}
    models = load_model_names(reader, filters)
    return tuple(build_chips(filters, model=models, member=people))


def load_model_names(reader: Membership, filters: ClipFilters) -> dict[str, str]:
    """Return the models that the team's clips were made with by slug, and the chosen one."""
    slugs = team_clips(reader).order_by().values_list("draft__settings__model", flat=True)
    used = {str(slug) for slug in slugs.distinct() if slug} | {filters.model} - {""}
    accounts = list(Account.objects.filter(tenant=reader.team.tenant_id).only("clip_models"))
    names = {slug: find_model_name(accounts, slug) for slug in used}
    return dict(sorted(names.items(), key=lambda item: item[1].casefold()))


def find_model_name(accounts: Iterable[Account], slug: str) -> str:
    """Return the name of a model on the first account that lists it; else its slug."""
    names = (clip_model_name(account, slug) for account in accounts)
    return next((name for name in names if name != slug), slug)
