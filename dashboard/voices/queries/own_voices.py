"""The voices that the team cloned, or is about to, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership, VoiceConsent
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import day
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cards import build_video_context, with_card_relations
from dashboard.voices.clone_settings import is_editable, parse_clone_settings
from dashboard.voices.queries.voice_page import known_voice_id
from dashboard.voices.queries.voice_status import build_voice_status
from dashboard.voices.queries.voice_use import NEVER_USED, load_voice_counts
from proxyapi.models import Job, JobKind, JobState
from proxyapi.polling.duration_history import DurationHistory


@dataclass(frozen=True, slots=True)
class OwnVoice:
    """`glyph` and `label` are empty for a voice that is ready. `make_voice_id`: with it a video can
    be made now; `edit_label`: what its page can do for the reader."""

    job_id: UUID
    name: str
    note: str
    glyph: str
    label: str
    made: str
    initials: str
    consent: str
    preview_url: str
    make_voice_id: str
    edit_label: str


@dataclass(frozen=True, slots=True)
class OwnVoices:
    """`voice_ids`: the account's voices that are shown here and not among the service's."""

    rows: tuple[OwnVoice, ...]
    voice_ids: frozenset[str]
    ready_count: int
    summary: str
    may_make: bool


def load_own_voices(reader: Membership) -> OwnVoices:
    """Five queries."""
    consents = VoiceConsent.objects.order_by("-confirmed_at")
    of_team = Job.objects.visible().filter(tenant=reader.team.tenant_id, kind=JobKind.CLONE)
    jobs = with_card_relations(of_team.order_by("-created_at", "-pk"))
    jobs = jobs.select_related("cloned_voice")
    clones = list(jobs.prefetch_related(Prefetch("voice_consents", queryset=consents)))
    counts = load_voice_counts(reader.team.tenant)
    durations, now = DurationHistory({JobKind.CLONE}), timezone.now()
    may_make, ids, rows = has_permission(reader, Permission.RENDER), set[str](), []
    for job in clones:
        consent = next(iter(job.voice_consents.all()), None)
        withdrawn = consent is not None and consent.withdrawn_at is not None
        voice_id = known_voice_id(job)
        ids.add(voice_id)
        status = build_voice_status(
            build_video_context(job, durations, now), voice_id, withdrawn=withdrawn
        )
        count = counts.get(voice_id, NEVER_USED)
        is_ready = job.state == JobState.COMPLETED and not withdrawn
        gender = parse_clone_settings(job.chosen_settings).gender_label
        many = f"{count.videos} videos" if count.videos > 1 else "1 video"
        used = f"used in {many}" if count.videos else ""
        facts = ", ".join(filter(None, (gender, used)))
        rows.append(
            OwnVoice(
                job_id=job.pk,
                name=job.title,
                note=status.quote or facts if status.glyph == "failed" else facts,
                glyph="" if is_ready else status.glyph,
                label="" if is_ready else status.label,
                made=f"Made by {job.member.first_name}, {day(job.started_at or job.created_at)}",
                initials=job.member.initials,
                consent=f"Consent of {consent.speaker}, {day(consent.confirmed_at)}"
                if consent
                else "",
                preview_url=reverse("video-media", args=[job.pk])
                if is_ready and job.media_url
                else "",
                make_voice_id=voice_id if may_make and voice_id and not withdrawn else "",
                edit_label=edit_label(job) if may_make else "",
            )
        )
    ready = sum(not row.glyph for row in rows)
    return OwnVoices(tuple(rows), frozenset(ids - {""}), ready, summary_text(rows), may_make)


def edit_label(job: Job) -> str:
    if not is_editable(job):
        return ""
    return "Fix the samples" if job.state == JobState.FAILED else "Continue"


def summary_text(rows: list[OwnVoice]) -> str:
    """Return a text such as "1 ready, 1 failed"."""
    ready = sum(not row.glyph for row in rows)
    labels = [row.label.lower() for row in rows if row.glyph]
    others = [f"{labels.count(label)} {label}" for label in dict.fromkeys(labels)]
    return ", ".join([*([f"{ready} ready"] if ready else []), *others])
