"""Step forms, built from the settings that a flow declares. They offer allowed values only, and
return only what was changed.

A form knows the values it was built from (`seen`): if another member changed the same step since,
saving reports it instead of overwriting, and the input is kept.
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
from dashboard.studio.flows import (
    FlowStep,
    SettingControl,
    SettingSection,
)
from dashboard.studio.forms.fields import OptionCard, OptionField
from dashboard.studio.forms.stills import shipped_still
from proxyapi.models import Job

SERVICE_ERROR = "The service does not accept it: “{}”"
MIN_SEARCHED_CARDS = 24
VERSION_FIELDS = ("edited_at", "seen")


@dataclass(frozen=True, slots=True)
class SettingField:
    """The field of a setting, shown by the template of its control."""

    field: BoundField
    control: SettingControl
    cards: tuple[OptionCard, ...]

    @property
    def template(self) -> str:
        return f"studio/steps/options/{self.control}.html"

    @property
    def value(self) -> str:
        return str(self.field.value() or "")

    @property
    def has_search(self) -> bool:
        return len(self.cards) >= MIN_SEARCHED_CARDS


@dataclass(frozen=True, slots=True)
class FormSection:
    """The fields of a step that are shown in one card."""

    section: SettingSection
    fields: tuple[SettingField, ...]


class StepForm(PortalForm):
    """The settings of a step of a draft; a subclass declares other fields of the step.

    `is_partial`: a single field is saved, so others may still be missing. `stills`: the URL
    of a picture for each field and value.
    """

    edited_at = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION_LABEL)
    seen = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION_LABEL)

    def __init__(
        self,
        job: Job,
        step: FlowStep,
        options: FacelessOptions,
        data: Any = None,
        *,
        is_partial: bool = False,
    ) -> None:
        self.job, self.step, self.options, self.is_partial = job, step, options, is_partial
        self.stills: Mapping[tuple[str, str], str] = {}
        declared = [name for name in self.base_fields if name not in VERSION_FIELDS]
        self.saved_fields = (*declared, *(setting.name for setting in step.settings))
        super().__init__(data, initial=self.initial_from_draft(), use_required_attribute=False)
        self.add_setting_fields()

    def initial_from_draft(self) -> dict[str, Any]:
        """Return the draft's values of this step, and the version fields."""
        draft = self.job.draft
        values = {name: draft.settings.get(name) for name in self.saved_fields}
        return {**values, "edited_at": draft.edited_at.isoformat(), "seen": step_digest(values)}

    def add_setting_fields(self) -> None:
        """Add a field per setting, except for optional ones without values at the service."""
        for setting in self.step.settings:
            if setting.control == SettingControl.WITH_ENGINE:
                continue
            chosen = self.job.draft.settings.get(setting.name)
            field = OptionField(setting, self.options, chosen, is_partial=self.is_partial)
            if setting.is_optional and not field.offered:
                continue
            if setting.starts_with_first and not chosen and field.offered:
                self.initial[setting.name] = next(iter(field.offered))
            self.fields[setting.name] = field

    @property
    def sections(self) -> tuple[FormSection, ...]:
        """Return the settings in the cards of the page, with the choices made in this form."""
        optional = all(
            setting.is_optional for setting in self.step.settings if setting.section is None
        )
        own = SettingSection(self.step.heading, "optional" if optional else "")
        sections: dict[SettingSection, list[SettingField]] = {}
        for name, field in self.fields.items():
            if isinstance(field, OptionField) and field.offered:
                section = field.setting.section or own
                sections.setdefault(section, []).append(self.setting_field(name, field))
        return tuple(FormSection(section, tuple(found)) for section, found in sections.items())

    def setting_field(self, name: str, field: OptionField) -> SettingField:
        value = str(self[name].value() or "")
        cards = tuple(
            OptionCard(
                choice,
                choice.value == value,
                self.stills.get((name, choice.value), ""),
                shipped_still(name, choice.slug),
            )
            for choice in field.offered.values()
        )
        control = field.setting.control
        corners = [card.corner for card in cards]
        if control == SettingControl.CORNERS and (
            not all(corners) or len(set(corners)) < len(corners)
        ):
            control = SettingControl.LIST
        return SettingField(self[name], control, cards)

    def with_service_errors(self) -> Self:
        """Add the service's errors of the last price request to their fields."""
        draft = self.job.draft
        field_errors = (draft.quote_fields or {}) if draft.quote_error else {}
        for name in self.fields.keys() & field_errors.keys():
            self.errors[name] = self.error_class([SERVICE_ERROR.format(field_errors[name])])
        return self

    def changes(self) -> dict[str, Any]:
        """Return the values that differ from the draft. The form must be valid."""
        before = self.job.draft.settings
        changes: dict[str, Any] = {}
        for name in self.saved_fields:
            value = self.cleaned_data.get(name)
            value = None if value == "" else value
            if value is None and not self.is_cleared(name):
                continue
            if value != before.get(name):
                changes[name] = value
        return changes

    def is_cleared(self, name: str) -> bool:
        """True if an optional setting was left to the service; a field that was not sent was
        not."""
        field = self.fields.get(name)
        is_optional = isinstance(field, OptionField) and field.setting.is_optional
        return is_optional and name in self.data

    def base_edited_at(self) -> str:
        """Return the edit of the draft that this form builds on: the last one, unless this step
        changed since."""
        current = self.initial_from_draft()
        untouched = self.cleaned_data["seen"] in ("", current["seen"])
        return str(current["edited_at"]) if untouched else str(self.cleaned_data["edited_at"])

    def with_current_version(self, job: Job) -> Self:
        """Return the same input on top of the current draft, so that a second save overwrites
        it."""
        current = type(self)(job, self.step, self.options).initial_from_draft()
        data = {name: self.data[name] for name in self.data}
        versions = {name: current[name] for name in VERSION_FIELDS}
        return type(self)(job, self.step, self.options, {**data, **versions})


def step_digest(values: dict[str, Any]) -> str:
    """Return 16 hexadecimal digits that identify the values of a step."""
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
