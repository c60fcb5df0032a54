"""The form of new versions: how many there are, and in what they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django import forms

from dashboard.models import VersionDifference
from dashboard.models.video_version import MAX_VERSIONS, MIN_VERSIONS
from dashboard.shared.forms import PortalForm
from dashboard.shared.video_options import (
    FacelessOptions,
    OptionChoice,
    VoiceOption,
    account_options,
)
from dashboard.studio.flows import flow_of
from proxyapi.models import Job

FURTHER_VERSIONS = range(MIN_VERSIONS, MAX_VERSIONS + 1)
NO_VERSION = "No version"
DIFFERENCE_LABELS = {
    VersionDifference.NONE: "Nothing, the same settings again",
    VersionDifference.GENRE: "Genre",
    VersionDifference.VOICE: "Voice",
    VersionDifference.FORMAT: "Format",
}


class VersionsForm(PortalForm):
    """The further versions each have a field for their value, named after setting and number."""

    hidden_field_names = {"nonce": "the form key"}
    nonce = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    difference = forms.ChoiceField(label="What differs", widget=forms.RadioSelect)
    count = forms.TypedChoiceField(
        label="Number of versions",
        coerce=int,
        choices=[(number, str(number)) for number in FURTHER_VERSIONS],
        required=False,
        empty_value=str(MIN_VERSIONS),
    )

    def __init__(self, job: Job, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"difference": VersionDifference.NONE, "count": MIN_VERSIONS})
        super().__init__(*args, **kwargs)
        self.choices = offered_differences(job)
        offered = [VersionDifference.NONE, *self.choices]
        difference = self.fields["difference"]
        assert isinstance(difference, forms.ChoiceField)  # noqa: S101 - declared above
        difference.choices = [(name.value, DIFFERENCE_LABELS[name]) for name in offered]
        for name, choices in self.choices.items():
            values = [(choice.value, choice.name) for choice in choices]
            for number in FURTHER_VERSIONS:
                first = "Choose" if number == MIN_VERSIONS else NO_VERSION
                self.fields[f"{name.value}_{number}"] = forms.ChoiceField(
                    label=f"Version {number}", choices=[("", first), *values], required=False
                )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        difference = cleaned.get("difference", VersionDifference.NONE)
        if difference != VersionDifference.NONE and not self.errors:
            values = self.chosen_values()
            noun = VersionDifference(difference).label.lower()
            if not values:
                self.add_error(f"{difference}_{MIN_VERSIONS}", f"Choose a {noun}.")
            elif len(set(values)) < len(values):
                self.add_error(None, f"Choose a different {noun} for each version.")
        return cleaned

    def chosen_values(self) -> list[str]:
        difference = self.cleaned_data["difference"]
        values = (self.cleaned_data.get(f"{difference}_{number}") for number in FURTHER_VERSIONS)
        return [value for value in values if value]

    @property
    def chosen_difference(self) -> VersionDifference:
        return VersionDifference(self.cleaned_data["difference"])

    def upstream_values(self) -> list[int | str]:
        """Return the values of versions 2 and further, as the service sent them."""
        if self.chosen_difference == VersionDifference.NONE:
            return [""] * (int(self.cleaned_data["count"]) - 1)
        by_value = {
            choice.value: choice.upstream_value for choice in self.choices[self.chosen_difference]
        }
        return [by_value[value] for value in self.chosen_values()]

    def value_groups(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        """Return the field, the label and the choices of each setting that can differ."""
        return [
            (
                name.value,
                f"{name.label} of each version",
                [self[f"{name.value}_{number}"] for number in FURTHER_VERSIONS],
            )
            for name in self.choices
        ]


def offered_differences(
    job: Job,
) -> dict[VersionDifference, Sequence[OptionChoice | VoiceOption]]:
    """Return the other values of the settings in which versions of this video can differ."""
    options, settings = account_options(job.account), flow_of(job).settings
    offered: dict[VersionDifference, Sequence[OptionChoice | VoiceOption]] = {
        VersionDifference.GENRE: options.choices("genre_id"),
        VersionDifference.VOICE: options.voices(),
        VersionDifference.FORMAT: offered_formats(job, options),
    }
    others = {
        name: [choice for choice in choices if choice.value != chosen_value(job, name)]
        for name, choices in offered.items()
        if name.value in settings
    }
    return {name: choices for name, choices in others.items() if choices}


def offered_formats(job: Job, options: FacelessOptions) -> list[OptionChoice]:
    """Return the formats that the type of the video can make with its other settings."""
    flow, chosen = flow_of(job), job.chosen_settings
    choices = options.choices("aspect_ratio")
    return [one for one in choices if flow.makes_format(str(one.value), chosen, options)]


def chosen_value(job: Job, name: VersionDifference) -> str:
    return str(job.chosen_settings.get(name.value) or "")
