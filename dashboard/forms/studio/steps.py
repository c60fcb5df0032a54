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

from dashboard.forms.plain import VERSION, PlainForm
from dashboard.forms.studio.fields import Offered, OptionField, Script, Title
from dashboard.queries.studio.options import TYPES, Options
from dashboard.queries.studio.steps import CAPTIONS, Slug
from proxyapi.models import Job

SERVICE_SAYS = "The service does not accept it: “{}”"


class StepForm(PlainForm):
    """A step of one draft. `kept` are its fields, in the service's names."""

    kept: ClassVar[tuple[str, ...]] = ()
    edited_at = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION)
    seen = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION)

    def __init__(self, job: Job, options: Options, data: Any = None) -> None:
        self.job, self.options = job, options
        super().__init__(data, initial=self.drawn_from(), use_required_attribute=False)

    def drawn_from(self) -> dict[str, Any]:
        """What the draft holds of this step, and the marks that recognise it."""
        held = {name: self.job.wanted.get(name) for name in self.kept}
        return {**held, "edited_at": self.job.edited_at.isoformat(), "seen": digest(held)}

    def offer(self, name: str, *, empty: str = "", first: bool = False) -> None:
        """Add a field of the options; `first` chooses the first one for who chose none yet."""
        chosen = self.job.wanted.get(name)
        field = OptionField(name, self.options, empty=empty, chosen=chosen)
        if first and not chosen and field.offered:
            self.initial[name] = next(iter(field.offered))
        self.fields[name] = field

    @property
    def offered(self) -> dict[str, tuple[Offered, ...]]:
        """The cards of every field of the options, with the one that is chosen in this form."""
        return {
            name: tuple(
                Offered(one, one.value == str(self[name].value() or ""))
                for one in field.offered.values()
            )
            for name, field in self.fields.items()
            if isinstance(field, OptionField)
        }

    def with_service_errors(self) -> Self:
        """Show at its field what the service said of it when the price was asked last."""
        said = (self.job.quote_fields or {}) if self.job.quote_error else {}
        for name in self.fields.keys() & said.keys():
            self.errors[name] = self.error_class([SERVICE_SAYS.format(said[name])])
        return self

    def changes(self) -> dict[str, Any]:
        """What the draft does not hold yet. Needs a valid form."""
        chosen = {name: self.cleaned_data.get(name) for name in self.kept}
        return {
            name: value
            for name, value in chosen.items()
            if value not in (None, "") and value != self.job.wanted.get(name)
        }

    def drawn_at(self) -> str:
        """Which edit of the draft this builds on: the last one, unless its own step changed."""
        now = self.drawn_from()
        untouched = self.cleaned_data["seen"] in ("", now["seen"])
        return str(now["edited_at"]) if untouched else str(self.cleaned_data["edited_at"])

    def redrawn(self, job: Job) -> Self:
        """The same answers on top of the draft as it is now: a second save means it."""
        fresh = type(self)(job, self.options).drawn_from()
        data = {name: self.data.get(name, "") for name in self.fields}
        return type(self)(
            job, self.options, {**data, "edited_at": fresh["edited_at"], "seen": fresh["seen"]}
        )


class TypeForm(StepForm):
    kept = ("title", "type", "aspect_ratio")
    title = Title()
    type = forms.ChoiceField(
        choices=list(TYPES.items()),
        error_messages={"required": "Choose a type.", "invalid_choice": "Choose a type."},
    )

    def __init__(self, job: Job, options: Options, data: Any = None) -> None:
        super().__init__(job, options, data)
        self.offer("aspect_ratio", first=True)


class ScriptForm(StepForm):
    kept = ("script",)
    script = Script(required=True, rows=14)


class VoiceForm(StepForm):
    kept = ("voice_id",)

    def __init__(self, job: Job, options: Options, data: Any = None) -> None:
        super().__init__(job, options, data)
        self.offer("voice_id")


class LookForm(StepForm):
    kept = ("genre_id", "image_engine_id")

    def __init__(self, job: Job, options: Options, data: Any = None) -> None:
        super().__init__(job, options, data)
        self.offer("genre_id")
        self.offer("image_engine_id", first=True)


class CaptionsForm(StepForm):
    kept = CAPTIONS

    def __init__(self, job: Job, options: Options, data: Any = None) -> None:
        super().__init__(job, options, data)
        for name in CAPTIONS:
            if options.choices(name):
                self.offer(name, empty="Standard")


FORMS: Mapping[Slug, type[StepForm]] = {
    Slug.TYPE: TypeForm,
    Slug.SCRIPT: ScriptForm,
    Slug.VOICE: VoiceForm,
    Slug.LOOK: LookForm,
    Slug.CAPTIONS: CaptionsForm,
}


def digest(held: dict[str, Any]) -> str:
    """16 hexadecimal digits of what a step held when its form was drawn."""
    text = json.dumps(held, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
