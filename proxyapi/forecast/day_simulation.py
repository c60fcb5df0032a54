"""Simulate one day in a few steps instead of one for each charge: the same rules, for even charges.

A day's API spend is `api_spend` credits in charges of `charge_size` each, the last one smaller;
spend outside the API comes before it. Whole credits: an estimate over many days, and exact for
charges that are even (tested against the rules, charge by charge).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from proxyapi.forecast.top_up_rules import MAX_TOP_UPS_PER_DAY


@dataclass(frozen=True, slots=True)
class DailyCredits:
    """Credits, positive; `charge_size` is at least 1. `into`: credited that day, before any
    spend."""

    api_spend: int = 0
    charge_size: int = 1
    outside_spend: int = 0
    into: int = 0


class DayResult(NamedTuple):
    balance: int
    top_ups: int
    refused: int  # credits of charges that the balance did not cover


def simulate_day(
    balance: int,
    day: DailyCredits,
    credits: int,
    threshold: int,
    allowed: int = MAX_TOP_UPS_PER_DAY,
) -> DayResult:
    """The end of a day that begins with `balance`, topped up by `credits` below `threshold`.

    `threshold` is rounded up to whole credits. Without top-up, `allowed` is 0.
    """
    balance += day.into
    refused = max(0, day.outside_spend - balance)
    balance -= day.outside_spend - refused
    if (
        not refused
        and balance - day.api_spend >= threshold * (allowed > 0)
        and balance >= day.api_spend
    ):
        return DayResult(balance - day.api_spend, 0, 0)  # most days: no top-up, no refusal
    left, top_ups = day.api_spend, 0
    while left:
        size = min(day.charge_size, left)
        if balance < size:
            # A refused charge causes no top-up: the rest of the day is refused, except a last
            # smaller charge.
            last = day.api_spend % day.charge_size
            fits = 0 < last <= balance and last < size
            balance, refused = balance - last * fits, refused + left - last * fits
            if fits and balance < threshold and top_ups < allowed:
                balance, top_ups = balance + credits, top_ups + 1
            break
        spent = size * count_even_charges(
            balance, left, size, threshold if top_ups < allowed else 0
        )
        balance, left = balance - spent, left - spent
        if balance < threshold and top_ups < allowed:
            balance, top_ups = balance + credits, top_ups + 1
    return DayResult(balance, top_ups, refused)


def count_even_charges(balance: int, left: int, size: int, threshold: int) -> int:
    """Count the charges until the balance is below the threshold or does not cover the next one.

    At least one: the balance covers it.
    """
    affordable = min(left, balance) // size
    if not threshold:
        return affordable
    until_below = 1 if balance < threshold else (balance - threshold) // size + 1
    return min(affordable, until_below)
