"""The plan of a batch: never above its limit, each row begun once, and it always ends."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as some

from dashboard.batches.dry_run import PriceSpan, schedule
from dashboard.batches.stop_loss import RowFacts, StepKind, decide_next_step
from tests.examples import examples

amounts = some.integers(1, 300).map(Decimal)


@settings(max_examples=examples(60, 2000), deadline=None)
@given(
    limits=some.lists(amounts, min_size=1, max_size=30),
    max_credits=some.integers(0, 3000).map(Decimal),
    max_failures=some.integers(0, 6),
    at_once=some.integers(1, 4),
    data=some.data(),
)
def test_it_never_commits_more_than_its_limit_and_always_ends(
    limits, max_credits, max_failures, at_once, data
):
    rows = [RowFacts(n, "waiting", Decimal(0), limit) for n, limit in enumerate(limits)]
    begun: list[int] = []
    for _ in range(10 * len(rows) + 10):
        step = decide_next_step(
            rows, at_once=at_once, max_credits=max_credits, max_failures=max_failures
        )
        in_progress = [row for row in rows if row.state == "begun"]
        assert len(in_progress) <= at_once
        assert sum(row.committed for row in rows) <= max_credits or not begun
        if step.kind == StepKind.BEGIN:
            assert step.number not in begun
            begun.append(step.number)
            rows[step.number] = rows[step.number]._replace(state="begun")
        elif step.kind == StepKind.WAIT:
            row = data.draw(some.sampled_from(in_progress))
            cost = data.draw(some.integers(0, int(row.limit)).map(Decimal))
            state = data.draw(some.sampled_from(["done", "failed"]))
            rows[row.number] = row._replace(state=state, used=cost)
        else:
            break
    else:
        raise AssertionError("it does not end")
    assert sum(row.used for row in rows) <= max_credits
    if step.kind == StepKind.FINISH:
        assert sorted(begun) == list(range(len(rows)))
    if step.kind == StepKind.STOP_FAILURES:
        assert sum(row.state == "failed" for row in rows) >= max_failures > 0


def span_of(drawn: tuple[Decimal, ...]) -> PriceSpan:
    low, usual, high, limit = sorted(drawn)
    return PriceSpan(low, usual, high, limit)


spans = some.tuples(amounts, amounts, amounts, amounts).map(span_of)


@given(prices=some.lists(spans, max_size=40))
def test_a_total_is_a_range_in_order(prices):
    total = sum(prices, PriceSpan())
    assert total.low <= total.usual <= total.high <= total.limit
    assert total.limit == sum(price.limit for price in prices)


@given(seconds=some.lists(some.floats(0, 900), min_size=1, max_size=40), lanes=some.integers(1, 4))
def test_more_at_once_is_never_slower_than_one_and_never_faster_than_the_longest(seconds, lanes):
    taken = schedule(seconds, lanes)
    assert max(seconds) <= taken <= sum(seconds) + 1e-6
