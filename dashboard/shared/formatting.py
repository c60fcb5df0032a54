"""Amounts, durations and times as text, for templates and for sentences built in Python.

Credits are Decimal, durations are seconds, times are aware datetimes. No credits are rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.utils import timezone

from proxyapi.models.credit_price import CreditPrice

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# The currencies that can be chosen; each has two decimal places.
CURRENCIES = ("USD", "EUR", "GBP", "CHF")
CURRENCY_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def credits(value: Decimal | float | str | None) -> str:
    """Format credits: comma for thousands, a true minus sign, no trailing zeros."""
    if value is None or value == "":
        return ""
    text = f"{value if isinstance(value, Decimal) else Decimal(str(value)):,f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "\N{MINUS SIGN}") if text not in ("-0", "") else "0"


def credit_rate(value: Decimal) -> str:
    """Format credits per second, with at least two decimal places."""
    text = credits(value)
    decimals = len(text.partition(".")[2])
    return text if decimals >= 2 else f"{value:,.2f}"


def currency_sign(code: str) -> str:
    """Return what stands before an amount of money: "€", or the code itself."""
    return CURRENCY_SIGNS.get(code, f"{code}\N{NO-BREAK SPACE}")


def unit_price(price: CreditPrice) -> str:
    """Return the price of one credit, such as "€0.0125", with at least two decimal places."""
    return f"{currency_sign(price.currency)}{credit_rate(price.amount)}"


def money(value: Decimal | None, price: CreditPrice | None) -> str:
    """Return credits in money, rounded half-up, such as "≈ €12.40"; "" without a price."""
    if value is None or price is None:
        return ""
    amount = (value * price.amount).quantize(Decimal("0.01"), ROUND_HALF_UP)
    minus = "\N{MINUS SIGN}" if amount < 0 else ""
    return f"≈ {minus}{currency_sign(price.currency)}{abs(amount):,.2f}"


def seconds(value: timedelta | float | None) -> int:
    """Return whole seconds, at least 0."""
    if value is None:
        return 0
    span = value.total_seconds() if isinstance(value, timedelta) else float(value)
    return max(0, int(span))


def duration(value: timedelta | float | None) -> str:
    """Return a duration such as "40 s", "1 min 52 s", "5 min" or "2 h 05 min"; "" for None."""
    if value is None:
        return ""
    minutes, left_s = divmod(seconds(value), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min" if minutes else f"{hours} h"
    if minutes:
        return f"{minutes} min {left_s:02} s" if left_s else f"{minutes} min"
    return f"{left_s} s"


def milliseconds(value: float | None) -> str:
    """Return "4 ms", "1.85 s" or "48.2 s"; "" for None."""
    if value is None:
        return ""
    if value < 1000:
        return f"{value:.0f} ms"
    return f"{value / 1000:.2f} s" if value < 10_000 else f"{value / 1000:,.1f} s"


def age_text(age: timedelta) -> str:
    """Return an age in words: `now`, `12 min ago`, `1 h ago`, `3 days ago`."""
    if age < MINUTE:
        return "now"
    if age < HOUR:
        return f"{age // MINUTE} min ago"
    if age < DAY:
        return f"{age // HOUR} h ago"
    return "1 day ago" if age < 2 * DAY else f"{age // DAY:,} days ago"


def clock(value: datetime | None) -> str:
    """Return a time: "14:21" today, "18 Nov 14:21" this year, else "18 Nov 2024 14:21"."""
    if value is None:
        return ""
    moment, now = timezone.localtime(value), timezone.localtime()
    if moment.date() == now.date():
        return f"{moment:%H:%M}"
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{moment.day} {moment:%b}{year} {moment:%H:%M}"


def day(value: datetime | None) -> str:
    """Return a date: "today", "18 Nov" or "18 Nov 2024"."""
    if value is None:
        return ""
    moment, now = timezone.localtime(value), timezone.localtime()
    if moment.date() == now.date():
        return "today"
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{moment.day} {moment:%b}{year}"


def percent(value: float | Decimal | None) -> str:
    """Return a length for an SVG attribute, such as "46.7%", clamped to 0 and 100."""
    return f"{min(100.0, max(0.0, float(value or 0))):.2f}".rstrip("0").rstrip(".") + "%"


def share_of(since: timedelta | float | None, next_: timedelta | float | None) -> int:
    """Return how much of the time from the last check to the next has passed, 0 to 100."""
    interval_s = seconds(since) + seconds(next_)
    return round(100 * seconds(since) / interval_s) if interval_s else 0


def join_names(names: Sequence[str], *, word: str = "and", most: int = 0) -> str:
    """Return "Thea, Luca and Vera"; with `most`, of more names "Thea, Luca and 7 others"."""
    if most and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
