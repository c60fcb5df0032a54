"""The team's storyboards: how far each is, and its film."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared import query_params
from dashboard.shared.access import has_permission
from dashboard.shared.clip_models import clip_model_name
from dashboard.shared.formatting import age_text, duration
from dashboard.shared.lists import WHOSE_LABELS, load_list
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import SceneRow, SceneState, build_scene_rows
from proxyapi.kinds import SCENE_CLIPS_OPERATION, WRITING_OPERATION, scenes_by_id
from proxyapi.models import (
    Charge,
    ChargeState,
    Job,
    JobPart,
    JobState,
    Storyboard,
    StoryboardCopy,
    StoryboardScene,
)
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.models.job_part import SCENE_CLIPS

PAGE_SIZE = 40
SHOW_LABELS = {"": "all", "open": "without a film", "film": "with a film", "deleted": "deleted"}
READY_TEXT = "Nothing, ready to render"
NO_SCENES_TEXT = "Scenes"
FILM_STATES = (JobState.RUNNING, JobState.COMPLETED, JobState.FAILED)


@dataclass(frozen=True, slots=True)
class StoryboardFilters(query_params.PageFilters):
    PAGE: ClassVar[str] = "storyboards"
    CURSOR: ClassVar[str] = "before"
    ID: ClassVar[str] = "storyboard"

    search: str = query_params.search_field()
    whose: str = query_params.choice_field(WHOSE_LABELS, narrows=False)
    show: str = query_params.choice_field(SHOW_LABELS, "Show")
    before: query_params.Cursor | None = query_params.cursor_field(datetime, UUID)

    @property
    def shows_deleted(self) -> bool:
        return self.show == "deleted"


class SceneFacts(NamedTuple):
    """What is known of the copies of a page of storyboards, by the job's id: clips by the scene's
    id there, states of open orders by the scene's id here, and jobs whose render was ordered."""

    clips: Mapping[UUID, Mapping[str, JobPart]]
    orders: Mapping[UUID, Mapping[str, ChargeState]]
    writing: frozenset[UUID]  # ids of storyboards


def load_storyboards(reader: Membership, filters: StoryboardFilters) -> dict[str, Any]:
    """Eight queries at most, however many storyboards there are."""
    page = load_list(filters, with_copies(filter_storyboards(reader, filters)), PAGE_SIZE)
    facts, now = load_scene_facts(page.rows), timezone.now()
    return {
        "list": page,
        "rows": [build_storyboard_row(storyboard, facts, now) for storyboard in page.rows],
        "may_change": has_permission(reader, Permission.RENDER),
    }


def filter_storyboards(reader: Membership, filters: StoryboardFilters) -> QuerySet[Storyboard]:
    storyboards = Storyboard.objects.filter(
        tenant=reader.team.tenant_id, hidden_at__isnull=not filters.shows_deleted
    ).order_by("-edited_at", "-pk")
    if filters.whose:
        storyboards = storyboards.filter(member=reader.user_id)
    if filters.show in ("open", "film"):
        films = StoryboardCopy.objects.filter(
            storyboard=OuterRef("pk"), job__state=JobState.COMPLETED, job__hidden_at=None
        )
        has_film = Exists(films)
        storyboards = storyboards.filter(has_film if filters.show == "film" else ~has_film)
    if filters.search:
        text = filters.search
        found = StoryboardScene.objects.filter(storyboard=OuterRef("pk"), prompt__icontains=text)
        named = Q(title__icontains=text) | Q(description__icontains=text)
        storyboards = storyboards.filter(named | Q(Exists(found)))
    return storyboards


def with_copies(storyboards: QuerySet[Storyboard]) -> QuerySet[Storyboard]:
    """With the member, the current copy and its draft, the scenes, the account (read once, not with
    each row) and the jobs of which a film was ordered, the newest first."""
    films = StoryboardCopy.objects.filter(job__state__in=FILM_STATES, job__hidden_at=None)
    films = films.select_related("job").defer("job__media_url").order_by("-job__created_at")
    return storyboards.select_related("member", "copy__draft").prefetch_related(
        "account", "scenes", Prefetch("copies", films, to_attr="films")
    )


