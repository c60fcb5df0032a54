"""The page of a video: its card, detailed texts, script or prompt, settings and history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.library.queries.buttons import video_card_actions, video_page_actions
from dashboard.library.queries.clip_settings import build_clip_settings, clip_parts
from dashboard.library.queries.films.facts import film_facts, film_subtitle
from dashboard.library.queries.films.history import build_film_history
from dashboard.library.queries.films.record import FilmRecord, load_film_record
from dashboard.library.queries.films.strip import FilmStrip, build_film_strip
from dashboard.library.queries.history_step import HistoryStep
from dashboard.library.queries.lineage import build_video_history
from dashboard.library.queries.video_setting import VideoSetting
from dashboard.models import Membership
from dashboard.shared.action_buttons import ActionButton, copy_prompt_button
from dashboard.shared.formatting import day
from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    job_cost,
    with_card_relations,
)
from dashboard.shared.videos.cost import CreditAmount
from dashboard.shared.videos.labels import job_type_label, maker_text, operation_label
from dashboard.shared.videos.parts import VideoTab, build_video_tabs
from dashboard.shared.videos.status_text import VideoContext, video_status_texts
from proxyapi.kinds import KINDS
from proxyapi.models import Job, JobKind, JobState
from proxyapi.models.duration_class import count_words
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
NO_FILE_TEXT = "The service says that it is completed, and shows no file of it."
USUAL_BAND_TEXT = "80 % of your renders like this finished within the tinted part of the bar."


@dataclass(frozen=True, slots=True)
class VideoPage:
    """`media_url` and `poster_url` are the portal's own URLs of the video file and of the service's
    picture of it; `media_version` changes with each new file."""

    card: VideoCard
    type: str
    note: str
    heading: str
    status_detail: str
    error_code: str
    band_note: str
    script: dict[str, Any]
    facts: tuple[VideoSetting, ...]
    history_steps: tuple[HistoryStep, ...]
    spent: CreditAmount
    media_url: str
    poster_url: str
    media_version: str
    tabs: tuple[VideoTab, ...]
    film: FilmStrip | None = None  # of a storyboard

    @property
    def head_actions_url(self) -> str:
        return f"{self.card.actions_url}?at=head"


def load_video_page(job: Job) -> VideoPage:
    """Return the page of a job, the same for every member; four queries, eight for a film of a
    storyboard."""
    return build_video_page(*load_video_context(job))


def load_video_page_with_actions(
    job: Job, reader: Membership, *, head: bool
) -> tuple[VideoPage, tuple[ActionButton, ...]]:
    """Return the page of a job and the reader's buttons, for the page header or the card; four
    queries."""
    context, usual = load_video_context(job)
    return build_video_page(context, usual), actions_for_reader(context, reader, head=head)


def load_video_context(job: Job) -> tuple[VideoContext, DurationHistory]:
    usual = DurationHistory(tenant_id=job.tenant_id)
    rows = with_card_relations(Job.objects.filter(pk=job.pk)).prefetch_related("parts")
    rows = rows.select_related("storyboard_copy__storyboard__member")
    # An export's price is in the costs that cards do without.
    row = rows.defer(None).defer("token__ciphertext").get()
    return build_video_context(row, usual, timezone.now()), usual


def build_video_page(context: VideoContext, usual: DurationHistory) -> VideoPage:
    job, options = context.job, account_options(context.job.account)
    card, record = build_video_card(context, usual), load_film_record(job)
    failed, media_url = context.state.name == "failed", film_url(job)
    return VideoPage(
        card=card,
        type=job_type_label(job),
        note=film_subtitle(record) if record else video_subtitle(context, options),
        heading=status_heading(context),
        status_detail=video_status_texts(context).detail or missing_file_text(job),
        error_code=job.failure_code
        if failed
        else (context.refused_charge.code if context.refused_charge else ""),
        band_note=USUAL_BAND_TEXT
        if context.state.name == "running" and card.bar and card.bar.usual_width
        else "",
        script=build_video_script(job),
        facts=build_film_settings(record) if record else build_video_settings(context, options),
        history_steps=build_film_history(context, record)
        if record
        else build_video_history(context),
        spent=job_cost(job, record.charges if record else context.charges),
        media_url=media_url,
        poster_url=picture_url(job),
        media_version=f"film {job.finished_at:%H%M%S%f}"
        if media_url and job.finished_at
        else context.state.name,
        tabs=build_video_tabs(job, "video"),
        film=build_film_strip(record) if record and record.scenes else None,
    )


def build_video_script(job: Job) -> dict[str, Any]:
    """The script of a video, or the prompt of a clip; `copy` is the button that copies it."""
    if job.kind == JobKind.CLIP:
        text = str(job.chosen_settings.get("prompt") or "")
        label, words, copy = "Prompt", count_words(text), copy_prompt_button(job)
    else:
        text = str(job.chosen_settings.get("script") or "")
        label, words, copy = "Script", len(text.split()), None
    return {
        "label": label,
        "text": text,
        "note": f"{words:,} words" if words else "",
        "copy": copy,
    }


def actions_for_reader(
    context: VideoContext, reader: Membership, *, head: bool
) -> tuple[ActionButton, ...]:
    build_actions = video_page_actions if head else video_card_actions
    return build_actions(context.job, context.charges, context.state.name, reader)


def video_subtitle(context: VideoContext, options: FacelessOptions) -> str:
    """Return a text such as `AI visuals, 16:9, read by Maren. Made by Priya today.`"""
    job = context.job
    when = day(job.created_at)
    verb = "Imported" if job.is_imported else "Made"
    made = f"{verb} by {maker_text(job)} {when if when == 'today' else f'on {when}'}."
    if job.kind == JobKind.CLIP and (clip := clip_parts(job)):
        return f"{', '.join(clip)}. {made}"
    voice = options.selected_choice("voice_id", job.chosen_settings)
    parts = [job_type_label(job), str(job.chosen_settings.get("aspect_ratio") or "")]
    parts.append(f"read by {voice.name}" if voice else "")
    return f"{', '.join(filter(None, parts))}. {made}"


def status_heading(context: VideoContext) -> str:
    if context.open_charge is not None:
        return operation_label(context.open_charge.operation).capitalize()
    if context.state.name == "draft":
        return "Draft"
    return "Clip" if context.job.kind == JobKind.CLIP else "Render"


def build_video_settings(
    context: VideoContext, options: FacelessOptions
) -> tuple[VideoSetting, ...]:
    """Return the chosen settings by name; ids that the service no longer offers are left out."""
    job = context.job
    video_settings = [VideoSetting("Type", job_type_label(job))]
    if job.kind == JobKind.CLIP:
        video_settings += build_clip_settings(job, context.charges)
        return tuple(fact for fact in video_settings if fact.value)
    video_settings.append(
        VideoSetting("Format", str(job.chosen_settings.get("aspect_ratio") or ""))
    )
    video_settings += [
        VideoSetting(label, option_name(field, job.chosen_settings, options))
        for field, label in OPTION_LABELS.items()
    ]
    return tuple(fact for fact in video_settings if fact.value)


def build_film_settings(record: FilmRecord) -> tuple[VideoSetting, ...]:
    return tuple(VideoSetting(label, value) for label, value in film_facts(record))


def missing_file_text(job: Job) -> str:
    """Return what is said of a finished video whose file the service does not show."""
    is_missing = job.state == JobState.COMPLETED and not job.media_url
    return NO_FILE_TEXT if is_missing and KINDS[job.kind].may_hide_media_url else ""


def option_name(field: str, chosen: dict[str, Any], options: FacelessOptions) -> str:
    choice = options.selected_choice(field, chosen)
    return choice.name if choice is not None else ""


def film_url(job: Job) -> str:
    if job.state != JobState.COMPLETED or not job.media_url:
        return ""
    return reverse("video-media", args=[job.pk])


def picture_url(job: Job) -> str:
    """Return the URL of the service's picture of a finished film, shown until the film is there."""
    return reverse("video-poster", args=[job.pk]) if film_url(job) and job.poster_url else ""
