"""How the service answered in the last 24 hours, by quarter of an hour, from the recorded calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from statistics import median

from django.utils import timezone

from dashboard.shared.charts import AxisTick
from dashboard.shared.formatting import duration
from proxyapi.models import ServiceQuarter, Tenant
from proxyapi.service_quarters import NO_ANSWER_CODE, QUARTER, quarter_start

QUARTERS_SHOWN = 96
MIN_TOP_MS = 1_000  # of the scale
SLOW_FACTOR, MIN_SLOW_MS = 2, 500  # slow: twice the day's median, and half a second
MAX_AWAY_SHARE = 0.5  # of unanswered calls in a quarter; above it the service was away
MAX_CODES_SHOWN = 6
MIN_BAR_PERCENT = 2.0
STATE_WORDS = {"away": ("failed", "No answer"), "slow": ("late", "Slow")}


@dataclass(frozen=True, slots=True)
class QuarterBar:
    """Lengths in percent; `tone`: up | slow | away. `text` is the quarter in words."""

    tone: str
    x: float
    width: float
    y: float
    height: float
    text: str


@dataclass(frozen=True, slots=True)
class ServiceIncident:
    state: str
    text: str
    detail: str


@dataclass(frozen=True, slots=True)
class CodeCount:
    code: str
    count: int


@dataclass(frozen=True, slots=True)
class ServiceDay:
    """`bars` is empty without calls in the last 24 hours."""

    bars: tuple[QuarterBar, ...]
    incidents: tuple[ServiceIncident, ...]
    codes: tuple[CodeCount, ...]
    sentence: str
    label: str
    top: str
    middle: str
    ticks: tuple[AxisTick, ...]


def load_service_day(tenant: Tenant, now: datetime) -> ServiceDay:
    """One query."""
    first = quarter_start(now) - (QUARTERS_SHOWN - 1) * QUARTER
    rows = list(
        ServiceQuarter.objects.filter(tenant=tenant, starts_at__gte=first).order_by("starts_at")
    )
    medians = [row.median_ms for row in rows if row.median_ms is not None]
    usual = median(medians) if medians else 0
    top_ms = max(MIN_TOP_MS, *(ms for ms in medians), 0)
    incidents = tuple(iter_incidents(rows, usual))
    codes = Counter[str]()
    for row in rows:
        codes.update(row.codes)
    return ServiceDay(
        bars=tuple(build_bar(row, first, top_ms, usual) for row in rows),
        incidents=incidents,
        codes=tuple(CodeCount(*pair) for pair in codes.most_common(MAX_CODES_SHOWN)),
        sentence=day_sentence(rows, medians),
        label=day_label(incidents),
        top=f"{top_ms / 1000:g} s",
        middle=f"{top_ms / 2000:g} s",
        ticks=tuple(iter_ticks(first)),
    )


def quarter_state(row: ServiceQuarter, usual_ms: float) -> str:
    """Return "away", "slow" or "up"."""
    total = row.answered + row.unanswered
    if row.unanswered and row.unanswered >= MAX_AWAY_SHARE * total:
        return "away"
    is_slow = row.median_ms is not None and row.median_ms >= max(
        MIN_SLOW_MS, SLOW_FACTOR * usual_ms
    )
    return "slow" if is_slow else "up"


def build_bar(row: ServiceQuarter, first: datetime, top_ms: float, usual_ms: float) -> QuarterBar:
    place, tone = 100 / QUARTERS_SHOWN, quarter_state(row, usual_ms)
    height = 100.0 if tone == "away" else 100 * (row.median_ms or 0) / top_ms
    height = min(100.0, max(MIN_BAR_PERCENT, height))
    return QuarterBar(
        tone=tone,
        x=((row.starts_at - first) / QUARTER + 0.115) * place,
        width=0.77 * place,
        y=100 - height,
        height=height,
        text=quarter_text(row),
    )


def quarter_text(row: ServiceQuarter) -> str:
    at = timezone.localtime(row.starts_at)
    speed = "" if row.median_ms is None else f", half of them within {row.median_ms / 1000:.2f} s"
    missing = f", {row.unanswered} without an answer" if row.unanswered else ""
    return f"{at:%H:%M}: {row.answered} requests answered{speed}{missing}"


def iter_incidents(rows: Sequence[ServiceQuarter], usual_ms: float) -> Iterator[ServiceIncident]:
    """Neighbouring quarters in the same state, without those in which the service just answered."""
    for state, same in groupby(rows, key=lambda row: quarter_state(row, usual_ms)):
        quarters = list(same)
        if state not in STATE_WORDS:
            continue
        glyph, words = STATE_WORDS[state]
        first, end = quarters[0].starts_at, quarters[-1].starts_at + QUARTER
        text = f"{words}, {clock_minutes(first)} to {clock_minutes(end)}"
        missing = sum(row.unanswered for row in quarters)
        worst = max((row.median_ms or 0 for row in quarters), default=0)
        detail = (
            f"{duration(end - first)}, {missing} requests without an answer"
            if state == "away"
            else f"{worst / 1000:.1f} s in the median"
        )
        yield ServiceIncident(glyph, text, detail)


def clock_minutes(at: datetime) -> str:
    return f"{timezone.localtime(at):%H:%M}"


def day_sentence(rows: Sequence[ServiceQuarter], medians: Sequence[int]) -> str:
    answered = sum(row.answered for row in rows)
    total = answered + sum(row.unanswered for row in rows)
    if not total:
        return "No request was sent in the last 24 hours."
    share = f"{100 * answered / total:.1f}".removesuffix(".0")
    speed = f", half of the quarters within {median(medians) / 1000:.2f} s" if medians else ""
    return (
        f"{share} % of {total:,} requests were answered{speed}. Bars are medians of a quarter of "
        "an hour."
    )


def day_label(incidents: Sequence[ServiceIncident]) -> str:
    """The chart for a screen reader."""
    what = ". ".join(incident.text for incident in incidents) or "No outage"
    return f"Median answer time of the service in the last 24 hours. {what}."


def iter_ticks(first: datetime) -> Iterator[AxisTick]:
    yield AxisTick(0.0, f"{timezone.localtime(first):%a %H:%M}", "start")
    for share in (0.25, 0.5, 0.75):
        at = timezone.localtime(first + timedelta(hours=24 * share))
        yield AxisTick(100 * share, f"{at:%H:%M}", is_minor=share != 0.5)
    yield AxisTick(100.0, "now", "end", is_strong=True)


def code_label(code: str) -> str:
    return "no answer" if code == NO_ANSWER_CODE else code
