"""The voices to choose from, searched and filtered, each with a passage of a film if any has it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models.fields.json import KT

from dashboard.queries.studio.options import Options, Voice
from proxyapi.models import Job, JobKind, JobState

PASSAGE = 12  # seconds played of a film
FILMS = 200  # how far back a passage is looked for


@dataclass(frozen=True, slots=True)
class Film:
    """A finished video of the team in which a voice is heard."""

    job_id: UUID
    title: str
    seconds: float | None

    @property
    def length(self) -> str:
        return f"0:{min(PASSAGE, round(self.seconds or PASSAGE)):02}"


@dataclass(frozen=True, slots=True)
class Heard:
    voice: Voice
    film: Film | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody looks for; empty means any."""

    words: str = ""
    language: str = ""
    gender: str = ""

    def __bool__(self) -> bool:
        return bool(self.words or self.language or self.gender)

    def fits(self, voice: Voice) -> bool:
        spoken = [part.lower() for part in voice.languages]
        text = f"{voice.name} {voice.note}".lower()
        return (
            all(word in text for word in self.words.lower().split())
            and (not self.language or self.language.lower() in spoken)
            and (not self.gender or self.gender.lower() == voice.gender.lower())
        )


@dataclass(frozen=True, slots=True)
class VoiceList:
    heard: tuple[Heard, ...]
    fitting: int
    total: int
    wish: Wish
    languages: tuple[str, ...]
    genders: tuple[str, ...]

    @property
    def count(self) -> str:
        many = "1 voice" if self.total == 1 else f"{self.total} voices"
        return f"{self.fitting} of {many}" if self.wish else many


def voices_of(job: Job, options: Options, wish: Wish, chosen: str) -> VoiceList:
    """One query. The chosen voice comes first whatever is searched for: a filter loses nothing."""
    every = options.voices()
    fitting = [voice for voice in every if wish.fits(voice)]
    first = [voice for voice in every if voice.value == chosen]
    rest = [voice for voice in fitting if voice.value != chosen]
    films = films_by_voice(job)
    return VoiceList(
        heard=tuple(
            Heard(voice, films.get(voice.value), voice.value == chosen) for voice in (*first, *rest)
        ),
        fitting=len(fitting),
        total=len(every),
        wish=wish,
        languages=options.languages(),
        genders=tuple(sorted({voice.gender for voice in every if voice.gender})),
    )


def films_by_voice(job: Job) -> dict[str, Film]:
    """The newest finished film of the team for each voice id."""
    jobs = (
        Job.objects.visible()
        .filter(vault=job.vault_id, kind=JobKind.FACELESS, state=JobState.COMPLETED)
        .annotate(voice=KT("wanted__voice_id"))
        .order_by("-finished_at")
        .values_list("voice", "pk", "title", "seconds")[:FILMS]
    )
    films: dict[str, Film] = {}
    for voice, pk, title, seconds in jobs:
        films.setdefault(str(voice), Film(pk, title, seconds))
    return films
