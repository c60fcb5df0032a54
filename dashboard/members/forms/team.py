"""Forms for the settings of a team."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms

from dashboard.members.actions.team import UNKNOWN_TIME_ZONE
from dashboard.shared.forms import PortalForm

TIME_ZONE_HELP = (
    "Type a city, such as Berlin. Defines the days of budgets, totals and the forecast. The "
    "service counts in UTC days."
)


@cache
def time_zone_names() -> dict[str, str]:
    """Return the IANA names of places by how people read them ("America/New York"), UTC first,
    without legacy names and fixed offsets.

    Cached: `available_timezones` opens some 600 files.
    """
    places = sorted(name for name in available_timezones() if "/" in name and name[:3] != "Etc")
    return {name.replace("_", " "): name for name in ("UTC", *places)}


@cache
def time_zones_by_input() -> dict[str, str]:
    """Return the IANA names by what is typed, in lower case: a whole name, or a city that only one
    place has."""
    cities = Counter(shown.rpartition("/")[2].lower() for shown in time_zone_names())
    by_input: dict[str, str] = {}
    for shown, name in time_zone_names().items():
        city = shown.rpartition("/")[2].lower()
        by_input |= {shown.lower(): name} | ({city: name} if cities[city] == 1 else {})
    return by_input


class TimeZoneInput(forms.TextInput):
    """A text input with the names as suggestions."""

    template_name = "django/forms/widgets/time_zone.html"

    def __init__(self) -> None:
        super().__init__({"list": "time-zones", "autocomplete": "off", "spellcheck": "false"})

    def format_value(self, value: Any) -> str | None:
        return str(value or "").replace("_", " ")

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        options = [{"value": shown, "selected": False, "label": ""} for shown in time_zone_names()]
        context["widget"]["optgroups"] = [(None, options, 0)]
        return context


class TimeZoneField(forms.CharField):
    """A time zone that is typed; its cleaned value is the IANA name."""

    def __init__(self, help_text: str = "Type a city, such as Berlin.") -> None:
        super().__init__(label="Time zone", help_text=help_text, widget=TimeZoneInput)

    def clean(self, value: Any) -> str:
        typed = " ".join(str(super().clean(value)).replace("_", " ").split())
        if name := time_zones_by_input().get(typed.lower()):
            return name
        raise forms.ValidationError(UNKNOWN_TIME_ZONE)


class TimeZoneForm(PortalForm):
    time_zone = TimeZoneField(TIME_ZONE_HELP)
