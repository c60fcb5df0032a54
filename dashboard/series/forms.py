"""Forms of series."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.members.forms.team import TimeZoneField
from dashboard.models import Series
from dashboard.models.series import MAX_SERIES_COUNT, MAX_SERIES_NAME_CHARS, WEEKDAYS
from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.typed_numbers import CreditLimitField, limit_input_value

TIME_MISSING = "Enter a time, such as 09:00."
DAY_MISSING = "Choose at least one day."
PRESET_MISSING = "Choose a preset. Without one, save a draft as a preset first."
SETTINGS = ("name", "topics", "weekdays", "at", "time_zone", "count")
MAX_TOPICS_CHARS = 60_000


class SeriesForm(PortalForm):
    """The settings of a series."""

    name = forms.CharField(
        max_length=MAX_SERIES_NAME_CHARS, widget=forms.TextInput({"dir": "auto"})
    )
    topics = forms.CharField(
        required=False,
        max_length=MAX_TOPICS_CHARS,
        help_text="One a line. The first ones are made first, and leave the list then.",
        widget=forms.Textarea({"rows": 8, "dir": "auto"}),
    )
    weekdays = forms.TypedMultipleChoiceField(
        label="Every",
        coerce=int,
        choices=list(enumerate(WEEKDAYS)),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": DAY_MISSING},
    )
    at = forms.TimeField(
        label="At",
        help_text="The clock’s time, also after the clocks change.",
        widget=forms.TimeInput({"type": "time"}, format="%H:%M"),
        error_messages={"required": TIME_MISSING, "invalid": TIME_MISSING},
    )
    time_zone = TimeZoneField()
    count = forms.IntegerField(label="Videos each time", min_value=1, max_value=MAX_SERIES_COUNT)
    monthly_credits = CreditLimitField(
        label="Limit a month", help_text="A batch counts in the month in which it starts."
    )

    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)

    def __init__(self, series: Series, data: Any = None, topics: str = "") -> None:
        initial = {name: getattr(series, name) for name in SETTINGS}
        initial |= {"preset": series.preset_id} | ({"topics": topics} if topics else {})
        initial["monthly_credits"] = limit_input_value(series.monthly_credits)
        initial["drawn"] = "" if series._state.adding else series.version
        super().__init__(data, initial=initial, use_required_attribute=False)
        self.fields["preset"] = forms.ModelChoiceField(
            series.team.presets.all(),
            empty_label="Choose one",
            error_messages={"required": PRESET_MISSING, "invalid_choice": PRESET_MISSING},
        )
        self.fields["monthly_credits"].required = True
        self.order_fields(["name", "preset", *self.base_fields])
        reject_invisible(self.fields["name"])

    def with_current_version(self, series: Series) -> SeriesForm:
        """The submitted values on top of the series as it is now, so that saving again applies."""
        sent: Any = self.data
        data = sent.copy()
        data["drawn"] = series.version
        return SeriesForm(series, data)


class SeriesStartForm(ConfirmForm):
    """With the version of the series that was shown."""

    hidden_field_names = {**ConfirmForm.hidden_field_names, "version": "the version of the series"}
    version = forms.CharField(max_length=16)

    def charge_arguments(self) -> dict[str, Any]:
        return {**super().charge_arguments(), "version": self.cleaned_data["version"]}
