"""The voices to choose from, searched and filtered, each with a passage of a film if any has it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform

from dashboard.shared.video_options import FacelessOptions, VoiceOption
from proxyapi.models import Job, JobKind, JobState

SAMPLE_LENGTH_S = 12  # seconds played of a film
MAX_SAMPLED_VIDEOS = 200  # how far back a passage is looked for


@dataclass(frozen=True, slots=True)
class VoiceSample:
    """A finished video of the team in which a voice is heard."""

    job_id: UUID
    title: str
    length: str = f"0:{SAMPLE_LENGTH_S:02}"


@dataclass(frozen=True, slots=True)
class VoiceRow:
    voice: VoiceOption
    sample: VoiceSample | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class VoiceFilter:
    """What somebody looks for; empty means any."""

    search: str = ""
    language: str = ""
    gender: str = ""

    def __bool__(self) -> bool:
        return bool(self.search or self.language or self.gender)

    def matches(self, voice: VoiceOption) -> bool:
        spoken = [part.lower() for part in voice.languages]
        text = f"{voice.name} {voice.note}".lower()
        return (
            all(word in text for word in self.search.lower().split())
            and (not self.language or self.language.lower() in spoken)
            and (not self.gender or self.gender.lower() == voice.gender.lower())
        )


@dataclass(frozen=True, slots=True)
class VoiceList:
    rows: tuple[VoiceRow, ...]
    match_count: int
    total: int
    filters: VoiceFilter
    languages: tuple[str, ...]
    genders: tuple[str, ...]

    @property
    def count_text(self) -> str:
        many = "1 voice" if self.total == 1 else f"{self.total} voices"
        return f"{self.match_count} of {many}" if self.filters else many


def load_voice_list(
    job: Job, options: FacelessOptions, wish: VoiceFilter, chosen: str
) -> VoiceList:
    """One query. The chosen voice comes first whatever is searched for: a filter loses nothing."""
    every = options.voices()
    fitting = [voice for voice in every if wish.matches(voice)]
    first = [voice for voice in every if voice.value == chosen]
    rest = [voice for voice in fitting if voice.value != chosen]
    films = load_voice_samples(job)
    return VoiceList(
        rows=tuple(
            VoiceRow(voice, films.get(voice.value), voice.value == chosen)
            for voice in (*first, *rest)
        ),
        match_count=len(fitting),
        total=len(every),
        filters=wish,
        languages=options.languages(),
        genders=tuple(sorted({voice.gender for voice in every if voice.gender})),
    )


def load_voice_samples(job: Job) -> dict[str, VoiceSample]:
    """The newest finished film of the team for each voice id."""
    jobs = (
        Job.objects.visible()
        .filter(tenant=job.tenant_id, kind=JobKind.FACELESS, state=JobState.COMPLETED)
        .annotate(voice=KeyTextTransform("voice_id", "draft__settings"))
        .order_by("-finished_at")
        .values_list("voice", "pk", "title")[:MAX_SAMPLED_VIDEOS]
    )
    films: dict[str, VoiceSample] = {}
    for voice, pk, title in jobs:
        films.setdefault(str(voice), VoiceSample(pk, title))
    return films
