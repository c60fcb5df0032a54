"""The days a page looks back on, in the team's time zone: 30 of them, or the month so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.urls import reverse

ONE_DAY = timedelta(days=1)
WINDOW_LABELS = {"": "30 days", "month": "This month"}


@dataclass(frozen=True, slots=True)
class WindowChoice:
    label: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class ReportWindow:
    """From `first` to `today`, both included."""

    name: str
    first: date
    today: date

    @property
    def days(self) -> tuple[date, ...]:
        return tuple(
            self.first + ONE_DAY * number for number in range((self.today - self.first).days + 1)
        )

    @property
    def period_text(self) -> str:
        """`this month`, `in the last 30 days`."""
        return "this month" if self.name == "month" else "in the last 30 days"

    @property
    def choices(self) -> tuple[WindowChoice, ...]:
        return tuple(
            WindowChoice(label, url_with_span("overview", name), name == self.name)
            for name, label in WINDOW_LABELS.items()
        )

    @property
    def export_url(self) -> str:
        """The ledger of these days as a file."""
        month = f"?period={self.first:%Y-%m}" if self.name == "month" else ""
        return f"{reverse('ledger-export')}{month}"

    @property
    def part_url(self) -> str:
        """Where a part of the page fetches itself; its name comes behind."""
        span = f"span={self.name}&" if self.name else ""
        return f"{reverse('overview')}?{span}part="


def url_with_span(page: str, span: str) -> str:
    return f"{reverse(page)}?span={span}" if span else reverse(page)


def window_for_span(name: str, zone: ZoneInfo, now: datetime) -> ReportWindow:
    """The one that was asked for; an unknown name is the usual one."""
    today = now.astimezone(zone).date()
    if name == "month":
        return ReportWindow(name, today.replace(day=1), today)
    return ReportWindow("", today - 29 * ONE_DAY, today)


def week_start(day: date) -> date:
    """Its Monday."""
    return day - timedelta(days=day.weekday())


def first_of_previous_month(day: date) -> date:
    """The first of the month before."""
    return (day.replace(day=1) - ONE_DAY).replace(day=1)


def same_day_previous_month(day: date) -> date:
    """The same day of the month before; its last day where that month is shorter."""
    last = day.replace(day=1) - ONE_DAY
    return last.replace(day=min(day.day, last.day))


def weekday_date_text(day: date) -> str:
    """`Fri 20 Nov`"""
    return f"{day:%a} {day.day} {day:%b}"


def day_month_text(day: date) -> str:
    """`20 Nov`"""
    return f"{day.day} {day:%b}"
