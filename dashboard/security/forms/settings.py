"""The forms of the cards: a switch, a domain to add or remove, the length of sessions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.models import MAX_SESSION_HOURS, MAX_SESSION_IDLE_MINUTES
from dashboard.shared.email_domains import parse_domain
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.session_limits import SessionLimits
from proxyapi.refusals import Refusal

SESSION_HOUR_CHOICES = (4, 8, 12, 24, 7 * 24, 14 * 24, MAX_SESSION_HOURS)
SESSION_IDLE_CHOICES = (15, 30, 60, 4 * 60, 8 * 60, 24 * 60, 3 * 24 * 60, MAX_SESSION_IDLE_MINUTES)
IDLE_HELP = "An open page that only watches renders does not count as activity."
SHORTEST_COUNTS = "Of a person with several teams, the shortest time counts."
LONGER_IDLE = "Choose at most as long as “Sign in again after”."


class TwoFactorSwitchForm(RecentAuthenticationForm):
    is_required = forms.BooleanField(required=False)


class AddDomainForm(RecentAuthenticationForm):
    domain = forms.CharField(
        label="Allowed e-mail domains",
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "Add a domain", "autocomplete": "off"}),
        error_messages={"required": "Enter a domain, such as northlight.example."},
    )

    def clean_domain(self) -> str:
        """Return the stored form."""
        try:
            return parse_domain(self.cleaned_data["domain"])
        except Refusal as refusal:
            raise ValidationError(refusal.sentence) from None


class RemoveDomainForm(RecentAuthenticationForm):
    removed = forms.CharField(max_length=300)


class SessionLimitsForm(RecentAuthenticationForm):
    hours = forms.TypedChoiceField(
        label="Sign in again after", coerce=int, help_text=SHORTEST_COUNTS
    )
    idle_minutes = forms.TypedChoiceField(
        label="Or after no activity for", coerce=int, help_text=IDLE_HELP
    )

    def __init__(self, request: TeamRequest, current: SessionLimits, data: Any = None) -> None:
        super().__init__(request, data, initial=current._asdict())
        hours = sorted({*SESSION_HOUR_CHOICES, current.hours})
        minutes = sorted({*SESSION_IDLE_CHOICES, current.idle_minutes})
        self.fields["hours"].choices = [(n, span_text(n * 60)) for n in hours]  # type: ignore[attr-defined]
        self.fields["idle_minutes"].choices = [(n, span_text(n)) for n in minutes]  # type: ignore[attr-defined]

    def clean_idle_minutes(self) -> int:
        minutes: int = self.cleaned_data["idle_minutes"]
        if minutes > 60 * self.cleaned_data.get("hours", MAX_SESSION_HOURS):
            raise ValidationError(LONGER_IDLE)
        return minutes

    @property
    def limits(self) -> SessionLimits:
        """Return the limits of a valid form."""
        return SessionLimits(self.cleaned_data["hours"], self.cleaned_data["idle_minutes"])


def span_text(minutes: int) -> str:
    """Return a span in the largest unit that it is a whole number of: "30 minutes", "14 days"."""
    for unit, size in (("day", 24 * 60), ("hour", 60)):
        if minutes % size == 0 and (unit == "hour" or minutes > size):
            count = minutes // size
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{minutes} minutes"
