"""The lag rule: how much later than need be a look now would tell of an end."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxyapi.polling.candidate_selection import PollCandidate, select_stalest
from proxyapi.polling.duration_model import (
    MAX_POLL_INTERVAL_S,
    MIN_POLL_INTERVAL_S,
    PRIOR_WEIGHT,
    SPREAD_FACTORS,
    DurationModel,
    stalled_poll_delay,
)

seconds = st.floats(0, 1e5, allow_nan=False)
learned = st.lists(st.floats(1, 5000), max_size=64)


def counted(samples: list[float], seen: float, age: float, steps: int = 20_000) -> float:
    """The integral of the docstring, added up in small steps, of what was learned and imagined."""
    durations = DurationModel(samples)
    width, total = (age - seen) / steps, 0.0

    def alive(at: float) -> float:
        doubt = PRIOR_WEIGHT / (1 + (at / durations.middle) ** 2)
        return (
            sum(sample * like > at for sample in samples for like in SPREAD_FACTORS)
            / len(SPREAD_FACTORS)
            + doubt
        )

    for step in range(steps):
        total += width * (1 - alive(seen + (step + 0.5) * width) / alive(seen))
    return total


@pytest.mark.parametrize(
    ("samples", "seen", "age"),
    [([], 0, 60), ([], 900, 1000), ([100, 120, 140], 90, 130), ([30] * 5, 20, 400)],
)
def test_it_is_the_integral_of_the_chance_that_it_has_finished(samples, seen, age):
    assert DurationModel(samples).expected_staleness(seen, age) == pytest.approx(
        counted(samples, seen, age), rel=1e-3
    )


@given(samples=learned, seen=seconds, later=seconds, more=seconds)
def test_it_grows_with_time_and_never_faster_than_time(samples, seen, later, more):
    durations = DurationModel(samples)
    lag, longer = (
        durations.expected_staleness(seen, seen + later),
        durations.expected_staleness(seen, seen + later + more),
    )
    assert 0 <= lag <= later + 1e-6
    assert lag - 1e-6 <= longer <= lag + more + 1e-3


@given(samples=learned, seen=seconds)
def test_the_lag_of_a_job_that_is_passed_over_grows_past_any_other(samples, seen):
    """Nobody starves: whatever was learned, some day it is worth more than a look at another."""
    assert DurationModel(samples).expected_staleness(seen, seen + 1e9) > 1e6


@given(samples=learned, seen=seconds)
@example(samples=[1.0], seen=5.0)
def test_the_next_poll_is_at_least_five_seconds_off_and_never_too_far(samples, seen):
    durations = DurationModel(samples)
    assert MIN_POLL_INTERVAL_S <= durations.next_poll_delay(seen) <= MAX_POLL_INTERVAL_S
    assert 30 <= stalled_poll_delay(seen, 1) <= 3600


def test_pitfall_18_a_stuck_job_is_polled_ever_more_seldom():
    durations = DurationModel([60.0] * 20)
    ages = (60, 240, 301, 4000, 40_000)
    stalled = [durations.is_stalled(age, age, is_known_word=True) for age in ages]
    assert stalled == [False, False, True, True, True]
    assert [stalled_poll_delay(age, 1) for age in (90, 600, 3600, 40_000)] == [30, 100, 600, 3600]


def test_a_poll_is_worth_most_when_the_end_is_near():
    durations = DurationModel([100.0 + number for number in range(20)])
    early, near, long_over = (durations.expected_staleness(at, at + 10) for at in (20, 105, 2000))
    assert near > 10 * early
    assert near > 10 * long_over > 0


def test_between_two_ends_that_others_had_an_end_is_likely_too():
    """64 durations leave gaps; a job that is in one is not looked at later for it."""
    durations = DurationModel([100.0, 120.0] * 10)
    assert durations.expected_staleness(105, 115) > 10 * durations.expected_staleness(20, 30)


def test_without_experience_no_age_is_left_out():
    durations = DurationModel()
    assert all(0 < durations.expected_staleness(at, at + 10) < 1 for at in (0, 60, 600, 6000))


def test_an_end_lies_halfway_or_where_others_ended():
    durations, chance = DurationModel([100.0, 101.0, 102.0]), Random(1)  # noqa: S311 - no secret
    assert durations.estimate_duration(99, 109, chance) == 104
    assert durations.estimate_duration(50, 400, chance) in (100, 101, 102)
    assert durations.estimate_duration(200, 400, chance) == 300


def test_polls_far_apart_record_no_duration_that_no_render_had():
    """The portal slept in between, or its service was away."""
    durations, chance = DurationModel([100.0]), Random(1)  # noqa: S311 - no secret
    assert durations.estimate_duration(110, 8 * 3600, chance) is None
    assert DurationModel().estimate_duration(0, 31, chance) is None
    assert DurationModel().estimate_duration(0, 30, chance) == 15


def candidate(name: str, seen: float, age: float, weight: float = 1.0) -> PollCandidate[str]:
    return PollCandidate(name, seen, age, DurationModel([100.0, 110, 120]), weight)


def test_the_best_are_those_whose_expected_lag_is_largest():
    young, near, looked = (
        candidate("young", 0, 10), candidate("near", 90, 115), candidate("looked", 105, 115)
    )  # fmt: skip
    assert [one.id for one in select_stalest([young, near, looked], 2)] == ["near", "looked"]
    assert select_stalest([young, near], 0) == []


def test_a_viewer_puts_a_job_before_its_like():
    jobs = [candidate("alone", 90, 115), candidate("open", 90, 114, weight=4)]
    assert select_stalest(jobs, 1)[0].id == "open"
