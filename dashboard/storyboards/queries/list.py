"""The team's storyboards: how far each is, and its film."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared import query_params
from dashboard.shared.access import has_permission
from dashboard.shared.clip_models import clip_model_name
from dashboard.shared.filter_chips import FilterChip, build_filter_chip
from dashboard.shared.formatting import age_text, duration
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


class StoryboardCursor(NamedTuple):
    """The last row of a page: when it was edited, and its id."""

    edited_at: datetime
    id: UUID

    def __str__(self) -> str:
        return f"{query_params.format_cursor_time(self.edited_at)}.{self.id.hex}"


@dataclass(frozen=True, slots=True)
class StoryboardFilters(query_params.PageFilters):
    """`whose`: "mine", or "" for everybody's; `show` is a key of `SHOW_LABELS`."""

    PAGE: ClassVar[str] = "storyboards"
    CURSOR: ClassVar[str] = "before"

    search: str = ""
    whose: str = ""
    show: str = ""
    before: StoryboardCursor | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.show)

    @property
    def shows_deleted(self) -> bool:
        return self.show == "deleted"


@dataclass(frozen=True, slots=True)
class FilmCell:
    """The newest film. `state` is that of a glyph."""

    job_id: UUID
    state: str
    label: str


@dataclass(frozen=True, slots=True)
class StoryboardRow:
    """`glyph` and `missing` say what is missing for the film, or that nothing is."""

    id: UUID
    title: str
    kind_line: str
    scenes: str
    length: str
    clips: str
    glyph: str
    missing: str
    film: FilmCell | None
    member_name: str
    initials: str
    edited_at: datetime
    age: str


@dataclass(frozen=True, slots=True)
class StoryboardTable:
    """Rows, the last edited first; `total` counts all that the filters match."""

    rows: tuple[StoryboardRow, ...]
    filters: StoryboardFilters
    url: str
    total: int
    may_change: bool
    everyone_url: str
    mine_url: str
    show_chip: FilterChip
    older_url: str
    newest_url: str


class SceneFacts(NamedTuple):
    """What is known of the copies of a page of storyboards, by the job's id: clips by the scene's
    id there, states of open orders by the scene's id here, and jobs whose render was ordered."""

    clips: Mapping[UUID, Mapping[str, JobPart]]
    orders: Mapping[UUID, Mapping[str, ChargeState]]
    writing: frozenset[UUID]  # ids of storyboards


def load_storyboard_table(reader: Membership, filters: StoryboardFilters) -> StoryboardTable:
    """Eight queries at most, however many storyboards there are."""
    storyboards, before = filter_storyboards(reader, filters), filters.before
    page = storyboards
    if before:
        same = Q(edited_at=before.edited_at, pk__lt=before.id)
        page = storyboards.filter(Q(edited_at__lt=before.edited_at) | same)
    rows = list(with_copies(page)[: PAGE_SIZE + 1])
    shown, now = rows[:PAGE_SIZE], timezone.now()
    facts = load_scene_facts(shown)
    cursor = StoryboardCursor(shown[-1].edited_at, shown[-1].pk) if len(rows) > PAGE_SIZE else None
    return StoryboardTable(
        rows=tuple(build_storyboard_row(one, facts, now) for one in shown),
        filters=filters,
        url=filters.url(before=before),
        total=storyboards.count() if before or cursor else len(rows),
        may_change=has_permission(reader, Permission.RENDER),
        everyone_url=filters.url(whose=""),
        mine_url=filters.url(whose="mine"),
        show_chip=build_filter_chip("show", "Show", SHOW_LABELS, filters),
        older_url=filters.url(before=cursor) if cursor else "",
        newest_url=filters.url() if before else "",
    )


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


def build_storyboard_row(storyboard: Storyboard, facts: SceneFacts, now: datetime) -> StoryboardRow:
    """`storyboard` is a row of `with_copies`. No query."""
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
    return StoryboardRow(
        id=storyboard.pk,
        title=storyboard.title,
        kind_line=", ".join(filter(None, (engine, storyboard.aspect_ratio, storyboard.resolution))),
        scenes=str(len(rows)) if rows else "none",
        length=duration(sum(row.scene.duration for row in rows)) if rows else "",
        clips=f"{ready} of {len(rows)}" if rows else "",
        glyph=glyph,
        missing=missing,
        film=film,
        member_name=str(storyboard.member),
        initials=storyboard.member.initials,
        edited_at=storyboard.edited_at,
        age=age_text(now - storyboard.edited_at),
    )


def find_film(copies: Iterable[StoryboardCopy]) -> FilmCell | None:
    """Return the newest finished film, else the newest that is rendering or failed."""
    jobs: list[Job] = [copy.job for copy in copies]
    done = next((job for job in jobs if job.state == JobState.COMPLETED), None)
    job = done or next(iter(jobs), None)
    if job is None:
        return None
    labels = {JobState.COMPLETED: "Watch", JobState.FAILED: "Failed"}
    label = labels.get(JobState(job.state), "Rendering")
    return FilmCell(job.pk, str(job.state), label)


def storyboard_progress(
    storyboard: Storyboard, rows: Sequence[SceneRow], facts: SceneFacts, film: FilmCell | None
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


def parse_storyboard_filters(query: Mapping[str, str]) -> StoryboardFilters:
    return StoryboardFilters(
        search=query_params.parse_search_text(query),
        whose=query_params.allowed_or_empty(query.get("whose", ""), ("mine",)),
        show=query_params.allowed_or_empty(query.get("show", ""), SHOW_LABELS),
        before=parse_storyboard_cursor(query.get("before", "")),
    )


def parse_storyboard_cursor(text: str) -> StoryboardCursor | None:
    try:
        seconds, fraction, id = text.split(".")
        return StoryboardCursor(query_params.parse_cursor_time(seconds, fraction), UUID(id))
    except (ValueError, OverflowError, OSError):
        return None
