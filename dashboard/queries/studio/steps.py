"""The spine of the wizard: six steps, what is done, what is missing and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dashboard.queries.studio.options import TYPES, Options
from dashboard.queries.studio.script import length_of
from proxyapi.drafts import TYPES_WITH_GENRE
from proxyapi.models import Job


class Slug(StrEnum):
    TYPE = "type"
    SCRIPT = "script"
    VOICE = "voice"
    LOOK = "look"
    CAPTIONS = "captions"
    REVIEW = "review"


NAMES = {
    Slug.TYPE: "Type",
    Slug.SCRIPT: "Script",
    Slug.VOICE: "Voice",
    Slug.LOOK: "Look",
    Slug.CAPTIONS: "Captions and sound",
    Slug.REVIEW: "Review",
}
CAPTIONS = ("font", "caption_effect", "caption_position", "transition", "volume")
LABELS = {
    "aspect_ratio": "Format",
    "voice_id": "Voice",
    "genre_id": "Genre",
    "image_engine_id": "Image engine",
    "font": "Font",
    "caption_effect": "Caption effect",
    "caption_position": "Caption position",
    "transition": "Transition",
    "volume": "Music",
}


@dataclass(frozen=True, slots=True)
class Step:
    slug: Slug
    number: int
    name: str
    note: str
    done: bool
    current: bool
    missing: bool

    @property
    def short(self) -> str:
        """The name for a button: its first word."""
        return self.name.split()[0]

    @property
    def share(self) -> str:
        """How far along, as the width of the phone's bar."""
        return f"{100 * self.number / len(Slug):.4g}%"


@dataclass(frozen=True, slots=True)
class Spine:
    steps: tuple[Step, ...]

    @property
    def current(self) -> Step:
        return next(step for step in self.steps if step.current)

    @property
    def before(self) -> Step | None:
        return self.steps[self.current.number - 2] if self.current.number > 1 else None

    @property
    def after(self) -> Step | None:
        return self.steps[self.current.number] if self.current.number < len(self.steps) else None


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the review: what is chosen, and the step that changes it."""

    label: str
    value: str
    step: Slug
    standard: bool = False  # what is not chosen is left to the service

    @property
    def group(self) -> str:
        return NAMES[self.step]


def spine_of(job: Job, options: Options, current: Slug) -> Spine:
    here = list(Slug).index(current)
    steps = []
    for place, slug in enumerate(Slug):
        done, note = state_of(slug, job.wanted, options)
        # What lies ahead is not missing yet: only a step that was passed by is.
        missing = not done and place < here and slug != Slug.REVIEW
        if not done and not missing:
            note = ""
        steps.append(Step(slug, place + 1, NAMES[slug], note, done, place == here, missing))
    return Spine(tuple(steps))


def state_of(slug: Slug, wanted: dict[str, Any], options: Options) -> tuple[bool, str]:
    """Whether a step has all it must have, and the note under its name."""
    match slug:
        case Slug.TYPE:
            return type_state(wanted, options)
        case Slug.SCRIPT:
            length = length_of(wanted.get("script"))
            return bool(length.words), script_note(wanted) if length.words else "No script yet"
        case Slug.VOICE:
            return one_of("voice_id", wanted, options, "No voice yet", "The voice is gone")
        case Slug.LOOK:
            return look_state(wanted, options)
        case Slug.CAPTIONS:
            return True, captions_note(wanted, options)
    return False, ""


def type_state(wanted: dict[str, Any], options: Options) -> tuple[bool, str]:
    kind = TYPES.get(str(wanted.get("type")), "")
    ratio = wanted.get("aspect_ratio")
    if not kind:
        return False, "No type yet"
    if not ratio and options.choices("aspect_ratio"):
        return False, "No format yet"
    return True, ", ".join(filter(None, (kind, str(ratio or ""))))


def look_state(wanted: dict[str, Any], options: Options) -> tuple[bool, str]:
    if not wanted.get("genre_id") and wanted.get("type") not in TYPES_WITH_GENRE:
        return True, ""
    done, note = one_of("genre_id", wanted, options, "No genre yet", "The genre is gone")
    engine = options.chosen("image_engine_id", wanted)
    return done, f"{note}, {engine.name}" if done and engine else note


def one_of(
    field: str, wanted: dict[str, Any], options: Options, empty: str, gone: str
) -> tuple[bool, str]:
    """Done when the service knows the choice; while it told no options, the choice is believed."""
    if not wanted.get(field):
        return False, empty
    choice = options.chosen(field, wanted)
    if choice is not None:
        return True, choice.name
    return (False, gone) if options.choices(field) else (True, "Chosen")


def captions_note(wanted: dict[str, Any], options: Options) -> str:
    names = [one.name for field in CAPTIONS if (one := options.chosen(field, wanted))]
    return ", ".join(names[:2]) or "Standard set"


def script_note(wanted: dict[str, Any]) -> str:
    length = length_of(wanted.get("script"))
    words = "1 word" if length.words == 1 else f"{length.words:,} words"
    return f"{length.spoken}, {words}"


def summary(job: Job, options: Options) -> str:
    """`AI visuals, 16:9, 60 s, read by Maren.`"""
    voice = options.chosen("voice_id", job.wanted)
    parts = (
        TYPES.get(str(job.wanted.get("type")), "Faceless video"),
        str(job.wanted.get("aspect_ratio") or ""),
        length_of(job.wanted.get("script")).spoken,
        f"read by {voice.name}" if voice else "",
    )
    return f"{', '.join(filter(None, parts))}."


def facts_of(job: Job, options: Options, step: Slug) -> tuple[Fact, ...]:
    """Everything that is chosen in a step; in the review, in all of them."""
    lines = [
        Fact("Title", job.title, Slug.TYPE),
        Fact("Type", TYPES.get(str(job.wanted.get("type")), ""), Slug.TYPE),
        fact(job, options, "aspect_ratio", Slug.TYPE),
        Fact("Script", script_note(job.wanted) if job.wanted.get("script") else "", Slug.SCRIPT),
        fact(job, options, "voice_id", Slug.VOICE),
        fact(job, options, "genre_id", Slug.LOOK),
        fact(job, options, "image_engine_id", Slug.LOOK),
        *(fact(job, options, field, Slug.CAPTIONS) for field in CAPTIONS),
    ]
    return tuple(line for line in lines if step in (Slug.REVIEW, line.step))


def fact(job: Job, options: Options, field: str, step: Slug) -> Fact:
    choice = options.chosen(field, job.wanted)
    value = choice.name if choice else str(job.wanted.get(field) or "")
    return Fact(LABELS[field], value, step, standard=field in CAPTIONS)
