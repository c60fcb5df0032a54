"""The voice list, searched and filtered, each voice with a sample from a video of the team."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform

from dashboard.models import Membership
from dashboard.shared.video_options import FacelessOptions, VoiceOption
from proxyapi import cloned_voices
from proxyapi.models import Account, Job, JobKind, JobState

SAMPLE_LENGTH_S = 12  # played from a video
MAX_SAMPLED_VIDEOS = 200  # newest videos that are searched for samples


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
    rows: tuple[dict[str, Any], ...]
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
    job: Job, reader: Membership, options: FacelessOptions, filters: VoiceFilter, chosen: str
) -> VoiceList:
    """One query. The chosen voice comes first, also if the filter excludes it, then those with
    the reader's star."""
    voices = options.voices()
    matches = [voice for voice in voices if filters.matches(voice)]
    first = [voice for voice in voices if voice.value == chosen]
    stars = reader.favourite_voices_of(job.account.environment)
    others = [voice for voice in matches if voice.value != chosen]
    others.sort(key=lambda voice: voice.value not in stars)
    samples = load_voice_samples(job)
    return VoiceList(
        rows=tuple(
            {
                "voice": voice,
                "sample": samples.get(voice.value),
                "chosen": voice.value == chosen,
                "is_favourite": voice.value in stars,
            }
            for voice in (*first, *others)
        ),
        match_count=len(matches),
        total=len(voices),
        filters=filters,
        languages=options.languages(),
        genders=tuple(sorted({voice.gender for voice in voices if voice.gender})),
    )


def load_voice_samples(job: Job) -> dict[str, dict[str, Any]]:
    """Return the preview of a cloned voice, else the newest finished video of the team, for each
    voice id; one query. A finished video of the team that uses a voice, or the preview of a cloned
    voice."""
    voices = cloned_voices.listed_voices(job.account)
    same_account = Account.objects.same_upstream_account(job.account_id)
    previews = Q(kind=JobKind.CLONE, account__in=same_account) & ~Q(media_url="")
    jobs = (
        Job.objects.visible()
        .filter(previews | Q(kind=JobKind.FACELESS), tenant=job.tenant_id, state=JobState.COMPLETED)
        .annotate(voice=KeyTextTransform("voice_id", "draft__settings"))
        .select_related("cloned_voice")
        .only("kind", "title", "cloned_voice__voice_id", "cloned_voice__known_voice_ids")
        .order_by("kind", "-finished_at")  # clones first
    )
    samples: dict[str, dict[str, Any]] = {}
    for row in jobs[:MAX_SAMPLED_VIDEOS]:
        is_preview = row.kind == JobKind.CLONE
        used = row.voice  # type: ignore[attr-defined]  # annotated
        voice = find_cloned_voice(row, voices) if is_preview else str(used)
        samples.setdefault(
            voice,
            {
                "job_id": row.pk,
                "title": row.title,
                "is_preview": is_preview,
                "length": f"0:{SAMPLE_LENGTH_S:02}",
            },
        )
    return samples


def find_cloned_voice(job: Job, voices: Mapping[str, str]) -> str:
    """Return the id of the voice that a clone became, "" if that cannot be told."""
    clone = getattr(job, "cloned_voice", None)
    return cloned_voices.find_voice_id(clone, voices) if clone else ""
