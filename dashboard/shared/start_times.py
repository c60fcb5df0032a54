"""When something that was confirmed starts: now, at a local time, or when the credits are free.

Times are entered as wall-clock times of the team's time zone. Where the clocks change, a time may
not exist, or exist twice.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from django import forms
from django.utils import timezone

from dashboard.shared.forms import PortalForm

START_TIMES_TEMPLATE = "components/start_times.html"
NOW, AT, CREDITS = "now", "at", "credits"
MAX_AHEAD = timedelta(days=366)
CREDITS_WAIT = timedelta(days=14)
CREDITS_NOT_FREE = (
    "The credits and budgets that it may need were not free within 14 days. Nothing was sent."
)
TIME_MISSING = "Enter a date and a time, such as 2026-12-03 09:00."
TIME_PAST = "This time is in the past. Enter a later one."
TIME_TOO_FAR = "Enter a time within a year."
TIME_SKIPPED = (
    "{time} does not exist on that day in {zone}: the clocks go forward. Enter {after} or later."
)


class StartTime(NamedTuple):
    """`starts_at`: not before. With `gives_up_at` it waits from then on until the credits are free,
    at most until that time."""

    starts_at: datetime
    gives_up_at: datetime | None = None


def resolve_wall_time(local: datetime, zone: tzinfo) -> datetime:
    """Return the instant of a naive wall-clock time in UTC. Of a time that exists twice the first;
    one that is skipped counts as the time that the clocks go forward to."""
    instant = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if wall_time(instant, zone) == local:
        return instant
    # Both readings of a skipped time lie an equal way beside the jump: find it between them.
    low, high = sorted((instant, local.replace(tzinfo=zone, fold=1).astimezone(UTC)))
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        low, high = (middle, high) if wall_time(middle, zone) < local else (low, middle)
    return high.replace(second=0, microsecond=0)


def wall_time(instant: datetime, zone: tzinfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)


class WallTimeField(forms.CharField):
    """A date and time in the current time zone; its cleaned value is the instant, or None. One that
    exists twice is the first of the two."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"})
        super().__init__(**{"required": False, "widget": widget, **options})

    def clean(self, value: Any) -> datetime | None:
        text, zone = str(super().clean(value)), timezone.get_current_timezone()
        if not text:
            return None
        try:
            local = datetime.fromisoformat(text).replace(second=0, microsecond=0, tzinfo=None)
            instant = resolve_wall_time(local, zone)
        except (ValueError, OverflowError) as error:
            raise forms.ValidationError(TIME_MISSING) from error
        if (after := wall_time(instant, zone)) != local:
            words = {"time": f"{local:%H:%M}", "after": f"{after:%H:%M}", "zone": zone}
            raise forms.ValidationError(TIME_SKIPPED.format(**words))
        if instant <= (now := timezone.now()):
            raise forms.ValidationError(TIME_PAST)
        if instant > now + MAX_AHEAD:
            raise forms.ValidationError(TIME_TOO_FAR)
        return instant


class StartTimeForm(PortalForm):
    """The fields of `components/start_times.html`."""

    when = forms.ChoiceField(
        required=False, choices=[(NOW, "Now"), (AT, "At"), (CREDITS, "When credits allow")]
    )
    at = WallTimeField(label="Date and time")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("when") != AT:
            self.errors.pop("at", None)  # a time that was typed before another choice
        elif cleaned.get("at") is None and "at" not in self.errors:
            self.add_error("at", TIME_MISSING)
        return cleaned

    def start_time(self) -> StartTime | None:
        """Return when it starts; None for now. The form is valid."""
        when, now = self.cleaned_data["when"], timezone.now()
        if when == CREDITS:
            return StartTime(now, now + CREDITS_WAIT)
        return StartTime(self.cleaned_data["at"]) if when == AT else None
