"""What was really paid, and by how much estimates missed: checked against plain arithmetic."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from statistics import median

from dashboard.costs.queries import (
    CostCountRow,
    build_actual_costs,
    build_estimate_errors,
    error_span_percent,
    load_cost_counts,
    median_cost,
)
from proxyapi.rollups.price_counts import utc_month_of
from tests.cases import each_case
from tests.dashboard.overview.conftest import ago, video

RENDER = "faceless.render"


def row(cost, quote=0, times=1, operation=RENDER, type_="ai-visuals"):
    return CostCountRow(operation, type_, Decimal(quote), Decimal(cost), times)


@each_case("seed", range(20))
def test_the_median_of_the_counts_is_the_median_of_all(seed):
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    costs = [Decimal(chance.randint(1, 12)) for _ in range(chance.randint(1, 40))]
    assert median_cost(Counter(costs)) == median(costs)


def test_renders_are_distinguished_by_type_and_scripts_are_not():
    rows = [
        row(96),
        row(212, type_="ai-clips"),
        row(4, operation="faceless.scripts"),
        row(4, operation="faceless.scripts", type_="ai-clips"),
    ]
    assert [(one.name, one.count) for one in build_actual_costs(rows)] == [
        ("Render, AI clips", 1),
        ("Render, AI visuals", 1),
        ("Script", 2),
    ]


def test_range_and_sum_and_free_uses():
    (one,) = build_actual_costs([row(90, times=2), row(102), row(0, times=3)])
    assert (one.low, one.median, one.high, one.total) == (90, 90, 102, 282)
    assert (one.count, one.free) == (3, 3)


def test_what_was_always_free_has_no_price():
    (one,) = build_actual_costs([row(0, times=2)])
    assert (one.median, one.low, one.total, one.free) == (None, None, 0, 2)


def test_nine_in_ten_lie_in_the_span():
    misses = Counter({Decimal(value): 1 for value in range(-50, 50)})
    assert error_span_percent(misses) == (-45, 44)


def test_a_span_is_rounded_away_from_the_estimate():
    (one,), ends = build_estimate_errors([row("96.5", 96), row("95", 96)])
    assert (one.low, one.high, ends) == (-2, 1, 20)
    assert (one.x, one.width) == (45, 7.5)
    assert one.range_text == "−2 to +1 %"


def test_an_exact_estimate_says_so():
    (one,), _ = build_estimate_errors([row(96, 96, times=5)])
    assert (one.range_text, one.count) == ("exact", 5)


def test_the_scale_grows_with_the_worst_miss():
    estimates, ends = build_estimate_errors([row(96, 96), row(84, 42, type_="b-roll")])
    assert ends == 100
    assert all(0 <= one.x <= 100 for one in estimates)


def test_only_approximate_estimates_are_compared():
    rows = [row(98, 96, operation="text_to_video.create"), row(3, 4, operation="faceless.scripts")]
    assert build_estimate_errors(rows) == ((), 20)


def test_only_charges_that_exist_are_counted(token, make_charge, ledger):
    job = video(token, draft__settings={"type": "ai-visuals"})
    make_charge(96, job=job, quote=Decimal(100))
    make_charge(98, job=job, quote=Decimal(100), operation="faceless.retry")
    make_charge(state="unknown")
    make_charge(50, refunded_at=ago(hours=1))
    make_charge(40, sent_at=ago(days=120))
    since = utc_month_of(ago(days=80))
    rows = load_cost_counts([token.account_id], since)
    assert sorted((row.operation, row.cost, row.times) for row in rows) == [
        ("faceless.render", 96, 1),
        ("faceless.retry", 98, 1),
    ]
    assert load_cost_counts([], since) == []
