"""Forms for the settings of a team."""

from __future__ import annotations

from functools import cache
from zoneinfo import available_timezones

from django import forms

from dashboard.shared.forms import PortalForm

TIME_ZONE_HELP = (
    "Defines the days of budgets, totals and the forecast. The service counts in UTC days."
)


@cache
def time_zone_choices() -> list[tuple[str, str]]:
    """Return places by their IANA names, UTC first, without legacy names and fixed offsets.

    Cached: `available_timezones` opens some 600 files.
    """
    places = sorted(name for name in available_timezones() if "/" in name and name[:3] != "Etc")
    return [("UTC", "UTC"), *((name, name.replace("_", " ")) for name in places)]


class TimeZoneForm(PortalForm):
    time_zone = forms.ChoiceField(
        label="Time zone", help_text=TIME_ZONE_HELP, choices=time_zone_choices
    )