def load_scene_facts(storyboards: Sequence[Storyboard]) -> SceneFacts:
    """Three queries."""
    jobs = [one.copy_id for one in storyboards if one.copy_id]
    clips: dict[UUID, dict[str, JobPart]] = defaultdict(dict)
    for part in JobPart.objects.filter(job__in=jobs, list_name=SCENE_CLIPS):
        clips[part.job_id][part.remote_id] = part
    orders: dict[UUID, dict[str, ChargeState]] = defaultdict(dict)
    open_orders = Charge.objects.filter(
        job__in=jobs, operation=SCENE_CLIPS_OPERATION, state__in=HOLDING_STATES
    )
    for order in open_orders:
        for scene_id in order.body.get("scenes", ()):
            orders[order.job_id][scene_id] = ChargeState(order.state)  # type: ignore[index]
    writings = Charge.objects.filter(
        operation=WRITING_OPERATION,
        state__in=HOLDING_STATES,
        job__storyboard_copy__storyboard__in=[one.pk for one in storyboards],
    )
    ids = writings.values_list("job__storyboard_copy__storyboard", flat=True)
    return SceneFacts(clips, orders, frozenset(ids))


def build_storyboard_row(
    storyboard: Storyboard, facts: SceneFacts, now: datetime
) -> dict[str, Any]:
    """`storyboard` is a row of `with_copies`. `glyph` and `missing` say what is missing for the
    film, or that nothing is. No query."""
    job = storyboard.copy
    rows = build_scene_rows(
        storyboard,
        storyboard.scenes.all(),
        scenes_by_id(job.draft.sent_settings) if job and job.draft_or_none else {},
        facts.clips.get(job.pk, {}) if job else {},
        facts.orders.get(job.pk, {}) if job else {},
    )
    film = find_film(getattr(storyboard, "films", ()))
    glyph, missing = storyboard_progress(storyboard, rows, facts, film)
    ready = sum(row.state == SceneState.READY for row in rows)
    engine = clip_model_name(storyboard.account, storyboard.engine) if storyboard.engine else ""
    return {
        "storyboard": storyboard,
        "kind_line": ", ".join(
            filter(None, (engine, storyboard.aspect_ratio, storyboard.resolution))
        ),
        "scenes": len(rows),
        "length": duration(sum(row.scene.duration for row in rows)) if rows else "",
        "clips": f"{ready} of {len(rows)}" if rows else "",
        "glyph": glyph,
        "missing": missing,
        "film": film,
        "age": age_text(now - storyboard.edited_at),
    }


def find_film(copies: Iterable[StoryboardCopy]) -> Job | None:
    """Return the newest finished film, else the newest that is rendering or failed."""
    jobs = [copy.job for copy in copies]
    done = (job for job in jobs if job.state == JobState.COMPLETED)
    return next(done, jobs[0] if jobs else None)


def storyboard_progress(
    storyboard: Storyboard, rows: Sequence[SceneRow], facts: SceneFacts, film: Job | None
) -> tuple[str, str]:
    """Return the glyph and the text of what the film lacks."""
    if storyboard.pk in facts.writing:
        return "running", "The scenes are being written"
    if not rows:
        return "late", NO_SCENES_TEXT
    job = storyboard.copy
    if job is not None and job.state == JobState.RUNNING:
        return "running", "The film is rendering"
    counts = {state: sum(row.state == state for row in rows) for state in SceneState}
    if counts[SceneState.UNKNOWN]:
        return "unknown", count_text(counts[SceneState.UNKNOWN], "clip", "not known")
    if counts[SceneState.GENERATING]:
        return "running", count_text(counts[SceneState.GENERATING], "clip", "being generated")
    parts = [
        count_text(sum(row.nearest_duration is not None for row in rows), "duration"),
        count_text(counts[SceneState.NO_PROMPT], "prompt"),
        count_text(sum(row.needs_clip for row in rows), "clip"),
    ]
    missing = ", ".join(filter(None, parts))
    if missing:
        return "late", missing
    if job is not None and job.state == JobState.COMPLETED and film is not None:
        return "completed", "Nothing, the film is there"
    return "completed", READY_TEXT


def count_text(count: int, noun: str, state: str = "") -> str:
    """Return a text such as `3 clips being generated`; empty for none."""
    if not count:
        return ""
    return " ".join(filter(None, (f"{count} {noun}{'' if count == 1 else 's'}", state)))
