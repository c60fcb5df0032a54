"""The voice list, searched and filtered, each voice with a sample from a video of the team; a voice
clone with its preview."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, Q, When
from django.db.models.fields.json import KeyTextTransform

from dashboard.shared.video_options import FacelessOptions, VoiceOption
from proxyapi.models import Job, JobKind, JobState

SAMPLE_LENGTH_S = 12  # played from a video
MAX_SAMPLED_VIDEOS = 200  # newest videos that are searched for samples


@dataclass(frozen=True, slots=True)
class VoiceSample:
    """A finished video of the team that uses a voice, or the voice clone itself."""

    job_id: UUID
    title: str
    is_preview: bool = False
    length: str = f"0:{SAMPLE_LENGTH_S:02}"


@dataclass(frozen=True, slots=True)
class VoiceRow:
    voice: VoiceOption
    sample: VoiceSample | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class VoiceFilter:
    """The search terms; empty means any."""

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
    job: Job, options: FacelessOptions, filters: VoiceFilter, chosen: str
) -> VoiceList:
    """One query. The chosen voice comes first, also if the filter excludes it."""
    voices = options.voices()
    matches = [voice for voice in voices if filters.matches(voice)]
    first = [voice for voice in voices if voice.value == chosen]
    others = [voice for voice in matches if voice.value != chosen]
    samples, previews = load_voice_samples(job)
    return VoiceList(
        rows=tuple(
            VoiceRow(
                voice, previews.get(voice.name) or samples.get(voice.value), voice.value == chosen
            )
            for voice in (*first, *others)
        ),
        match_count=len(matches),
        total=len(voices),
        filters=filters,
        languages=options.languages(),
        genders=tuple(sorted({voice.gender for voice in voices if voice.gender})),
    )


def load_voice_samples(job: Job) -> tuple[dict[str, VoiceSample], dict[str, VoiceSample]]:
    """Return the newest finished video of the team for each voice id, and the finished voice clone
    of the account for each name: the service lists clones among its voices by name alone. One
    query."""
    is_clone = Q(kind=JobKind.CLONE, account=job.account_id) & ~Q(media_url="")
    jobs = (
        Job.objects.visible()
        .filter(Q(kind=JobKind.FACELESS) | is_clone, tenant=job.tenant_id, state=JobState.COMPLETED)
        .annotate(voice=KeyTextTransform("voice_id", "draft__settings"))
        .order_by(Case(When(is_clone, then=0), default=1), "-finished_at")
        .values_list("kind", "voice", "pk", "title")[:MAX_SAMPLED_VIDEOS]
    )
    samples: dict[str, VoiceSample] = {}
    previews: dict[str, VoiceSample] = {}
    for kind, voice, pk, title in jobs:
        if kind == JobKind.CLONE:
            previews.setdefault(title, VoiceSample(pk, title, is_preview=True))
        else:
            samples.setdefault(str(voice), VoiceSample(pk, title))
    return samples, previews
