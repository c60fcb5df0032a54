"""The storyboard editor: the strip of scenes, the picked one, and who else is in it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.clip_prices import clip_price_form
from dashboard.shared.storyboards.presence import ScenePresence, load_presence
from dashboard.shared.storyboards.rendering import StoryboardLock, load_storyboard_lock
from dashboard.shared.storyboards.scene_states import (
    SceneRow,
    SceneState,
    load_scene_rows,
    storyboard_model,
)
from dashboard.storyboards.queries.panel import ScenePanel, build_panel
from dashboard.storyboards.queries.tiles import FilmScale, SceneTile, build_scale, build_tiles
from dashboard.storyboards.queries.writing import SceneWriting, load_scene_writing
from dashboard.storyboards.readiness.setting_change import SETTING_COLUMNS
from proxyapi.models import Storyboard

ENGINE_GONE = "{engine} is no longer in your plan. Pick another engine to generate."


@dataclass(frozen=True, slots=True)
class Editor:
    """`panel` is None without scenes. `can_edit`: the reader may, and nothing locks the scenes."""

    storyboard: Storyboard
    rows: tuple[SceneRow, ...]
    tiles: tuple[SceneTile, ...]
    scale: FilmScale | None
    panel: ScenePanel | None
    people: tuple[ScenePresence, ...]
    lock: StoryboardLock
    is_member_editor: bool
    engine_notice: str
    writing: SceneWriting | None

    @property
    def can_edit(self) -> bool:
        return self.is_member_editor and not self.lock.text

    @property
    def picked_id(self) -> str:
        return str(self.panel.scene.pk) if self.panel else ""

    @property
    def has_notices(self) -> bool:
        return bool(self.engine_notice or self.lock.is_rendering)

    @property
    def note(self) -> str:
        """Return the sentence below the title: how far the scenes are, and who else is here."""
        if not self.rows:
            return "No scenes yet."
        ready = sum(row.state == SceneState.READY for row in self.rows)
        count = len(self.rows)
        text = f"{count} {'scene' if count == 1 else 'scenes'}, {ready} ready."
        numbers = {str(row.scene.pk): row.number for row in self.rows}
        present = [
            f"{one.name} is editing scene {numbers[one.scene_id]}."
            for one in self.people
            if one.scene_id in numbers
        ]
        return " ".join([text, *present])

    @property
    def version(self) -> str:
        """Identify what the page shows of the scenes, so that an unchanged page is not sent."""
        writing = self.writing and (self.writing.state, self.writing.title, self.writing.text)
        shown: tuple[object, ...] = (
            self.storyboard.title,
            self.note,
            self.tiles,
            self.lock,
            self.can_edit,
            writing,
        )
        shown += price_facts(self.storyboard)
        picked = self.panel and (self.panel.versions, self.panel.take, self.panel.slots)
        return sha256(repr((shown, picked)).encode()).hexdigest()[:16]


def price_facts(storyboard: Storyboard) -> tuple[object, ...]:
    """What film bar and rail show besides the scenes: the settings, and the price of the render."""
    facts = tuple(getattr(storyboard, name) for name in SETTING_COLUMNS)
    job = storyboard.copy
    draft = job.draft_or_none if job else None
    if job is None or draft is None:
        return facts
    asked = (draft.estimate, draft.estimate_as_of, draft.quote_due_at, draft.quote_error)
    return (*facts, job.pk, job.state, *asked)


def load_editor(reader: Membership, storyboard: Storyboard, scene_id: UUID | None) -> Editor:
    """Return the editor with this scene picked, or the first one; six queries."""
    rows = load_scene_rows(storyboard)
    engine = storyboard_model(storyboard)
    row = next((row for row in rows if row.scene.pk == scene_id), rows[0] if rows else None)
    people = load_presence(storyboard.pk, reader.user)
    engine_name = engine.name if engine else storyboard.engine
    tiles = build_tiles(rows, engine_name, people, row.scene.pk if row else None)
    form = clip_price_form(storyboard.account)
    has_models = bool(storyboard.account.clip_models)
    gone = ENGINE_GONE.format(engine=engine_name or "The engine")
    return Editor(
        storyboard=storyboard,
        rows=rows,
        tiles=tiles,
        scale=build_scale(tiles) if tiles else None,
        panel=build_panel(storyboard, rows, row, engine, form) if row else None,
        people=people,
        lock=load_storyboard_lock(storyboard),
        is_member_editor=has_permission(reader, Permission.RENDER),
        engine_notice=gone if has_models and engine is None else "",
        writing=load_scene_writing(storyboard),
    )
