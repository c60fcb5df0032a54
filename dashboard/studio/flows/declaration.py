"""The parts of a creation flow, as plain data for forms, queries, actions and templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from dashboard.shared.video_options import FacelessOptions
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from proxyapi.models import JobKind


class StepSlug(StrEnum):
    TYPE = "type"
    SCRIPT = "script"
    SOURCE = "source"
    VOICE = "voice"
    VISUALS = "visuals"
    CAPTIONS = "captions"
    REVIEW = "review"


class SettingControl(StrEnum):
    """How a setting is shown: by the template of this name in `studio/steps/options`."""

    LIST = "list"  # a select list
    CARDS = "cards"  # radio buttons as cards, here and below
    STILLS = "stills"  # with a picture
    SWATCHES = "swatches"  # small, with a drawing
    SAMPLES = "samples"  # with a picture that the style sheet draws
    PEOPLE = "people"
    CORNERS = "corners"  # placed in the corners of a picture
    ENGINES = "engines"  # with the prices of the clip engines
    WITH_ENGINE = "with engine"  # chosen inside the control of the clip engines


@dataclass(frozen=True, slots=True)
class SettingSection:
    """A card of a step with several settings."""

    heading: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class OptionSetting:
    """A setting that is chosen among the values that the service offers.

    `name` is the service's field (`OPTION_FIELDS` has its group). With a `required_error` the form
    requires a choice; without one the service's default may stay. `is_needed`: the step is
    incomplete without it. `starts_with_first`: the first value is preselected. Without a `section`
    it is shown under the heading of its step.
    """

    name: str
    label: str
    required_error: str = ""
    is_needed: bool = False
    starts_with_first: bool = False
    control: SettingControl = SettingControl.LIST
    section: SettingSection | None = None

    @property
    def is_optional(self) -> bool:
        return not self.required_error

    @property
    def noun(self) -> str:
        return self.label.lower()


@dataclass(frozen=True, slots=True)
class FlowStep:
    """A page of the flow. `needs` is what it requires, with an article, for the list of drafts.

    The default template renders the settings alone.
    """

    slug: StepSlug
    name: str
    heading: str = ""
    needs: str = ""
    settings: tuple[OptionSetting, ...] = ()
    template: str = "studio/steps/settings.html"

    @property
    def has_script(self) -> bool:
        """True for the step that has the script: Script, or Source for a web page."""
        return self.slug in (StepSlug.SCRIPT, StepSlug.SOURCE)


@dataclass(frozen=True, slots=True)
class Precondition:
    """What a draft needs for a render (spec, Faceless render preconditions).

    `label` is its line when it is met, `task` while nothing is chosen. `must_be_offered`: the
    service must still offer the chosen value. `find_problem`: returns a sentence about the chosen
    settings, or "" if they are legal. `only_if_offered`: it applies only if the service has values
    for the field.
    """

    field: str
    noun: str
    label: str
    task: str
    step: StepSlug
    action_label: str = "Choose"
    must_be_offered: bool = False
    only_if_offered: bool = False
    find_problem: Callable[[dict[str, Any], FacelessOptions], str] | None = None

    @property
    def refusal(self) -> str:
        return f"A {self.noun} is required to render."

    def find_refusal(self, chosen: dict[str, Any], options: FacelessOptions) -> str:
        """Return a sentence if a render would lack it, or if the service offers other values only;
        empty if not."""
        if self.only_if_offered and not options.choices(self.field):
            return ""
        if not chosen.get(self.field):
            return self.refusal
        if self.find_problem and (problem := self.find_problem(chosen, options)):
            return f"{problem}."
        offered = options.choices(self.field) if self.must_be_offered else ()
        if offered and options.selected_choice(self.field, chosen) is None:
            return f"The {self.noun} is no longer offered. Choose another one."
        return ""


@dataclass(frozen=True)
class Flow:
    """A video type. The operations are named as in the API client's catalogue.

    `find_formats`: returns the formats that the type can make with the chosen settings; empty if it
    can make every format.
    """

    type: str
    note: str
    steps: tuple[FlowStep, ...]
    preconditions: tuple[Precondition, ...]
    find_formats: Callable[[dict[str, Any], FacelessOptions], frozenset[str]] | None = None
    script_operation: str = "faceless.scripts"
    render_operation: str = "faceless.render"
    kind: JobKind = JobKind.FACELESS

    @property
    def label(self) -> str:
        return FACELESS_TYPE_LABELS[self.type]

    @cached_property
    def steps_by_slug(self) -> dict[str, FlowStep]:
        return {step.slug: step for step in self.steps}

    @cached_property
    def script_slug(self) -> StepSlug:
        """Return the step that has the script."""
        return StepSlug.SOURCE if self.reads_page else StepSlug.SCRIPT

    @property
    def reads_page(self) -> bool:
        """True if its images and script come from a web page; its type is then fixed at the
        service."""
        return StepSlug.SOURCE in self.steps_by_slug

    @cached_property
    def settings(self) -> dict[str, OptionSetting]:
        """Return every setting of its steps, by name."""
        return {setting.name: setting for step in self.steps for setting in step.settings}

    @property
    def still(self) -> str:
        """Return the path of its picture below `static`."""
        return f"stills/flow-{self.type}.svg"

    def makes_format(self, ratio: str, chosen: dict[str, Any], options: FacelessOptions) -> bool:
        formats = self.find_formats(chosen, options) if self.find_formats else frozenset()
        return not formats or ratio in formats

    def needed_text(self, article: str = "") -> str:
        """Return what a price and a render need: `script and voice`, with an article `a script and
        a voice`."""
        nouns = dict.fromkeys(need.noun for need in self.preconditions)
        *first, last = (f"{article} {noun}".strip() for noun in nouns)
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def needs_text(self) -> str:
        """Return a text such as `Needs a script and a voice`."""
        return f"Needs {self.needed_text('a')}"

    def next_slug(self, slug: StepSlug) -> StepSlug:
        slugs = [step.slug for step in self.steps]
        return slugs[slugs.index(slug) + 1]
