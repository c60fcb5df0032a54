"""The steps of a draft: which are complete, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows import FLOWS, FlowStep, OptionSetting, SettingControl, StepSlug, flow_of
from dashboard.studio.queries.script import script_length, spoken_duration_text
from proxyapi.models import Job

MAX_NAMES_IN_NOTE = 2


@dataclass(frozen=True, slots=True)
class StudioStep:
    """`missing`: incomplete, and before the current step. `has_problem`: also, something that was
    chosen there cannot be used."""

    slug: StepSlug
    number: int
    name: str
    note: str
    done: bool
    current: bool
    missing: bool
    has_problem: bool

    @property
    def short_name(self) -> str:
        """Return the first word of the name, for a button."""
        return self.name.split()[0]


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

    @property
    def bar_width(self) -> str:
        """Return the progress as the width of the bar on phones."""
        return f"{100 * self.current.number / len(self.steps):.4g}%"


@dataclass(frozen=True, slots=True)
class ReviewFact:
    """A line of the review: a chosen value, and the step that changes it."""

    label: str
    value: str
    step: FlowStep
    uses_default: bool = False  # without a choice the service's default is used

    @property
    def group(self) -> str:
        return self.step.name


def build_step_progress(job: Job, options: FacelessOptions, current: StepSlug) -> StepProgress:
    steps: list[StudioStep] = []
    for index, step in enumerate(flow_of(job).steps):
        done, note = step_state(step, job.draft.settings, options)
        # Only a step before the current one counts as missing.
        is_ahead = any(earlier.current for earlier in steps) or step.slug == current
        missing = not done and not is_ahead
        has_images = step.slug == StepSlug.SOURCE and job.draft.settings.get("assets")
        if not done and not missing and not has_images:
            note = ""
        steps.append(
            StudioStep(
                step.slug,
                index + 1,
                step.name,
                note,
                done,
                step.slug == current,
                missing,
                missing and has_problem(step, job.draft.settings, options),
            )
        )
    return StepProgress(tuple(steps))


def step_state(
    step: FlowStep, chosen: dict[str, Any], options: FacelessOptions
) -> tuple[bool, str]:
    """Return whether a step is complete, and the note below its name."""
    match step.slug:
        case StepSlug.TYPE:
            return type_step_state(chosen, options)
        case StepSlug.SCRIPT:
            has_words = bool(script_length(chosen.get("script")).words)
            return has_words, script_length_note(chosen) if has_words else "No script yet"
        case StepSlug.SOURCE:
            return source_step_state(chosen)
        case StepSlug.REVIEW:
            return False, ""
    notes = []
    for setting in step.settings:
        done, note = setting_state(setting, chosen, options)
        if not done:
            return False, note
        if setting.control != SettingControl.WITH_ENGINE:
            notes.append(note)
    if problem := find_step_problem(step, chosen, options):
        return False, problem
    return True, ", ".join(list(filter(None, notes))[:MAX_NAMES_IN_NOTE]) or "Standard set"


def has_problem(step: FlowStep, chosen: dict[str, Any], options: FacelessOptions) -> bool:
    """Return whether a chosen value of a step cannot be used; nothing chosen is no problem."""
    are_complete = (
        setting_state(setting, chosen, options)[0]
        for setting in step.settings
        if chosen.get(setting.name)
    )
    return not all(are_complete) or bool(find_step_problem(step, chosen, options))


def find_step_problem(step: FlowStep, chosen: dict[str, Any], options: FacelessOptions) -> str:
    """Return why the choices of a step do not fit together; empty if they do."""
    flow = FLOWS.get(str(chosen.get("type")))
    needs = [need for need in flow.preconditions if need.step == step.slug] if flow else []
    problems = (need.find_problem(chosen, options) for need in needs if need.find_problem)
    return next(filter(None, problems), "")


def type_step_state(chosen: dict[str, Any], options: FacelessOptions) -> tuple[bool, str]:
    flow, ratio = FLOWS.get(str(chosen.get("type"))), chosen.get("aspect_ratio")
    if flow is None:
        return False, "No type yet"
    if not ratio and options.choices("aspect_ratio"):
        return False, "No format yet"
    return True, ", ".join(filter(None, (flow.label, str(ratio or ""))))


def source_step_state(chosen: dict[str, Any]) -> tuple[bool, str]:
    images, has_words = len(chosen.get("assets") or ()), bool(chosen.get("script"))
    counted = "1 image" if images == 1 else f"{images or 'No'} images"
    words = script_length_note(chosen) if has_words else "no script yet"
    return bool(images) and has_words, f"{counted}, {words}"


def setting_state(
    setting: OptionSetting, chosen: dict[str, Any], options: FacelessOptions
) -> tuple[bool, str]:
    """Complete if the service offers the chosen value; without options, any chosen value is
    accepted. A group that the service does not have needs no choice."""
    choice = options.selected_choice(setting.name, chosen)
    if choice is not None:
        return True, choice.name
    has_choices = bool(options.choices(setting.name))
    if not chosen.get(setting.name):
        is_missing = setting.is_needed and (has_choices or not options)
        return not is_missing, f"No {setting.noun} yet" if is_missing else ""
    if has_choices:
        return False, f"The {setting.noun} is no longer available"
    return True, "Chosen" if setting.is_needed else ""


def script_length_note(chosen: dict[str, Any]) -> str:
    length = script_length(chosen.get("script"))
    words = "1 word" if length.words == 1 else f"{length.words:,} words"
    return f"{length.duration_text}, {words}"


def draft_summary(job: Job, options: FacelessOptions, seconds: int | None = None) -> str:
    """Return a text such as `AI visuals, 16:9, 60 s, read by Maren.` `seconds`: of a script that is
    not written yet."""
    chosen = job.draft.settings
    voice = options.selected_choice("voice_id", chosen)
    parts = (
        flow_of(job).label,
        str(chosen.get("aspect_ratio") or ""),
        script_length(chosen.get("script")).duration_text
        if seconds is None
        else spoken_duration_text(seconds),
        f"read by {voice.name}" if voice else "",
    )
    return f"{', '.join(filter(None, parts))}."


def build_review_facts(
    job: Job, options: FacelessOptions, current: StepSlug
) -> tuple[ReviewFact, ...]:
    """Return the chosen values of a step; in the review, of all steps."""
    flow, chosen = flow_of(job), job.draft.settings
    shown = [step for step in flow.steps if current in (StepSlug.REVIEW, step.slug)]
    facts: list[ReviewFact] = []
    for step in shown:
        if step.slug == StepSlug.TYPE:
            facts += [ReviewFact("Title", job.title, step), ReviewFact("Type", flow.label, step)]
        if step.slug == StepSlug.SOURCE:
            images = len(chosen.get("assets") or ())
            facts.append(ReviewFact("Images of the page", str(images or ""), step))
        if step.has_script:
            note = script_length_note(chosen) if chosen.get("script") else ""
            facts.append(ReviewFact("Script", note, step))
        for setting in step.settings:
            choice = options.selected_choice(setting.name, chosen)
            value = choice.name if choice else str(chosen.get(setting.name) or "")
            facts.append(ReviewFact(setting.label, value, step, setting.is_optional))
    return tuple(facts)
