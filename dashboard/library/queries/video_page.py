"""One video's page: its card, the full sentences, the script, what it was made of, its lineage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.library.queries.buttons import ActionButton, video_card_actions, video_page_actions
from dashboard.library.queries.lineage import HistoryStep, build_video_history
from dashboard.models import Membership
from dashboard.shared.formatting import day
from dashboard.shared.video_options import FacelessOptions, parse_faceless_options
from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    with_card_relations,
)
from dashboard.shared.videos.cost import CreditAmount, video_cost
from dashboard.shared.videos.labels import job_type_label, operation_label
from dashboard.shared.videos.status_text import VideoContext, video_status_texts
from proxyapi.kinds import KINDS
from proxyapi.models import Job, JobState
from proxyapi.polling.duration_history import DurationHistory

OPTION_LABELS = {
    "genre_id": "Genre",
    "image_engine_id": "Images",
    "voice_id": "Voice",
    "font": "Font",
    "caption_effect": "Captions",
    "caption_position": "Position",
    "transition": "Transitions",
    "volume": "Music",
}
USUAL_BAND_TEXT = "80 % of your renders like this finished within the tinted part of the bar."


@dataclass(frozen=True, slots=True)
class VideoSetting:
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class VideoPage:
    """`media_url` is the portal's own address of the film; `take` tells one film from the next."""

    card: VideoCard
    type: str
    note: str
    heading: str
    status_detail: str
    error_code: str
    band_note: str
    script: str
    script_note: str
    facts: tuple[VideoSetting, ...]
    history_steps: tuple[HistoryStep, ...]
    spent: CreditAmount
    media_url: str
    is_audio: bool
    media_version: str

    @property
    def head_actions_url(self) -> str:
        return f"{self.card.actions_url}?at=head"


def load_video_page(job: Job) -> VideoPage:
    """The page of one job, the same for every member; three queries."""
    return build_video_page(*load_video_context(job))


def load_video_page_with_actions(
    job: Job, reader: Membership, *, head: bool
) -> tuple[VideoPage, tuple[ActionButton, ...]]:
    """One job and the reader's acts, for the head of its page or for its card; three queries."""
    told, usual = load_video_context(job)
    return build_video_page(told, usual), actions_for_reader(told, reader, head=head)


def load_video_context(job: Job) -> tuple[VideoContext, DurationHistory]:
    usual = DurationHistory(tenant_id=job.tenant_id)
    return build_video_context(
        with_card_relations(Job.objects.filter(pk=job.pk)).get(), usual, timezone.now()
    ), usual


def build_video_page(told: VideoContext, usual: DurationHistory) -> VideoPage:
    job, options = told.job, parse_faceless_options(told.job.account.options)
    script = str(job.chosen_settings.get("script") or "")
    words = len(script.split())
    card = build_video_card(told, usual)
    failed, film = told.state.name == "failed", film_url(job)
    return VideoPage(
        card=card,
        type=job_type_label(job),
        note=video_subtitle(told, options),
        heading=status_heading(told),
        status_detail=video_status_texts(told).detail,
        error_code=job.failure_code
        if failed
        else (told.refused_charge.code if told.refused_charge else ""),
        band_note=USUAL_BAND_TEXT
        if told.state.name == "running" and card.bar and card.bar.usual_width
        else "",
        script=script,
        script_note=f"{words:,} words" if words else "",
        facts=build_video_settings(job, options),
        history_steps=build_video_history(told),
        spent=video_cost(told.charges, told.open_charge),
        media_url=film,
        is_audio=KINDS[job.kind].is_audio,
        media_version=f"film {job.finished_at:%H%M%S%f}"
        if film and job.finished_at
        else told.state.name,
    )


def actions_for_reader(
    told: VideoContext, reader: Membership, *, head: bool
) -> tuple[ActionButton, ...]:
    acts = video_page_actions if head else video_card_actions
    return acts(told.job, told.charges, told.state.name, reader)


def video_subtitle(told: VideoContext, options: FacelessOptions) -> str:
    """`AI visuals, 16:9, read by Maren. Made by Priya today.`"""
    job = told.job
    voice = options.selected_choice("voice_id", job.chosen_settings)
    parts = [job_type_label(job), str(job.chosen_settings.get("aspect_ratio") or "")]
    parts.append(f"read by {voice.name}" if voice else "")
    when = day(job.created_at)
    on = when if when == "today" else f"on {when}"
    return f"{', '.join(filter(None, parts))}. Made by {job.member.first_name} {on}."


def status_heading(told: VideoContext) -> str:
    if told.open_charge is not None:
        return operation_label(told.open_charge.operation).capitalize()
    return "Draft" if told.state.name == "draft" else "Render"


def build_video_settings(job: Job, options: FacelessOptions) -> tuple[VideoSetting, ...]:
    """What was chosen, by name; an id that the service names no more is left out."""
    named = [
        VideoSetting("Type", job_type_label(job)),
        VideoSetting("Format", str(job.chosen_settings.get("aspect_ratio") or "")),
    ]
    named += [
        VideoSetting(label, option_name(field, job.chosen_settings, options))
        for field, label in OPTION_LABELS.items()
    ]
    return tuple(fact for fact in named if fact.value)


def option_name(field: str, chosen: dict[str, Any], options: FacelessOptions) -> str:
    choice = options.selected_choice(field, chosen)
    return choice.name if choice is not None else ""


def film_url(job: Job) -> str:
    if job.state != JobState.COMPLETED or not job.media_url:
        return ""
    return reverse("video-media", args=[job.pk])
