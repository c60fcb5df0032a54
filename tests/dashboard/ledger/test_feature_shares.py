"""What each feature took of the credits, of days and of whole months alike."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from dashboard.ledger.queries.chart_page import FeatureShare, load_feature_shares
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.period import LedgerPeriod
from dashboard.ledger.queries.scope import load_ledger_scope
from dashboard.ledger.queries.totals import whole_months_within
from proxyapi.models import DailyTotalByOperation, MonthlyTotalByOperation
from tests.dashboard.ledger.conftest import mark_fully_read, sum_up
from tests.factories import AccountFactory, EntryFactory

pytestmark = pytest.mark.postgresql


def share_summary(reader, **query) -> tuple[FeatureShare, ...]:
    return load_feature_shares(load_ledger_scope(reader.team, parse_ledger_filters(query)))


def test_shares_are_in_order_and_outside_comes_last(add_entry, thea):
    add_entry("-96")
    add_entry("-300", operation="faceless.export")
    add_entry("-500", by=None)
    shares = share_summary(thea)
    assert [(one.label, one.amount, one.tone) for one in shares] == [
        ("Export", 300, ""),
        ("Render", 96, ""),
        ("Outside the portal", 500, "outside"),
    ]
    assert [round(one.width) for one in shares] == [60, 19, 100]


@pytest.mark.parametrize(
    ("first", "last", "months"),
    [
        (date(2026, 11, 1), date(2026, 11, 30), (date(2026, 11, 1), date(2026, 12, 1))),
        (date(2026, 10, 31), date(2026, 12, 30), (date(2026, 11, 1), date(2026, 12, 1))),
        (date(2025, 12, 2), date(2026, 11, 20), (date(2026, 1, 1), date(2026, 11, 1))),
    ],
)
def test_whole_months_are_those_between_the_ends(first, last, months):
    assert whole_months_within(LedgerPeriod(first, last, "")) == months


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (date(2026, 11, 3), date(2026, 11, 18)),
        (date(2026, 11, 1), date(2026, 11, 29)),
        (date(2026, 10, 2), date(2026, 11, 29)),
    ],
)
def test_days_may_hold_no_whole_month(first, last):
    start, end = whole_months_within(LedgerPeriod(first, last, ""))
    assert start >= end


MOMENTS = (
    *(datetime(2026, 1, 31, 23, 59, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)),
    *(datetime(2026, 2, 28, 12, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)),
    *(datetime(2026, 10, 31, 9, tzinfo=UTC), datetime(2026, 11, 20, 9, tzinfo=UTC)),
)


ROWS_OF_PERIOD = {
    "all": 6,
    "2026": 6,
    "2026-02": 2,
    "2026-01-31..2026-03-01": 4,
    "2026-02-01..2026-10-31": 4,
    "2026-02-02..2026-02-28": 1,
    "2026-03-02..2026-10-30": 0,
    "": 2,
}


def test_every_row_of_the_period_is_in_them_once(add_entry, account, thea):
    """Of two accounts; each row of its own size, so that none stands for another."""
    spare = mark_fully_read(AccountFactory.create(tenant=thea.team.tenant))
    for number, at in enumerate(MOMENTS):
        add_entry(f"-{2**number}", happened_at=at)
        add_entry("+100", by=None, happened_at=at)
        EntryFactory.create(account=spare, credit_spend="-0.5", happened_at=at)
    sum_up(spare)
    for period, rows in ROWS_OF_PERIOD.items():
        scope = load_ledger_scope(thea.team, parse_ledger_filters({"period": period}))
        start, end = scope.period.time_bounds(scope.zone)
        spent = sum(2**number for number, at in enumerate(MOMENTS) if start <= at < end)
        sums = {"Render": (spent, rows), "Outside the portal": (Decimal("0.5") * rows, rows)}
        shares = {one.label: (one.amount, one.rows) for one in load_feature_shares(scope)}
        assert shares == (sums if rows else {}), period


def test_of_whole_months_no_day_is_read(add_entry, thea):
    add_entry(happened_at=datetime(2026, 9, 5, tzinfo=UTC))
    DailyTotalByOperation.objects.all().delete()
    assert [one.amount for one in share_summary(thea, period="all")] == [96]


def test_the_month_that_is_not_over_is_read_by_its_days(add_entry, thea):
    add_entry()
    MonthlyTotalByOperation.objects.all().delete()
    assert [one.amount for one in share_summary(thea, period="all")] == [96]
