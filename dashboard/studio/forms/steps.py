"""The form of a step, made of the settings its flow declares; it offers legal values only, and
answers only what was changed.

A form remembers what it was drawn from (`seen`): when somebody else changed the same step
meanwhile, saving says so instead of overwriting, and what was typed stays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from django import forms
from django.forms.boundfield import BoundField

from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows import FLOWS, Flow, FlowStep, StepSlug, flow_of
from dashboard.studio.forms.fields import OptionCard, OptionField, ScriptField, TitleField
from proxyapi.models import Job

SERVICE_ERROR = "The service does not accept it: “{}”"
VERSION_FIELDS = ("edited_at", "seen")


@dataclass(frozen=True, slots=True)
class CardGroup:
    """A setting whose choices are drawn as cards."""

    field: BoundField
    cards: tuple[OptionCard, ...]


class StepForm(PortalForm):
    """The settings of one step of one draft; a subclass declares what else the step asks for."""

    edited_at = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION_LABEL)
    seen = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION_LABEL)

    def __init__(
        self, job: Job, step: FlowStep, options: FacelessOptions, data: Any = None
    ) -> None:
        self.job, self.step, self.options = job, step, options
        own = [name for name in self.base_fields if name not in VERSION_FIELDS]
        self.saved_fields = (*own, *(setting.name for setting in step.settings))
        super().__init__(data, initial=self.initial_from_draft(), use_required_attribute=False)
        self.add_setting_fields()

    def initial_from_draft(self) -> dict[str, Any]:
        """What the draft holds of this step, and the marks that recognise it."""
        draft = self.job.draft
        held = {name: draft.settings.get(name) for name in self.saved_fields}
        return {**held, "edited_at": draft.edited_at.isoformat(), "seen": step_digest(held)}

    def add_setting_fields(self) -> None:
        """A field for each setting; none for an optional one that the service has no values for."""
        for setting in self.step.settings:
            chosen = self.job.draft.settings.get(setting.name)
            field = OptionField(setting, self.options, chosen=chosen)
            if setting.is_optional and not field.offered:
                continue
            if setting.starts_with_first and not chosen and field.offered:
                self.initial[setting.name] = next(iter(field.offered))
            self.fields[setting.name] = field

    @property
    def card_groups(self) -> tuple[CardGroup, ...]:
        """The settings drawn as cards, with the choice that is made in this form."""
        groups = []
        for name, field in self.fields.items():
            if isinstance(field, OptionField) and field.setting.as_cards:
                value = str(self[name].value() or "")
                offered = field.offered.values()
                cards = tuple(OptionCard(choice, choice.value == value) for choice in offered)
                groups.append(CardGroup(self[name], cards))
        return tuple(groups)

    @property
    def list_fields(self) -> list[BoundField]:
        """The settings drawn as lists that open."""
        return [
            self[name]
            for name, field in self.fields.items()
            if isinstance(field, OptionField) and not field.setting.as_cards
        ]

    def with_service_errors(self) -> Self:
        """Show at its field what the service said of it when the price was asked last."""
        draft = self.job.draft
        said = (draft.quote_fields or {}) if draft.quote_error else {}
        for name in self.fields.keys() & said.keys():
            self.errors[name] = self.error_class([SERVICE_ERROR.format(said[name])])
        return self

    def changes(self) -> dict[str, Any]:
        """What the draft does not hold yet. Needs a valid form."""
        chosen = {name: self.cleaned_data.get(name) for name in self.saved_fields}
        return {
            name: value
            for name, value in chosen.items()
            if value not in (None, "") and value != self.job.draft.settings.get(name)
        }

    def base_edited_at(self) -> str:
        """Which edit of the draft this builds on: the last one, unless its own step changed."""
        now = self.initial_from_draft()
        untouched = self.cleaned_data["seen"] in ("", now["seen"])
        return str(now["edited_at"]) if untouched else str(self.cleaned_data["edited_at"])

    def with_current_version(self, job: Job) -> Self:
        """The same answers on top of the draft as it is now: a second save means it."""
        fresh = type(self)(job, self.step, self.options).initial_from_draft()
        data = {name: self.data.get(name, "") for name in self.fields}
        versions = {name: fresh[name] for name in VERSION_FIELDS}
        return type(self)(job, self.step, self.options, {**data, **versions})


class TypeForm(StepForm):
    title = TitleField()
    type = forms.ChoiceField(
        choices=[(flow.type, flow.label) for flow in FLOWS.values()],
        error_messages={"required": "Choose a type.", "invalid_choice": "Choose a type."},
    )

    @property
    def type_cards(self) -> tuple[tuple[Flow, bool], ...]:
        """Every flow, and whether it is the chosen one."""
        chosen = self["type"].value()
        return tuple((flow, flow.type == chosen) for flow in FLOWS.values())


class ScriptForm(StepForm):
    script = ScriptField(required=True, rows=14)


# Steps that ask for more than settings.
FORM_OVERRIDES: Mapping[StepSlug, type[StepForm]] = {
    StepSlug.TYPE: TypeForm,
    StepSlug.SCRIPT: ScriptForm,
}


def build_step_form(
    job: Job, slug: StepSlug, options: FacelessOptions, data: Any = None
) -> StepForm:
    """The form of a step of the draft's flow; raises `KeyError` where the flow has no such step."""
    step = flow_of(job).steps_by_slug[slug]
    return FORM_OVERRIDES.get(slug, StepForm)(job, step, options, data)


def step_digest(held: dict[str, Any]) -> str:
    """16 hexadecimal digits of what a step held when its form was drawn."""
    text = json.dumps(held, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
