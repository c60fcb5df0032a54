"""What a creation flow is made of. Plain data: forms, queries, actions and templates read it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from proxyapi.models import JobKind


class StepSlug(StrEnum):
    TYPE = "type"
    SCRIPT = "script"
    VOICE = "voice"
    VISUALS = "visuals"
    CAPTIONS = "captions"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class OptionSetting:
    """One setting, chosen among what the service offers for it.

    `name` is the service's (`OPTION_FIELDS` has its group). With a `required_error` the form asks
    for a choice; without one it may stay as the service has it. `is_needed` tells whether the step
    is complete without it, `starts_with_first` checks the first choice for who made none.
    """

    name: str
    label: str
    required_error: str = ""
    is_needed: bool = False
    starts_with_first: bool = False
    as_cards: bool = False  # radios as cards; otherwise a list that opens

    @property
    def is_optional(self) -> bool:
        return not self.required_error

    @property
    def noun(self) -> str:
        return self.label.lower()


@dataclass(frozen=True, slots=True)
class FlowStep:
    """A page of the flow. `needs` is what it has to have, with its article, for a list of drafts.

    Without a template of its own it is drawn from its settings alone.
    """

    slug: StepSlug
    name: str
    heading: str = ""
    needs: str = ""
    settings: tuple[OptionSetting, ...] = ()
    template: str = "studio/steps/settings.html"

    @property
    def is_optional(self) -> bool:
        return all(setting.is_optional for setting in self.settings)


@dataclass(frozen=True, slots=True)
class Precondition:
    """What a render needs of a draft (spec, Faceless render preconditions).

    `must_be_offered`: a value is not enough, the service has to know it.
    """

    field: str
    noun: str
    label: str
    step: StepSlug
    action_label: str = "Choose"
    must_be_offered: bool = False

    @property
    def refusal(self) -> str:
        return f"A {self.noun} is required to render."


@dataclass(frozen=True)
class Flow:
    """One video type. The operations are named as in the API client's catalog."""

    type: str
    note: str
    steps: tuple[FlowStep, ...]
    preconditions: tuple[Precondition, ...]
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
    def settings(self) -> dict[str, OptionSetting]:
        """Every setting of its steps, by name."""
        return {setting.name: setting for step in self.steps for setting in step.settings}

    def needed_text(self, article: str = "") -> str:
        """What a price and a render need: `script and voice`, with an article `a script and a
        voice`."""
        nouns = dict.fromkeys(need.noun for need in self.preconditions)
        *first, last = (f"{article} {noun}".strip() for noun in nouns)
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def needs_text(self) -> str:
        """`Needs a script and a voice`."""
        return f"Needs {self.needed_text('a')}"

    def next_slug(self, slug: StepSlug) -> StepSlug:
        slugs = [step.slug for step in self.steps]
        return slugs[slugs.index(slug) + 1]
