"""One video's page: its card, the full sentences, the script, what it was made of, its lineage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.queries.studio.options import Options, options_in
from dashboard.queries.videos.acts import Button, card_acts, page_acts
from dashboard.queries.videos.cards import Card, card_of, rows, tell
from dashboard.queries.videos.cost import Amount, cost_of
from dashboard.queries.videos.lineage import Node, lineage_of
from dashboard.queries.videos.sayings import Told, whole
from dashboard.queries.videos.usual import Class, Usual, usuals
from dashboard.queries.videos.words import deed, type_of
from dashboard.templatetags.reelroom import day, duration
from proxyapi.models import Job, JobState

FACTS = {
    "genre_id": "Genre",
    "image_engine_id": "Images",
    "voice_id": "Voice",
    "font": "Font",
    "caption_effect": "Captions",
    "caption_position": "Position",
    "transition": "Transitions",
    "volume": "Music",
}
BAND = "The tinted part of the bar is where 8 in 10 of your renders like this finished."


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Video:
    """`media_url` is the portal's own address of the film; `take` tells one film from the next."""

    card: Card
    type: str
    note: str
    heading: str
    story: str
    code: str
    band: str
    script: str
    script_note: str
    facts: tuple[Fact, ...]
    nodes: tuple[Node, ...]
    spent: Amount
    media_url: str
    take: str

    @property
    def head_acts_url(self) -> str:
        return f"{self.card.acts_url}?at=head"


def video_of(job: Job) -> Video:
    """The page of one job, the same for every member; three queries."""
    return video_from(*seen(job))


def video_and_acts(job: Job, reader: Membership, *, head: bool) -> tuple[Video, tuple[Button, ...]]:
    """One job and the reader's acts, for the head of its page or for its card; three queries."""
    told, usual = seen(job)
    return video_from(told, usual), acts_from(told, reader, head=head)


def seen(job: Job) -> tuple[Told, Mapping[Class, Usual]]:
    usual = usuals(job.vault_id)
    return tell(rows(Job.objects.filter(pk=job.pk)).get(), usual, timezone.now()), usual


def video_from(told: Told, usual: Mapping[Class, Usual]) -> Video:
    job, options = told.job, options_in(told.job.account.options)
    script = str(job.wanted.get("script") or "")
    card = card_of(told, usual)
    failed, film = told.state.name == "failed", film_of(job)
    return Video(
        card=card,
        type=type_of(job),
        note=note_of(told, options),
        heading=heading_of(told),
        story=whole(told),
        code=job.failure_code if failed else (told.refused.code if told.refused else ""),
        band=BAND if told.state.name == "running" and card.bar and card.bar.usual_width else "",
        script=script,
        script_note=script_note(job, script),
        facts=facts_of(job, options),
        nodes=lineage_of(told),
        spent=cost_of(told.charges, told.open_charge),
        media_url=film,
        take=f"film {job.finished_at:%H%M%S%f}" if film and job.finished_at else told.state.name,
    )


def acts_from(told: Told, reader: Membership, *, head: bool) -> tuple[Button, ...]:
    acts = page_acts if head else card_acts
    return acts(told.job, told.charges, told.state.name, reader)


def note_of(told: Told, options: Options) -> str:
    """`AI visuals, 16:9, 62 s, read by Maren. Made by Priya today.`"""
    job = told.job
    voice = options.chosen("voice_id", job.wanted)
    parts = [type_of(job), str(job.wanted.get("aspect_ratio") or "")]
    parts += [
        seconds_in_words(job.seconds),
        f"read by {voice.name}" if voice else "",
    ]
    when = day(job.created_at)
    on = when if when == "today" else f"on {when}"
    return f"{', '.join(filter(None, parts))}. Made by {job.member.first_name} {on}."


def heading_of(told: Told) -> str:
    if told.open_charge is not None:
        return deed(told.open_charge.operation).capitalize()
    return "Draft" if told.state.name == "draft" else "Render"


def script_note(job: Job, script: str) -> str:
    words = len(script.split())
    length = seconds_in_words(job.seconds)
    return ", ".join(filter(None, (f"{words:,} words", length))) if words else ""


def seconds_in_words(seconds: float | None) -> str:
    """The length of a film: "62 s", from 100 seconds on in minutes."""
    if not seconds:
        return ""
    return f"{round(seconds)} s" if seconds < 100 else duration(seconds)


def facts_of(job: Job, options: Options) -> tuple[Fact, ...]:
    """What was chosen, by name; an id that the service names no more is left out."""
    named = [Fact("Type", type_of(job)), Fact("Format", str(job.wanted.get("aspect_ratio") or ""))]
    named += [Fact(label, name_of(field, job.wanted, options)) for field, label in FACTS.items()]
    return tuple(fact for fact in named if fact.value)


def name_of(field: str, wanted: dict[str, Any], options: Options) -> str:
    choice = options.chosen(field, wanted)
    return choice.name if choice is not None else ""


def film_of(job: Job) -> str:
    if job.state != JobState.COMPLETED or not job.media_url:
        return ""
    return reverse("video-media", args=[job.pk])
