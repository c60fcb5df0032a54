"""The spine of the wizard: six steps, what is done, what is missing and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dashboard.shared.video_options import VIDEO_TYPE_LABELS, FacelessOptions
from dashboard.studio.queries.script import script_length
from proxyapi.drafts import TYPES_WITH_GENRE
from proxyapi.models import Job


class StepSlug(StrEnum):
    TYPE = "type"
    SCRIPT = "script"
    VOICE = "voice"
    VISUALS = "visuals"
    CAPTIONS = "captions"
    REVIEW = "review"


STEP_NAMES = {
    StepSlug.TYPE: "Type",
    StepSlug.SCRIPT: "Script",
    StepSlug.VOICE: "Voice",
    StepSlug.VISUALS: "Visuals",
    StepSlug.CAPTIONS: "Captions and sound",
    StepSlug.REVIEW: "Review",
}
CAPTION_FIELDS = ("font", "caption_effect", "caption_position", "transition", "volume")
FIELD_LABELS = {
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
class StudioStep:
    slug: StepSlug
    number: int
    name: str
    note: str
    done: bool
    current: bool
    missing: bool

    @property
    def short_name(self) -> str:
        """The name for a button: its first word."""
        return self.name.split()[0]

    @property
    def progress_width(self) -> str:
        """How far along, as the width of the phone's bar."""
        return f"{100 * self.number / len(StepSlug):.4g}%"


@dataclass(frozen=True, slots=True)
class StepProgress:
    steps: tuple[StudioStep, ...]

    @property
    def current(self) -> StudioStep:
        return next(step for step in self.steps if step.current)

    @property
    def previous_step(self) -> StudioStep | None:
        return self.steps[self.current.number - 2] if self.current.number > 1 else None

    @property
    def next_step(self) -> StudioStep | None:
        return self.steps[self.current.number] if self.current.number < len(self.steps) else None


@dataclass(frozen=True, slots=True)
class ReviewFact:
    """One line of the review: what is chosen, and the step that changes it."""

    label: str
    value: str
    step: StepSlug
    uses_default: bool = False  # what is not chosen is left to the service

    @property
    def group(self) -> str:
        return STEP_NAMES[self.step]


def build_step_progress(job: Job, options: FacelessOptions, current: StepSlug) -> StepProgress:
    here = list(StepSlug).index(current)
    steps = []
    for place, slug in enumerate(StepSlug):
        done, note = step_state(slug, job.wanted, options)
        # What lies ahead is not missing yet: only a step that was passed by is.
        missing = not done and place < here and slug != StepSlug.REVIEW
        if not done and not missing:
            note = ""
        steps.append(
            StudioStep(slug, place + 1, STEP_NAMES[slug], note, done, place == here, missing)
        )
    return StepProgress(tuple(steps))


def step_state(
    slug: StepSlug, wanted: dict[str, Any], options: FacelessOptions
) -> tuple[bool, str]:
    """Whether a step has all it must have, and the note under its name."""
    match slug:
        case StepSlug.TYPE:
            return type_step_state(wanted, options)
        case StepSlug.SCRIPT:
            length = script_length(wanted.get("script"))
            return bool(length.words), script_length_note(
                wanted
            ) if length.words else "No script yet"
        case StepSlug.VOICE:
            return choice_state("voice_id", wanted, options, "No voice yet", "The voice is gone")
        case StepSlug.VISUALS:
            return visuals_step_state(wanted, options)
        case StepSlug.CAPTIONS:
            return True, captions_note(wanted, options)
    return False, ""


def type_step_state(wanted: dict[str, Any], options: FacelessOptions) -> tuple[bool, str]:
    kind = VIDEO_TYPE_LABELS.get(str(wanted.get("type")), "")
    ratio = wanted.get("aspect_ratio")
    if not kind:
        return False, "No type yet"
    if not ratio and options.choices("aspect_ratio"):
        return False, "No format yet"
    return True, ", ".join(filter(None, (kind, str(ratio or ""))))


def visuals_step_state(wanted: dict[str, Any], options: FacelessOptions) -> tuple[bool, str]:
    if not wanted.get("genre_id") and wanted.get("type") not in TYPES_WITH_GENRE:
        return True, ""
    done, note = choice_state("genre_id", wanted, options, "No genre yet", "The genre is gone")
    engine = options.selected_choice("image_engine_id", wanted)
    return done, f"{note}, {engine.name}" if done and engine else note


def choice_state(
    field: str, wanted: dict[str, Any], options: FacelessOptions, empty: str, gone: str
) -> tuple[bool, str]:
    """Done when the service knows the choice; while it told no options, the choice is believed."""
    if not wanted.get(field):
        return False, empty
    choice = options.selected_choice(field, wanted)
    if choice is not None:
        return True, choice.name
    return (False, gone) if options.choices(field) else (True, "Chosen")


def captions_note(wanted: dict[str, Any], options: FacelessOptions) -> str:
    names = [
        one.name for field in CAPTION_FIELDS if (one := options.selected_choice(field, wanted))
    ]
    return ", ".join(names[:2]) or "Standard set"


def script_length_note(wanted: dict[str, Any]) -> str:
    length = script_length(wanted.get("script"))
    words = "1 word" if length.words == 1 else f"{length.words:,} words"
    return f"{length.duration_text}, {words}"


def draft_summary(job: Job, options: FacelessOptions) -> str:
    """`AI visuals, 16:9, 60 s, read by Maren.`"""
    voice = options.selected_choice("voice_id", job.wanted)
    parts = (
        VIDEO_TYPE_LABELS.get(str(job.wanted.get("type")), "Faceless video"),
        str(job.wanted.get("aspect_ratio") or ""),
        script_length(job.wanted.get("script")).duration_text,
        f"read by {voice.name}" if voice else "",
    )
    return f"{', '.join(filter(None, parts))}."


def build_review_facts(
    job: Job, options: FacelessOptions, step: StepSlug
) -> tuple[ReviewFact, ...]:
    """Everything that is chosen in a step; in the review, in all of them."""
    lines = [
        ReviewFact("Title", job.title, StepSlug.TYPE),
        ReviewFact("Type", VIDEO_TYPE_LABELS.get(str(job.wanted.get("type")), ""), StepSlug.TYPE),
        build_review_fact(job, options, "aspect_ratio", StepSlug.TYPE),
        ReviewFact(
            "Script",
            script_length_note(job.wanted) if job.wanted.get("script") else "",
            StepSlug.SCRIPT,
        ),
        build_review_fact(job, options, "voice_id", StepSlug.VOICE),
        build_review_fact(job, options, "genre_id", StepSlug.VISUALS),
        build_review_fact(job, options, "image_engine_id", StepSlug.VISUALS),
        *(build_review_fact(job, options, field, StepSlug.CAPTIONS) for field in CAPTION_FIELDS),
    ]
    return tuple(line for line in lines if step in (StepSlug.REVIEW, line.step))


def build_review_fact(job: Job, options: FacelessOptions, field: str, step: StepSlug) -> ReviewFact:
    choice = options.selected_choice(field, job.wanted)
    value = choice.name if choice else str(job.wanted.get(field) or "")
    return ReviewFact(FIELD_LABELS[field], value, step, uses_default=field in CAPTION_FIELDS)
