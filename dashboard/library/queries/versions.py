"""The page that compares the versions of a video, and their prices before they are rendered."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.library.queries.video_page import VideoPage, build_video_page
from dashboard.models import Membership, VersionDifference, VersionGroup
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import account_options
from dashboard.shared.videos.cards import build_video_context, with_card_relations
from proxyapi.models import Job
from proxyapi.polling.duration_history import DurationHistory


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """`difference` is such as "Genre: Noir". A version that is not rendered is a draft, with its
    `estimate` in credits if it is known, or the reason why not in `price_problem`."""

    number: int
    video: VideoPage
    difference: str
    is_draft: bool
    estimate: Decimal | None
    price_problem: str
    draft_url: str

    @property
    def awaits_price(self) -> bool:
        return self.is_draft and self.estimate is None and not self.price_problem


@dataclass(frozen=True, slots=True)
class VersionsPage:
    group_id: UUID
    title: str
    entries: tuple[VersionEntry, ...]
    hidden_count: int
    may_change: bool

    @property
    def drafts(self) -> list[VersionEntry]:
        return [entry for entry in self.entries if entry.is_draft]

    @property
    def total(self) -> Decimal | None:
        """The credits that all drafts cost together; None if one of them has no price."""
        known = [entry.estimate for entry in self.drafts if entry.estimate is not None]
        return sum(known, Decimal(0)) if len(known) == len(self.drafts) else None

    @property
    def awaits_prices(self) -> bool:
        return any(entry.awaits_price for entry in self.drafts)

    @property
    def note(self) -> str:
        return f"{len(self.entries)} versions to choose from." if self.entries else ""


def load_versions_page(group: VersionGroup, reader: Membership) -> VersionsPage:
    """Six queries."""
    rows = with_card_relations(Job.objects.filter(version__group=group))
    jobs = list(rows.prefetch_related("parts"))
    jobs.sort(key=lambda job: job.version.number)
    usual, now = DurationHistory(tenant_id=reader.team.tenant_id), timezone.now()
    entries = []
    for job in jobs:
        if job.hidden_at is None:
            context = build_video_context(job, usual, now)
            is_draft = context.state.name == "draft"
            entries.append(
                build_version_entry(group, job, build_video_page(context, usual), is_draft)
            )
    return VersionsPage(
        group_id=group.pk,
        title=jobs[0].title if jobs else "",
        entries=tuple(entries),
        hidden_count=len(jobs) - len(entries),
        may_change=has_permission(reader, Permission.RENDER),
    )


def build_version_entry(
    group: VersionGroup, job: Job, video: VideoPage, is_draft: bool
) -> VersionEntry:
    draft = job.draft_or_none
    has_price = is_draft and draft is not None and draft.has_current_estimate
    return VersionEntry(
        number=job.version.number,
        video=video,
        difference=difference_text(group, job),
        is_draft=is_draft,
        estimate=draft.estimate if draft and has_price else None,
        price_problem=draft.quote_error if draft and is_draft else "",
        draft_url=reverse("studio-draft", args=[job.pk]) if is_draft else "",
    )


def difference_text(group: VersionGroup, job: Job) -> str:
    """Return such as "Genre: Noir"; empty if nothing differs or the value is no longer offered."""
    if group.difference == VersionDifference.NONE:
        return ""
    options = account_options(job.account)
    choice = options.selected_choice(group.difference, job.chosen_settings)
    return f"{VersionDifference(group.difference).label}: {choice.name}" if choice else ""
