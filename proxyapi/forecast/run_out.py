"""When the credits run out: a range of dates from many simulated futures.

A run draws each day of the horizon from the pattern and applies the top-up rules; it runs out on
the first day on which a charge is refused for lack of credits. One in ten runs ends before `early`,
one in ten after `late`. The plan's next credits are not counted. Whole credits.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from proxyapi.forecast.day_simulation import simulate_day
from proxyapi.forecast.spending_pattern import SpendingPattern
from proxyapi.forecast.top_up_rules import MAX_TOP_UPS_PER_DAY

SIMULATION_RUNS = 200
HORIZON_DAYS = 60
EARLY_PERCENTILE, LATE_PERCENTILE = 10, 90


@dataclass(frozen=True, slots=True)
class ForecastStart:
    """The account today: its balance in credits, and the top-ups that are still possible.

    `credits_per_top_up` is 0 if top-up is off. `top_ups_today` counts successful ones.
    `cooldown_days`: days from today on without an attempt.
    """

    on: date
    balance: int
    threshold: int = 0
    credits_per_top_up: int = 0
    top_ups_today: int = 0
    cooldown_days: int = 0


@dataclass(frozen=True, slots=True)
class ForecastBand:
    """The 10th, 50th and 90th percentile of the balance at the end of a day."""

    on: date
    low: int
    median: int
    high: int


@dataclass(frozen=True, slots=True)
class RunOutForecast:
    """A date is None if it is beyond the horizon. `percent_lasting` of the runs last that long."""

    until: date
    early: date | None
    median: date | None
    late: date | None
    percent_lasting: int
    top_ups: int  # the median of the runs
    daily_spend: int  # credits, the mean
    bands: tuple[ForecastBand, ...]
    run_end_days: tuple[int, ...]  # the end day of each run, from 0, in ascending order

    def percent_lasting_until(self, day: date) -> int:
        """The percentage of runs that last at least until that day."""
        number = (day - self.bands[0].on).days
        return round(100 * sum(end >= number for end in self.run_end_days) / len(self.run_end_days))


def forecast_run_out(start: ForecastStart, pattern: SpendingPattern, seed: str) -> RunOutForecast:
    """Deterministic for a seed and the inputs, so that reloading a page shows the same forecast."""
    rng = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    runs = [simulate_run(start, pattern, rng, HORIZON_DAYS) for _ in range(SIMULATION_RUNS)]
    ends = sorted(run.end_day for run in runs)
    columns = [sorted(column) for column in zip(*(run.balances for run in runs), strict=True)]
    return RunOutForecast(
        until=start.on + timedelta(days=HORIZON_DAYS),
        early=run_out_date(start, pick_percentile(ends, EARLY_PERCENTILE), HORIZON_DAYS),
        median=run_out_date(start, pick_percentile(ends, 50), HORIZON_DAYS),
        late=run_out_date(start, pick_percentile(ends, LATE_PERCENTILE), HORIZON_DAYS),
        percent_lasting=round(100 * sum(end >= HORIZON_DAYS for end in ends) / SIMULATION_RUNS),
        top_ups=pick_percentile(sorted(run.top_ups for run in runs), 50),
        daily_spend=mean_daily_spend(pattern),
        bands=tuple(
            ForecastBand(
                start.on + timedelta(days=number),
                pick_percentile(balances, EARLY_PERCENTILE),
                pick_percentile(balances, 50),
                pick_percentile(balances, LATE_PERCENTILE),
            )
            for number, balances in enumerate(columns)
        ),
        run_end_days=tuple(ends),
    )


@dataclass(frozen=True, slots=True)
class SimulationRun:
    """`end_day`: the day, from 0, on which a charge was refused; the horizon if none was."""

    end_day: int
    top_ups: int
    balances: list[int]


def simulate_run(
    start: ForecastStart, pattern: SpendingPattern, rng: random.Random, horizon: int
) -> SimulationRun:
    balance, top_ups, end = start.balance, 0, horizon
    balances = []
    for number in range(horizon):
        day = pattern.draw_day(start.on + timedelta(days=number), rng)
        after = simulate_day(
            balance, day, start.credits_per_top_up, start.threshold, allowed_top_ups(start, number)
        )
        balance, top_ups = after.balance, top_ups + after.top_ups
        balances.append(balance)
        if after.refused and end == horizon:
            end = number
    return SimulationRun(end, top_ups, balances)


def allowed_top_ups(start: ForecastStart, number: int) -> int:
    if not start.credits_per_top_up or number < start.cooldown_days:
        return 0
    return max(0, MAX_TOP_UPS_PER_DAY - start.top_ups_today) if number == 0 else MAX_TOP_UPS_PER_DAY


def count_cooldown_days(until: datetime | None, now: datetime) -> int:
    """Days on which a cooldown lasts; the day of its end counts."""
    if until is None or until <= now:
        return 0
    return (until.date() - now.date()).days + 1


def mean_daily_spend(pattern: SpendingPattern) -> int:
    """The mean over a week, so that weekdays with more samples do not weigh more."""
    pools = [[day.api_spend + day.outside_spend for day in pool] for pool in pattern.by_weekday]
    return round(sum(sum(pool) / len(pool) for pool in pools) / len(pools))


def pick_percentile(ordered: Sequence[int], percent: int) -> int:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def run_out_date(start: ForecastStart, end: int, horizon: int) -> date | None:
    return None if end >= horizon else start.on + timedelta(days=end)
