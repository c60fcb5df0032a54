"""Back-off: how the delays grow, and how far jitter moves them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from proxyapi.backoff import JITTER_FRACTION, Backoff, add_jitter

BACKOFF = Backoff(timedelta(seconds=7), timedelta(seconds=900))


@pytest.mark.parametrize(
    ("lasting_s", "delay_s"), [(0, 7), (7, 7), (14, 14), (500, 500), (1e6, 900), (1e12, 900)]
)
def test_the_delay_is_as_long_as_the_trouble_within_its_bounds(lasting_s: float, delay_s: float):
    assert BACKOFF.delay_after(timedelta(seconds=lasting_s)) == timedelta(seconds=delay_s)


def test_jitter_moves_a_delay_either_way_and_no_farther():
    delays = [add_jitter(timedelta(seconds=100)).total_seconds() for _ in range(200)]
    least, most = 100 * (1 - JITTER_FRACTION), 100 * (1 + JITTER_FRACTION)
    assert least <= min(delays) < 100 < max(delays) <= most
