"""What a film was made with, and the line under its title."""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.library.queries.films.record import FilmRecord
from dashboard.library.queries.films.strip import film_seconds
from dashboard.shared.clip_engines import sound_label
from dashboard.shared.formatting import day, duration
from dashboard.shared.storyboards.copy_clips import copy_engine_name
from dashboard.shared.storyboards.scene_writing import STYLES
from dashboard.shared.videos.labels import job_type_label, maker_text, scene_count_text
from proxyapi.models import Storyboard, StoryboardMode

STARTED_FROM_TEXTS = {
    StoryboardMode.WIZARD: "A description",
    StoryboardMode.MANUAL: "Empty scenes",
}


def film_facts(record: FilmRecord) -> Iterator[tuple[str, str]]:
    """Yield labels with their values; a value that is not known is left out."""
    content, board, scenes = record.content, record.storyboard, record.scenes
    ratio, resolution = (str(content.get(name) or "") for name in ("aspect_ratio", "resolution"))
    facts = [
        ("Type", job_type_label(record.job)),
        ("Engine", copy_engine_name(record.job)),
        ("Format", ", ".join(filter(None, (ratio, resolution)))),
        ("Sound", sound_label(str(content.get("audio") or ""))),
        ("Length", length_text(record)),
        ("Scenes", str(len(scenes)) if scenes else ""),
        ("Started from", STARTED_FROM_TEXTS[StoryboardMode(board.mode)] if board else ""),
        ("Style", style_text(board) if board else ""),
    ]
    return ((label, value) for label, value in facts if value)


def film_subtitle(record: FilmRecord) -> str:
    """Return a text such as `Storyboard, 16:9, 512P, 1 min 08 s, 8 scenes. Made by Luca and Priya
    today.`"""
    content, scenes = record.content, record.scenes
    parts = [
        job_type_label(record.job),
        *(str(content.get(name) or "") for name in ("aspect_ratio", "resolution")),
        length_text(record),
        scene_count_text(len(scenes)) if scenes else "",
    ]
    when = day(record.job.created_at)
    on = when if when == "today" else f"on {when}"
    verb = "Imported" if record.job.is_imported else "Made"
    return f"{', '.join(filter(None, parts))}. {verb} by {' and '.join(film_makers(record))} {on}."


def style_text(board: Storyboard) -> str:
    known = STYLES.get(board.style)
    return known.label if board.style and known else ""


def length_text(record: FilmRecord) -> str:
    seconds = film_seconds(record)
    return duration(seconds) if seconds else ""


def film_makers(record: FilmRecord) -> list[str]:
    """Return the first names of who started it and who sent its copies, each once; of what a script
    made its key too."""
    if record.storyboard is None:
        return [maker_text(record.job)]
    people = [record.storyboard.member, *(copy.member for copy in record.copies)]
    names = list(dict.fromkeys(person.first_name for person in people))
    return [", ".join(names[:-1]), names[-1]] if len(names) > 2 else names
