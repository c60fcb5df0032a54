"""The page of a voice that the team cloned, or is about to: its state, samples, consent, cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership, VoiceConsent
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import clock, day
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cards import build_video_context, with_card_relations
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, video_cost
from dashboard.shared.videos.progress import (
    Freshness,
    RenderProgressBar,
    build_freshness,
    build_progress_bar,
)
from dashboard.shared.videos.status_text import VideoContext
from dashboard.voices.clone_settings import (
    MAX_SAMPLES,
    CloneSettings,
    is_editable,
    is_made_without_id,
    parse_clone_settings,
    settings_version,
)
from dashboard.voices.queries.price import ClonePrice, load_clone_price
from dashboard.voices.queries.voice_status import VoiceStatus, build_voice_status
from dashboard.voices.queries.voice_use import VoiceUse, load_voice_use
from proxyapi.cloned_voices import find_voice_id, listed_voices
from proxyapi.models import Charge, ClonedVoice, Job, JobState, StoredFile
from proxyapi.polling.duration_history import DurationHistory


@dataclass(frozen=True, slots=True)
class VoicePage:
    """`voice_id` is that of the account's voice; empty as long as none is known to be this one.
    `chosen` and `price` are of a voice that can be edited."""

    job_id: UUID
    title: str
    note: str
    is_editable: bool
    may_make: bool
    status: VoiceStatus
    bar: RenderProgressBar | None
    fresh: Freshness | None
    cost: CreditAmount
    samples: tuple[dict[str, Any], ...]
    consent: dict[str, Any] | None
    voice_id: str
    preview_url: str
    slots_url: str
    use: VoiceUse | None
    chosen: CloneSettings
    price: ClonePrice | None
    version: str
    member_name: str

    @property
    def samples_left(self) -> int:
        return MAX_SAMPLES - len(self.samples)


def load_voice_page(job: Job, reader: Membership) -> VoicePage:
    """At most twelve queries."""
    row = with_card_relations(Job.objects.filter(pk=job.pk)).select_related("cloned_voice").get()
    if is_editable(row) and row.has_changed_state():
        return load_voice_page(job, reader)
    durations, now = DurationHistory({row.kind}), timezone.now()
    context = build_video_context(row, durations, now)
    chosen = parse_clone_settings(row.chosen_settings)
    may_make = has_permission(reader, Permission.RENDER)
    editable = may_make and is_editable(row)
    samples = load_samples(row, may_make=may_make, editable=editable)
    voice_id = known_voice_id(row)
    consents = list(row.voice_consents.select_related("confirmed_by", "withdrawn_by"))
    consent = consents[0] if consents else None
    withdrawn = consent is not None and consent.withdrawn_at is not None
    is_playable = row.state == JobState.COMPLETED and bool(row.media_url) and not withdrawn
    return VoicePage(
        job_id=row.pk,
        title=row.title,
        note=voice_note(row, chosen, len(samples)),
        is_editable=editable,
        may_make=may_make,
        status=build_voice_status(context, voice_id, withdrawn=withdrawn),
        bar=build_progress_bar(row, context.state, durations.usual_for(row), now),
        fresh=build_freshness(row, context.state, unsettled_charge(context), now),
        cost=voice_cost(context),
        samples=samples,
        consent=build_consent_card(row, consent, may_withdraw=can_withdraw(context, reader)),
        voice_id="" if withdrawn else voice_id,
        preview_url=reverse("video-media", args=[row.pk]) if is_playable else "",
        slots_url=reverse("voice-slots", args=[row.account_id]),
        use=load_voice_use(row, voice_id) if voice_id else None,
        chosen=chosen,
        price=load_clone_price(row, reader) if editable else None,
        version=settings_version(row.chosen_settings),
        member_name=str(reader.user),
    )


def unsettled_charge(context: VideoContext) -> Charge | None:
    """The open request; not one that was carried out, of which only the cost is unknown."""
    charge = context.open_charge
    return None if charge is None or charge.applied_at is not None else charge


def voice_cost(context: VideoContext) -> CreditAmount:
    cost = video_cost(context.charges)
    return FREE_AMOUNT if cost.kind == "exact" and not cost.value else cost


def load_samples(job: Job, *, may_make: bool, editable: bool) -> tuple[dict[str, Any], ...]:
    files = job.stored_files.defer("ciphertext")
    return tuple(
        build_sample_row(file, number, may_make=may_make, editable=editable)
        for number, file in enumerate(files, start=1)
    )


def build_sample_row(
    file: StoredFile, number: int, *, may_make: bool, editable: bool
) -> dict[str, Any]:
    """`play_url` and `remove_url` are empty for those who may not."""
    ids = [file.job_id, file.pk]
    return {
        "id": file.pk,
        "number": number,
        "name": file.name,
        "length": recording_length(file.seconds),
        "play_url": reverse("voice-sample", args=ids) if may_make else "",
        "remove_url": reverse("voice-sample-removals", args=ids) if editable else "",
    }


def recording_length(seconds: float | None) -> str:
    """Return a length such as "0:48"; empty if it is not known."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def known_voice_id(job: Job) -> str:
    """The id of the account's voice that the clone became; empty if it is not known."""
    clone: ClonedVoice | None = getattr(job, "cloned_voice", None)
    if clone is None or not (job.state == JobState.COMPLETED or is_made_without_id(job)):
        return ""
    clone.job = job
    return find_voice_id(clone, listed_voices(job.account))


def voice_note(job: Job, chosen: CloneSettings, sample_count: int) -> str:
    """Return a line such as "Female, 3 samples. Made by Priya, 3 Nov."."""
    samples = f"{sample_count} sample{'s' if sample_count != 1 else ''}" if sample_count else ""
    parts = ", ".join(filter(None, (chosen.gender_label, samples)))
    made = f"Made by {job.member.first_name}, {day(job.started_at or job.created_at)}."
    return f"{parts}. {made}" if parts else made


def can_withdraw(context: VideoContext, reader: Membership) -> bool:
    return has_permission(reader, Permission.RENDER) and unsettled_charge(context) is None


def build_consent_card(
    job: Job, consent: VoiceConsent | None, *, may_withdraw: bool
) -> dict[str, Any] | None:
    """`samples` are names with the first characters of their checksums."""
    if consent is None:
        return None
    withdrawn = ""
    if consent.withdrawn_at and consent.withdrawn_by:
        withdrawn = f"{consent.withdrawn_by}, {clock(consent.withdrawn_at)}"
    rows: list[dict[str, Any]] = consent.samples
    return {
        "speaker": consent.speaker,
        "agreement": "Own voice" if consent.is_own else f"Agreed {consent.agreed_on:%-d %b %Y}",
        "confirmed": f"{consent.confirmed_by}, {clock(consent.confirmed_at)}",
        "withdrawn": withdrawn,
        "samples": tuple((str(row["name"]), str(row["sha256"])[:12]) for row in rows),
        "withdraw_url": reverse("voice-withdrawals", args=[job.pk])
        if may_withdraw and not withdrawn
        else "",
    }
