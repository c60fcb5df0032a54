"""A video card. It is the same for every member, so it can be pushed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar
from uuid import UUID

from django.db.models import (
    Exists,
    OuterRef,
    Prefetch,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import JSONObject
from django.urls import reverse

from dashboard.models import Membership, VideoLabel, VideoVersion
from dashboard.models.label import JsonList
from dashboard.shared.clip_models import clip_model_name
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.query_params import build_page_url
from dashboard.shared.videos.charge_status import select_open_charge
from dashboard.shared.videos.cost import CreditAmount, imported_video_cost, video_cost
from dashboard.shared.videos.display_state import DisplayState, display_state_of_charges
from dashboard.shared.videos.labels import (
    is_made_in_studio,
    job_type_label,
    maker_text,
    scene_count_text,
    storyboard_length_text,
    storyboard_scenes,
)
from dashboard.shared.videos.progress import (
    Freshness,
    RenderProgressBar,
    build_freshness,
    build_progress_bar,
    render_elapsed_s,
)
from dashboard.shared.videos.status_text import (
    VideoContext,
    completion_announcement,
    video_status_texts,
)
from proxyapi import pricing
from proxyapi.models import Charge, Job, JobKind, JobState, LedgerEntry
from proxyapi.models.account import quantize_credits
from proxyapi.operations import retry_operation_of
from proxyapi.polling.duration_history import DurationHistory

# One column instead of a query for each page that shows cards.
LABELS_OF_JOB = Subquery(
    VideoLabel.objects.filter(job=OuterRef("pk"))
    .values("job")
    .annotate(names=JsonList(JSONObject(id="label_id", name="label__name", key="label__key")))
    .values("names")
)

# Signed credits.
DEBITS_OF_IMPORTED_JOB = Subquery(
    LedgerEntry.objects.filter(job=OuterRef("pk"), charge__isnull=True)
    .order_by()
    .values("job")
    .annotate(sum=Sum("amount"))
    .values("sum")
)
SHARED = ("member", "account", "token__owner", "api_key")  # by many jobs
SETTLED_CLIP_STATES = ("draft", "completed", "failed")
JobT = TypeVar("JobT", bound=Job)


@dataclass(frozen=True, slots=True)
class CardLink:
    """A label of the video, or its version: its text, and the library page with all of them."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class VideoCard:
    """A portrait card has its own background; `announcement` is for screen readers. A hidden video
    has no `url`, because its page is closed."""

    id: UUID
    url: str
    title: str
    state: DisplayState
    subtitle: str
    cost: CreditAmount
    status_text: str
    bar: RenderProgressBar | None
    freshness: Freshness | None
    is_portrait: bool
    still_url: str
    film_url: str  # of a clip, which plays in its card
    length_text: str  # of a storyboard; that of others is read from the film
    actionable: bool
    announcement: str
    created_at: datetime
    labels: tuple[CardLink, ...]
    version: CardLink | None

    @property
    def menu_url(self) -> str:
        return reverse("video-menu", args=[self.id])

    @property
    def actions_url(self) -> str:
        return reverse("video-actions", args=[self.id])


def with_card_relations(jobs: QuerySet[JobT]) -> QuerySet[JobT]:
    """Load all relations that a card or a page reads; two queries for any number of jobs."""
    joined = with_annotations_of_cards(jobs).select_related("draft", "version__group", *SHARED)
    return joined.defer("account__costs", "token__ciphertext")


def with_shared_relations(jobs: QuerySet[JobT]) -> QuerySet[JobT]:
    """As `with_card_relations`, for a list of dozens, which have few members, accounts and tokens:
    those are loaded once each, with five queries more, and not with each job."""
    rows = with_annotations_of_cards(jobs).select_related("draft", "version__group")
    return rows.prefetch_related(*SHARED)


def with_annotations_of_cards(jobs: QuerySet[JobT]) -> QuerySet[JobT]:
    owner = Membership.with_deactivated.filter(
        team__tenant=OuterRef("tenant"), user=OuterRef("token__owner")
    )
    charges = Charge.objects.order_by("created_at", "pk")
    annotated = jobs.annotate(
        token_owner_left=~Exists(owner),
        card_labels=LABELS_OF_JOB,
        imported_debits=DEBITS_OF_IMPORTED_JOB,
    )
    return annotated.prefetch_related(Prefetch("charges", queryset=charges))  # type: ignore[return-value]


