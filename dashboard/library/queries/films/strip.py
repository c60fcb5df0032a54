"""The scenes under the player: where each starts, what it shows, and the marks of the cuts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from django.urls import reverse
from django.utils.text import Truncator

from dashboard.library.queries.films.record import FilmRecord
from dashboard.shared.formatting import percent
from dashboard.shared.videos.labels import scene_count_text
from proxyapi.models import JobPart
from proxyapi.models.job_part import PartState

MAX_SCENE_TEXT_CHARACTERS = 160
MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class StripScene:
    """A scene of a finished film; `start` and `seconds` are whole seconds, `cut` is the place of
    the cut before it as an SVG length, empty for the first."""

    number: int
    start: int
    seconds: int
    text: str
    is_chained: bool
    still_url: str
    cut: str

    @property
    def time_text(self) -> str:
        """Such as `0:10, 6 s`."""
        return f"{play_time(self.start)}, {self.seconds} s"


@dataclass(frozen=True, slots=True)
class FilmStrip:
    """`seconds` is the length of the film by its scenes."""

    scenes: tuple[StripScene, ...]
    seconds: int

    @property
    def note(self) -> str:
        return f"{scene_count_text(len(self.scenes))}, {self.seconds} s"

    @property
    def cuts(self) -> tuple[str, ...]:
        return tuple(scene.cut for scene in self.scenes if scene.cut)


def build_film_strip(record: FilmRecord) -> FilmStrip:
    return FilmStrip(tuple(build_strip_scenes(record)), film_seconds(record))


def build_strip_scenes(record: FilmRecord) -> Iterator[StripScene]:
    scenes, total, clips = record.scenes, film_seconds(record), record.clips
    starts = accumulate((scene_seconds(scene) for scene in scenes), initial=0)
    for number, (scene, start) in enumerate(zip(scenes, starts, strict=False), start=1):
        yield StripScene(
            number=number,
            start=start,
            seconds=scene_seconds(scene),
            text=Truncator(str(scene.get("prompt", ""))).chars(MAX_SCENE_TEXT_CHARACTERS),
            is_chained=bool(scene.get("is_chained")) and number > 1,
            still_url=clip_still_url(clips.get(str(scene.get("remote_id", "")))),
            cut=percent(100 * start / total) if start and total else "",
        )


def film_seconds(record: FilmRecord) -> int:
    return sum(scene_seconds(scene) for scene in record.scenes)


def scene_seconds(scene: dict[str, object]) -> int:
    seconds = scene.get("duration")
    return seconds if isinstance(seconds, int) else 0


def clip_still_url(clip: JobPart | None) -> str:
    """Return the URL of a frame of a finished clip, for `data-still`."""
    if clip is None or clip.state != PartState.COMPLETED:
        return ""
    # Not `still=1`: all clips expire together, and one read of the record renews them.
    return f"{reverse('part-media', args=[clip.job_id, clip.pk])}#t=0.5"


def play_time(seconds: int) -> str:
    """Return a place in a film, such as `1:08`."""
    return f"{seconds // MINUTE_S}:{seconds % MINUTE_S:02}"
