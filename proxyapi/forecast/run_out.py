"""When the credits run out: not one date but a range, out of many drawn futures.

A run draws each day of the horizon from the pattern and lives it under the top-up rules; it has
run out on the first day that a charge is refused for want of credits. One in ten runs ends before
`early`, one in ten after `late`. The plan's next credits are not counted. Whole credits.
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
HORIZON_DAYS = 60  # days
EARLY_PERCENTILE, LATE_PERCENTILE = 10, 90  # in 100 runs


@dataclass(frozen=True, slots=True)
class ForecastStart:
    """Where the account stands: free credits, and what top-up may still do.

    `credits` of one top-up, 0 where it is off. `today`: successful top-ups of today. `resting`:
    days from today on which none is tried yet.
    """

    on: date
    balance: int
    threshold: int = 0
    credits_per_top_up: int = 0
    top_ups_today: int = 0
    cooldown_days: int = 0


@dataclass(frozen=True, slots=True)
class ForecastBand:
    """The balance at the end of a day: in 10, 50 and 90 of 100 runs it is not above this."""

    on: date
    low: int
    median: int
    high: int


@dataclass(frozen=True, slots=True)
class RunOutForecast:
    """A date is None where it lies beyond the horizon. `lasting`: of 100 runs, how many do."""

    until: date
    early: date | None
    median: date | None
    late: date | None
    percent_lasting: int
    top_ups: int  # in the middle run
    daily_spend: int  # the mean
    bands: tuple[ForecastBand, ...]
    run_end_days: tuple[int, ...]  # of each run the day, from 0, in ascending order

    def percent_lasting_until(self, day: date) -> int:
        """Of 100 runs, how many last until that day at least."""
        number = (day - self.bands[0].on).days
        return round(100 * sum(end >= number for end in self.run_end_days) / len(self.run_end_days))


def forecast_run_out(start: ForecastStart, pattern: SpendingPattern, seed: str) -> RunOutForecast:
    """Same seed and same numbers, same forecast: a page that is loaded twice says the same."""
    chance = random.Random(seed)  # noqa: S311 - futures to look at, not secrets
    runs = [simulate_run(start, pattern, chance, HORIZON_DAYS) for _ in range(SIMULATION_RUNS)]
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
                pick_percentile(them, EARLY_PERCENTILE),
                pick_percentile(them, 50),
                pick_percentile(them, LATE_PERCENTILE),
            )
            for number, them in enumerate(columns)
        ),
        run_end_days=tuple(ends),
    )


@dataclass(frozen=True, slots=True)
class SimulationRun:
    """`end`: the day, from 0, on which a charge was refused; the horizon where none was."""

    end_day: int
    top_ups: int
    balances: list[int]


def simulate_run(
    start: ForecastStart, pattern: SpendingPattern, chance: random.Random, horizon: int
) -> SimulationRun:
    balance, top_ups, end = start.balance, 0, horizon
    balances = []
    for number in range(horizon):
        day = pattern.draw_day(start.on + timedelta(days=number), chance)
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
    """Days on which a rest lasts; the day it ends on counts as one."""
    if until is None or until <= now:
        return 0
    return (until.date() - now.date()).days + 1


def mean_daily_spend(pattern: SpendingPattern) -> int:
    """Over a week, so that a weekday known better than another weighs no more."""
    pools = [[day.api_spend + day.outside_spend for day in pool] for pool in pattern.by_weekday]
    return round(sum(sum(pool) / len(pool) for pool in pools) / len(pools))


def pick_percentile(ordered: Sequence[int], percent: int) -> int:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def run_out_date(start: ForecastStart, end: int, horizon: int) -> date | None:
    return None if end >= horizon else start.on + timedelta(days=end)
