"""Forms of a storyboard's settings: what was picked in the film bar or in the dialog."""

from __future__ import annotations

from django import forms

from dashboard.shared.forms import PortalForm
from dashboard.storyboards.readiness.setting_change import SETTING_COLUMNS

DURATION_PREFIX = "duration-"
MAX_SECONDS = 32_767


class SettingsForm(PortalForm):
    """Only the settings that were sent are picked; `version` comes from the dialog."""

    hidden_field_names = {"version": "the version of the settings"}
    engine = forms.CharField(required=False, max_length=100)
    aspect_ratio = forms.CharField(required=False, max_length=20)
    resolution = forms.CharField(required=False, max_length=20)
    audio = forms.CharField(required=False, max_length=20)
    version = forms.CharField(required=False, max_length=40)

    @property
    def wanted(self) -> dict[str, str]:
        values = self.cleaned_data
        return {name: values[name] for name in SETTING_COLUMNS if values.get(name)}

    @property
    def durations(self) -> dict[str, int]:
        """Return the seconds that were chosen, by the scene's id. What is no number is left out:
        the nearest is then taken."""
        prefix = len(DURATION_PREFIX)
        return {
            name[prefix:]: int(value)
            for name, value in self.data.items()
            if name.startswith(DURATION_PREFIX)
            and isinstance(value, str)
            and value.isascii()
            and value.isdecimal()
            and int(value) <= MAX_SECONDS
        }

    @property
    def version_or_none(self) -> str | None:
        return self.cleaned_data["version"] or None

    @property
    def sets_durations(self) -> bool:
        return "fix" in self.data