def build_video_context(job: Job, durations: DurationHistory, now: datetime) -> VideoContext:
    """Collect the data about a job of `with_card_relations`, as of `now`."""
    charges = list(job.charges.all())
    open_charge = select_open_charge(charges)
    late = job.state == JobState.RUNNING and durations.usual_for(job).is_late(
        render_elapsed_s(job, now)
    )
    state = display_state_of_charges(job, charges, open_charge, late=late)
    return VideoContext(
        job=job,
        token=job.token,
        token_owner_left=job.token_owner_left,  # type: ignore[attr-defined]  # see `with_card_relations`
        state=state,
        charges=charges,
        open_charge=open_charge,
        retry_price=pricing.estimate_retry_price(job),
        now=now,
    )


def build_video_card(context: VideoContext, durations: DurationHistory) -> VideoCard:
    job = context.job
    return VideoCard(
        id=job.pk,
        url=job_page_url(job),
        title=job.title,
        state=context.state,
        subtitle=f"{card_type_label(job)}, {maker_text(job)}",
        cost=job_cost(job, context.charges),
        status_text=video_status_texts(context).summary,
        bar=build_progress_bar(job, context.state, durations.usual_for(job), context.now),
        freshness=build_freshness(job, context.state, context.open_charge, context.now),
        is_portrait=is_portrait_ratio(str(job.chosen_settings.get("aspect_ratio") or "")),
        still_url=still_url(job, context.state),
        film_url=clip_film_url(job, context.state),
        length_text=storyboard_length_text(job),
        actionable=is_actionable(job, context.state),
        announcement=completion_announcement(context),
        created_at=job.created_at,
        labels=label_links(job),
        version=version_link(job),
    )


def job_cost(job: Job, charges: Sequence[Charge]) -> CreditAmount:
    """Return the total of a job of `with_card_relations`."""
    if not job.is_imported:
        return video_cost(charges)
    return imported_video_cost(charges, spent_before_import(job))


def spent_before_import(job: Job) -> Decimal:
    """Return the credits that the ledger shows under the title of an imported job."""
    return -quantize_credits(job.imported_debits)  # type: ignore[attr-defined]  # annotated


def card_type_label(job: Job) -> str:
    """Return the model of a clip, else the type of the video; of a storyboard its scenes too."""
    if scenes := storyboard_scenes(job):
        return f"{job_type_label(job)}, {scene_count_text(len(scenes))}"
    model = job.chosen_settings.get("model") if job.kind == JobKind.CLIP else None
    return clip_model_name(job.account, str(model)) if model else job_type_label(job)


def label_links(job: Job) -> tuple[CardLink, ...]:
    """Return the labels of a job of `with_card_relations`, by name."""
    labels: list[dict[str, str]] = job.card_labels or []  # type: ignore[attr-defined]  # annotated
    return tuple(
        CardLink(label["name"], build_page_url("library", {"label": UUID(label["id"])}))
        for label in sorted(labels, key=lambda label: label["key"])
    )


def version_link(job: Job) -> CardLink | None:
    """Return such as "Version 2 of 3", with the page that compares them."""
    version: VideoVersion | None = getattr(job, "version", None)
    if version is None:
        return None
    url = reverse("video-versions", args=[version.group_id])
    return CardLink(f"Version {version.number} of {version.group.size}", url)


def is_actionable(job: Job, state: DisplayState) -> bool:
    """True if the card has an action for some role."""
    can_retry = is_retryable(job, state.name)
    can_edit = state.name == "draft" and is_made_in_studio(job)
    is_settled_clip = job.kind == JobKind.CLIP and state.name in SETTLED_CLIP_STATES
    has_clip_button = is_settled_clip and job.draft_or_none is not None
    return can_retry or can_edit or has_clip_button or job.hidden_at is not None


def is_retryable(job: Job, state: str) -> bool:
    """Whether the service has a retry for a job that is shown as failed, or no longer moves."""
    is_over = state == "failed" or (state == "late" and job.is_stalled)
    return is_over and retry_operation_of(job.kind) is not None


def still_url(job: Job, state: DisplayState) -> str:
    """Return the URL of the card's picture, a frame of the video; the script prefers the service's
    own picture, if there is one (static/js/posters/card_pictures.js)."""
    if state.name != "completed" or not job.media_url or job.hidden_at is not None:
        return ""
    return film_still_url(job.pk)


def clip_film_url(job: Job, state: DisplayState) -> str:
    """Return the URL of a clip's film; other videos are too long for their cards."""
    is_clip = job.kind == JobKind.CLIP and bool(still_url(job, state))
    return reverse("video-media", args=[job.pk]) if is_clip else ""


def film_still_url(job_id: UUID) -> str:
    """Return the URL of a frame of a finished video, for `data-still`."""
    return f"{reverse('video-media', args=[job_id])}?still=1#t=1.2"


def is_portrait_ratio(ratio: str) -> bool:
    wide, _, high = ratio.replace("x", ":").partition(":")
    return wide.isdigit() and high.isdigit() and int(high) > int(wide)
