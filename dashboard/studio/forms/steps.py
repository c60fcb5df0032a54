"""One form a step: it offers legal values only, and answers only what was changed (pitfall 120).

A form remembers what it was drawn from (`seen`): when somebody else changed the same step
meanwhile, saving says so instead of overwriting, and what was typed stays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from django import forms

from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.video_options import VIDEO_TYPE_LABELS, FacelessOptions
from dashboard.studio.forms.fields import OptionCard, OptionField, ScriptField, TitleField
from dashboard.studio.queries.steps import CAPTION_FIELDS, StepSlug
from proxyapi.models import Job

SERVICE_ERROR = "The service does not accept it: “{}”"


class StepForm(PortalForm):
    """A step of one draft. `kept` are its fields, in the service's names."""

    saved_fields: ClassVar[tuple[str, ...]] = ()
    edited_at = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION_LABEL)
    seen = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION_LABEL)

    def __init__(self, job: Job, options: FacelessOptions, data: Any = None) -> None:
        self.job, self.options = job, options
        super().__init__(data, initial=self.initial_from_draft(), use_required_attribute=False)

    def initial_from_draft(self) -> dict[str, Any]:
        """What the draft holds of this step, and the marks that recognise it."""
        held = {name: self.job.wanted.get(name) for name in self.saved_fields}
        return {**held, "edited_at": self.job.edited_at.isoformat(), "seen": step_digest(held)}

    def add_option_field(self, name: str, *, empty: str = "", first: bool = False) -> None:
        """Add a field of the options; `first` chooses the first one for who chose none yet."""
        chosen = self.job.wanted.get(name)
        field = OptionField(name, self.options, empty=empty, chosen=chosen)
        if first and not chosen and field.offered:
            self.initial[name] = next(iter(field.offered))
        self.fields[name] = field

    @property
    def option_cards(self) -> dict[str, tuple[OptionCard, ...]]:
        """The cards of every field of the options, with the one that is chosen in this form."""
        return {
            name: tuple(
                OptionCard(one, one.value == str(self[name].value() or ""))
                for one in field.offered.values()
            )
            for name, field in self.fields.items()
            if isinstance(field, OptionField)
        }

    def with_service_errors(self) -> Self:
        """Show at its field what the service said of it when the price was asked last."""
        said = (self.job.quote_fields or {}) if self.job.quote_error else {}
        for name in self.fields.keys() & said.keys():
            self.errors[name] = self.error_class([SERVICE_ERROR.format(said[name])])
        return self

    def changes(self) -> dict[str, Any]:
        """What the draft does not hold yet. Needs a valid form."""
        chosen = {name: self.cleaned_data.get(name) for name in self.saved_fields}
        return {
            name: value
            for name, value in chosen.items()
            if value not in (None, "") and value != self.job.wanted.get(name)
        }

    def base_edited_at(self) -> str:
        """Which edit of the draft this builds on: the last one, unless its own step changed."""
        now = self.initial_from_draft()
        untouched = self.cleaned_data["seen"] in ("", now["seen"])
        return str(now["edited_at"]) if untouched else str(self.cleaned_data["edited_at"])

    def with_current_version(self, job: Job) -> Self:
        """The same answers on top of the draft as it is now: a second save means it."""
        fresh = type(self)(job, self.options).initial_from_draft()
        data = {name: self.data.get(name, "") for name in self.fields}
        return type(self)(
            job, self.options, {**data, "edited_at": fresh["edited_at"], "seen": fresh["seen"]}
        )


class TypeForm(StepForm):
    saved_fields = ("title", "type", "aspect_ratio")
    title = TitleField()
    type = forms.ChoiceField(
        choices=list(VIDEO_TYPE_LABELS.items()),
        error_messages={"required": "Choose a type.", "invalid_choice": "Choose a type."},
    )

    def __init__(self, job: Job, options: FacelessOptions, data: Any = None) -> None:
        super().__init__(job, options, data)
        self.add_option_field("aspect_ratio", first=True)


class ScriptForm(StepForm):
    saved_fields = ("script",)
    script = ScriptField(required=True, rows=14)


class VoiceForm(StepForm):
    saved_fields = ("voice_id",)

    def __init__(self, job: Job, options: FacelessOptions, data: Any = None) -> None:
        super().__init__(job, options, data)
        self.add_option_field("voice_id")


class VisualsForm(StepForm):
    saved_fields = ("genre_id", "image_engine_id")

    def __init__(self, job: Job, options: FacelessOptions, data: Any = None) -> None:
        super().__init__(job, options, data)
        self.add_option_field("genre_id")
        self.add_option_field("image_engine_id", first=True)


class CaptionsForm(StepForm):
    saved_fields = CAPTION_FIELDS

    def __init__(self, job: Job, options: FacelessOptions, data: Any = None) -> None:
        super().__init__(job, options, data)
        for name in CAPTION_FIELDS:
            if options.choices(name):
                self.add_option_field(name, empty="Standard")


STEP_FORMS: Mapping[StepSlug, type[StepForm]] = {
    StepSlug.TYPE: TypeForm,
    StepSlug.SCRIPT: ScriptForm,
    StepSlug.VOICE: VoiceForm,
    StepSlug.VISUALS: VisualsForm,
    StepSlug.CAPTIONS: CaptionsForm,
}


def step_digest(held: dict[str, Any]) -> str:
    """16 hexadecimal digits of what a step held when its form was drawn."""
    text = json.dumps(held, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
