"""The scenes as they are shown in the strip, and the film drawn to scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from dashboard.shared.formatting import percent
from dashboard.shared.storyboards.presence import ScenePresence
from dashboard.shared.storyboards.scene_states import SceneRow, SceneState
from proxyapi.models import JobPart
from proxyapi.models.duration_class import count_words
from proxyapi.models.job_part import PartState

EXCERPT_CHARACTERS = 90
TICK_WIDTH_PERCENT = 6.0  # a label nearer to the end than this is left out
BLOCK_GAP_PERCENT = 0.09  # at each side of a scene
# State of the page, word of the pill, words for screen readers.
STATE_LABELS: dict[SceneState, tuple[str, str, str]] = {
    SceneState.NO_PROMPT: ("draft", "No prompt", "no prompt yet"),
    SceneState.NO_CLIP: ("draft", "No clip", "no clip yet"),
    SceneState.GENERATING: ("running", "Generating", "generating"),
    SceneState.FAILED: ("failed", "Failed", "failed"),
    SceneState.UNKNOWN: ("unknown", "Unknown", "unknown charge"),
    SceneState.CHANGED: ("late", "Changed", "changed since its clip"),
    SceneState.READY: ("completed", "", "ready"),
}


@dataclass(frozen=True, slots=True)
class SceneTile:
    """A scene in the strip. `still_id` names its film, which a page keeps while the tile around it
    changes. `seam` says where its `+` inserts; empty for the first one."""

    id: str
    number: int
    state: str
    pill: str
    label: str
    seconds: int
    nearest: int | None
    words: str
    is_chained: bool
    still_url: str
    still_id: str
    people: tuple[ScenePresence, ...]
    is_picked: bool
    seam: str


@dataclass(frozen=True, slots=True)
class ScaleBlock:
    """A scene of the film to scale; lengths are percent."""

    state: str
    start: str
    width: str
    outline_start: str = ""
    outline_width: str = ""


@dataclass(frozen=True, slots=True)
class ScaleTick:
    at: str
    text: str
    anchor: str
    is_minor: bool


@dataclass(frozen=True, slots=True)
class FilmScale:
    blocks: tuple[ScaleBlock, ...]
    ticks: tuple[ScaleTick, ...]
    sentence: str


def scene_still_url(clip: JobPart | None) -> str:
    """Return the URL of a clip's film; empty if it has none."""
    if clip is None or not clip.media_url or clip.state == PartState.FAILED:
        return ""
    path = reverse("part-media", args=[clip.job_id, clip.pk])
    return f"{path}?v={clip.media_version}"


def build_tiles(
    rows: Sequence[SceneRow],
    engine_name: str,
    people: Iterable[ScenePresence] = (),
    picked: UUID | None = None,
) -> tuple[SceneTile, ...]:
    present = tuple(people)
    return tuple(build_tile(row, engine_name, present, picked) for row in rows)


def build_tile(
    row: SceneRow, engine_name: str, people: Iterable[ScenePresence], picked: UUID | None
) -> SceneTile:
    scene, number = row.scene, row.number
    state, pill, _ = STATE_LABELS[row.state]
    id = str(scene.pk)
    return SceneTile(
        id=id,
        number=number,
        state=state,
        pill=pill,
        label=tile_label(row, engine_name),
        seconds=scene.duration,
        nearest=row.nearest_duration,
        words=excerpt(scene.prompt),
        is_chained=scene.is_chained,
        still_url=scene_still_url(row.clip),
        still_id=f"still-{row.clip.pk}-{row.clip.media_version}" if row.clip else "",
        people=tuple(one for one in people if one.scene_id == id),
        is_picked=scene.pk == picked,
        seam=f"Insert a scene between {number - 1} and {number}" if number > 1 else "",
    )


def tile_label(row: SceneRow, engine_name: str) -> str:
    """Return the tile in words, such as `Scene 2, ready, 5 s, continues from scene 1`."""
    parts = [f"Scene {row.number}", STATE_LABELS[row.state][2], f"{row.scene.duration} s"]
    if row.nearest_duration is not None:
        parts += [f"not offered by {engine_name}", f"nearest {row.nearest_duration} s"]
    if row.scene.is_chained:
        parts.append(f"continues from scene {row.number - 1}")
    return ", ".join(parts)


def excerpt(prompt: str) -> str:
    """Return the first words, on one line."""
    words = " ".join(prompt.split())
    if len(words) <= EXCERPT_CHARACTERS:
        return words
    return f"{words[:EXCERPT_CHARACTERS].rpartition(' ')[0] or words[:EXCERPT_CHARACTERS]}…"


def word_count_text(prompt: str) -> str:
    words = count_words(prompt)
    return f"{words} {'word' if words == 1 else 'words'}"


def build_scale(tiles: Sequence[SceneTile]) -> FilmScale:
    """Return a block for each scene, as long as it plays, and the ticks below."""
    length = sum(tile.seconds for tile in tiles)
    blocks, start = [], 0
    for tile in tiles:
        blocks.append(build_block(tile, start, length))
        start += tile.seconds
    return FilmScale(tuple(blocks), build_ticks(length), scale_sentence(tiles, length))


def build_block(tile: SceneTile, start_s: int, length_s: int) -> ScaleBlock:
    start, width = 100 * start_s / length_s, 100 * tile.seconds / length_s
    return ScaleBlock(
        state=tile.state,
        start=percent(start + BLOCK_GAP_PERCENT),
        width=percent(width - 2 * BLOCK_GAP_PERCENT),
        outline_start=percent(start) if tile.is_picked else "",
        outline_width=percent(width) if tile.is_picked else "",
    )


def build_ticks(length_s: int) -> tuple[ScaleTick, ...]:
    """Return a tick every 10 s, 30 s over 3 min and 1 min over 8 min, and one at the end."""
    if not length_s:
        return ()
    step = 10 if length_s <= 180 else 30 if length_s <= 480 else 60
    ticks = [ScaleTick("0%", clock_text(0), "start", is_minor=False)]
    for count, at_s in enumerate(range(step, length_s, step), start=1):
        at = 100 * at_s / length_s
        if 100 - at >= TICK_WIDTH_PERCENT:
            ticks.append(ScaleTick(percent(at), clock_text(at_s), "middle", bool(count % 2)))
    return (*ticks, ScaleTick("100%", clock_text(length_s), "end", is_minor=False))


def clock_text(seconds: int) -> str:
    """Return a time of the film, such as `1:09`."""
    return f"{seconds // 60}:{seconds % 60:02}"


def scale_sentence(tiles: Sequence[SceneTile], length_s: int) -> str:
    """Return the drawing in words: neighbours in the same state are said together."""
    runs: list[tuple[int, int, str]] = []
    for tile in tiles:
        word = tile.pill.lower() or "ready"
        if runs and runs[-1][2] == word:
            runs[-1] = (runs[-1][0], tile.number, word)
        else:
            runs.append((tile.number, tile.number, word))
    texts = [
        f"{first} {word}" if first == last else f"{first} to {last} {word}"
        for first, last, word in runs
    ]
    return f"The film to scale, {length_s} seconds: scenes {', '.join(texts)}"
