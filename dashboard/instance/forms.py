"""Forms of the instance page: a new team, and the reason of a suspension."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from dashboard.instance.actions import REASON_MISSING
from dashboard.instance.teams import MAX_TEAM_NAME_CHARS
from dashboard.members.forms.team import TimeZoneField
from dashboard.shared.forms import AddressField, ReasonField
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.text_validation import reject_invisible


class NewTeamForm(RecentAuthenticationForm):
    team = forms.CharField(label="Team", max_length=MAX_TEAM_NAME_CHARS)
    time_zone = TimeZoneField()
    address = AddressField(
        label="E-mail of the first owner",
        help_text="They get a link that works once, for 7 days.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    field_order = ("team", "time_zone", "address", "password")

    def __init__(self, request: TeamRequest, data: Any = None) -> None:
        super().__init__(request, data, initial={"time_zone": settings.TIME_ZONE})
        reject_invisible(self.fields["team"])


class SuspensionForm(RecentAuthenticationForm):
    reason = ReasonField(
        required=REASON_MISSING,
        help_text="Every member of the team reads it, with your name. It is in their audit log.",
    )
    field_order = ("reason", "password")
