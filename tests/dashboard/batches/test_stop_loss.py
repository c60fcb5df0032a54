"""The plan of a batch: never above its limit, each row begun once, and it always ends."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dashboard.batches.dry_run import PriceSpan, schedule
from dashboard.batches.stop_loss import RowFacts, StepKind, decide_next_step
from tests.examples import WITHOUT_SHRINKING, examples

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


class BatchMachine(RuleBasedStateMachine):
    """Rows that begin, hold, spend, end and are sent again, in any order, while a person changes
    the limit. `allowed` is the limit, or what was committed when it was set lower."""

    @initialize(
        limits=some.lists(amounts, min_size=1, max_size=8),
        share=some.integers(10, 120),
        at_once=some.integers(1, 4),
    )
    def start(self, limits, share, at_once):
        self.rows = [RowFacts(n, "waiting", Decimal(0), limit) for n, limit in enumerate(limits)]
        self.max_credits = self.allowed = sum(limits) * share // 100
        self.at_once, self.attempts, self.begun = at_once, [1] * len(limits), set()

    def committed(self):
        return sum(row.committed for row in self.rows)

    def set_limit(self, credits):
        self.max_credits, self.allowed = credits, max(credits, self.committed())

    def draw_row(self, data, state):
        rows = [row for row in self.rows if row.state == state]
        return data.draw(some.sampled_from(rows)) if rows else None

    @rule()
    def step(self):
        step = decide_next_step(
            self.rows, at_once=self.at_once, max_credits=self.max_credits, max_failures=0
        )
        if step.kind == StepKind.BEGIN:
            row, attempt = self.rows[step.number], (step.number, self.attempts[step.number])
            assert row.state == "waiting"
            assert attempt not in self.begun
            self.begun.add(attempt)
            self.rows[step.number] = row._replace(state="begun", used=Decimal(0))

    @rule(data=some.data(), end=some.sampled_from(["begun", "done", "failed"]))
    def use(self, data, end):
        """A row that is in progress holds or spends up to its limit, and may end."""
        if row := self.draw_row(data, "begun"):
            used = data.draw(some.integers(0, int(row.limit)).map(Decimal))
            self.rows[row.number] = row._replace(state=end, used=used)

    @rule(data=some.data())
    def retry(self, data):
        """As confirmed: the limit rises by what the row may cost once more."""
        if row := self.draw_row(data, "failed"):
            self.attempts[row.number] += 1
            earlier = row.earlier + row.used
            again = row._replace(state="waiting", used=Decimal(0), earlier=earlier)
            self.rows[row.number] = again
            self.set_limit(self.max_credits + row.limit)

    @rule(credits=some.integers(0, 3000).map(Decimal))
    def resume(self, credits):
        self.set_limit(credits)

    @invariant()
    def it_never_spends_and_holds_more_than_it_may(self):
        rows = getattr(self, "rows", [])
        assert sum(row.earlier + row.used for row in rows) <= getattr(self, "allowed", 0)
        assert sum(row.state == "begun" for row in rows) <= getattr(self, "at_once", 0)


BatchMachine.TestCase.settings = settings(
    max_examples=examples(60, 2000), stateful_step_count=40, deadline=None, phases=WITHOUT_SHRINKING
)
TestBatchMachine = BatchMachine.TestCase


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
