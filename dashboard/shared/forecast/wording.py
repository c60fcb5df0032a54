"""The forecast in words: a range of days, never one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from dashboard.shared.forecast.outlook import AccountForecast
from dashboard.shared.formatting import credits
from proxyapi.forecast import RunOutForecast
from proxyapi.forecast.run_out import SIMULATION_RUNS
from proxyapi.forecast.spending_pattern import MIN_PATTERN_DAYS
from proxyapi.models import Account, AccountPlan


@dataclass(frozen=True, slots=True)
class RunOutRange:
    """`figure` is the large one of the page; `lines` say what it means.

    Only a `dated` one is a day or days.
    """

    figure: str
    lines: tuple[str, ...]
    dated: bool = True

    @property
    def title(self) -> str:
        return "The credits run out" if self.dated else "When the credits run out"

    @property
    def headline(self) -> str:
        """Both in one line; a figure without a day is left to the lines."""
        return f"{self.title}: {lowercase_first_letter(self.figure)}" if self.dated else self.title


def build_run_out_range(outlook: AccountForecast) -> RunOutRange:
    forecast = outlook.forecast
    if forecast is None:
        return RunOutRange("Not enough days", (too_few_days_text(outlook),), dated=False)
    if not forecast.daily_spend:
        none = "No credits went in the days that are known."
        return RunOutRange("Nothing is spent", (none,), dated=False)
    lines = [
        run_out_chance_text(forecast),
        *plan_renewal_lines(outlook, forecast),
        *top_up_effect_lines(outlook, forecast),
    ]
    return RunOutRange(run_out_span_text(forecast), tuple(lines))


def too_few_days_text(outlook: AccountForecast) -> str:
    known = outlook.pattern.known_days
    if outlook.history.first_full_day is None:
        return f"The ledger has no entry yet. A forecast needs {MIN_PATTERN_DAYS} whole days of it."
    ready = outlook.today + timedelta(days=MIN_PATTERN_DAYS - known)
    days = {0: "no whole day", 1: "1 whole day"}.get(known, f"{known} whole days")
    return (
        f"The ledger has {days} so far. With {MIN_PATTERN_DAYS} there is a forecast: "
        f"{short_date(ready)}."
    )


def run_out_span_text(forecast: RunOutForecast) -> str:
    """`3 to 12 Dec`, `28 Nov to 3 Dec`, `from 3 Dec`, `not before 19 Jan`."""
    early, late = forecast.early, forecast.late
    if early is None:
        return f"Not before {short_date(forecast.until)}"
    if late is None:
        return f"From {short_date(early)} on"
    if early == late:
        return short_date(early)
    if (early.year, early.month) == (late.year, late.month):
        return f"{early.day} to {short_date(late)}"
    return f"{short_date(early)} to {short_date(late)}"


def run_out_chance_text(forecast: RunOutForecast) -> str:
    if forecast.early is None:
        how_many = (
            "Every"
            if forecast.percent_lasting == 100
            else f"{forecast.percent_lasting} in 100 of the"
        )
        verb = "future lasts" if forecast.percent_lasting == 100 else "futures last"
        return f"{how_many} simulated {verb} longer than that; we simulate no further."
    if forecast.late is None:
        lasting = (
            f"{forecast.percent_lasting} of 100 simulated futures last beyond "
            f"{short_date(forecast.until)}"
        )
        return f"One in ten ends before {short_date(forecast.early)}, and {lasting}."
    return (
        f"In 80 % of {SIMULATION_RUNS} simulated futures the credits run out in this range; "
        f"in half of them before {short_date(forecast.median or forecast.late)}."
    )


def plan_renewal_lines(outlook: AccountForecast, forecast: RunOutForecast) -> list[str]:
    """Whether it is enough until the plan brings new credits."""
    renews_on = outlook.renews_on
    if renews_on is None or renews_on > forecast.until or renews_on <= outlook.today:
        return []
    lasting = forecast.percent_lasting_until(renews_on)
    return [
        (
            f"The plan renews on {short_date(renews_on)}; the credits last until then in {lasting} "
            "of 100."
        )
    ]


def top_up_effect_lines(outlook: AccountForecast, forecast: RunOutForecast) -> list[str]:
    """What top-up does to it."""
    alone = outlook.without_top_up
    if alone is None or alone is forecast:
        return []
    times = "1 top-up" if forecast.top_ups == 1 else f"{forecast.top_ups} top-ups"
    bought = f"About {times} until {short_date(forecast.until)} are counted in."
    return [bought, f"If none succeeds: {lowercase_first_letter(run_out_span_text(alone))}."]


def lowercase_first_letter(text: str) -> str:
    return text if text[:1].isdigit() else text[:1].lower() + text[1:]


def forecast_note(account: Account, outlook: AccountForecast) -> str:
    if account.plan != AccountPlan.PAID:
        return "The plan is not paid, so nothing is spent through the API until it is."
    if outlook.forecast is None or not outlook.forecast.daily_spend:
        return "When the credits run out, told from how they were spent."
    day = credits(outlook.forecast.daily_spend)
    return f"About {day} credits go a day, told from the last {outlook.pattern.known_days} days."


def short_date(day: date) -> str:
    return f"{day.day} {day:%b}"
