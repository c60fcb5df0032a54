"""Days are shown one by one, by week or by month, the same in Python as in the database."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db.models import F

from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.period import Granularity, TruncToGranularity, choose_granularity
from dashboard.ledger.queries.scope import load_ledger_scope
from proxyapi.models import DailyTotal
from tests.dashboard.ledger.conftest import days_ago, mark_fully_read, sum_up
from tests.factories import AccountFactory, EntryFactory

pytestmark = pytest.mark.postgresql

NEW_YEAR = date(2027, 1, 1)  # a Friday


@pytest.mark.parametrize(
    ("days", "step"), [(1, "day"), (62, "day"), (63, "week"), (400, "week"), (401, "month")]
)
def test_longer_periods_have_longer_steps(days, step):
    assert choose_granularity(NEW_YEAR, NEW_YEAR + timedelta(days=days - 1)) == step


@pytest.mark.parametrize("step", Granularity)
def test_the_database_begins_its_steps_on_the_same_days(step, account):
    days = [NEW_YEAR + timedelta(days=number) for number in range(-40, 40)]
    given = {"account": account, "is_credit": False, "is_matched": True, "entries": 1}
    DailyTotal.objects.bulk_create(DailyTotal(day=day, amount=-1, **given) for day in days)
    found = DailyTotal.objects.annotate(start=TruncToGranularity("day", step)).values_list(
        "day", "start"
    )
    assert dict(found) == {day: step.first_day(day) for day in days}
    grouped = (
        DailyTotal.objects.annotate(start=TruncToGranularity("day", step))
        .values("start")
        .distinct()
    )
    assert len(grouped.order_by(F("start"))) == len({step.first_day(day) for day in days})


def test_a_step_says_its_name():
    assert Granularity.DAY.label(NEW_YEAR) == "Fri 1 Jan"
    assert Granularity.WEEK.label(Granularity.WEEK.first_day(NEW_YEAR)) == "Week of 28 Dec 2026"
    assert (Granularity.MONTH.label(NEW_YEAR), Granularity.MONTH.short_label(NEW_YEAR)) == (
        "January 2027",
        "Jan 2027",
    )


def spanned(reader, **query) -> tuple[date, date]:
    return load_ledger_scope(reader.team, parse_ledger_filters(query)).charted_days


def test_long_periods_begin_with_the_first_row_of_the_accounts(add_entry, account, thea, luca):
    """Whatever the other filters: so two charts of everything show the same days."""
    spare = mark_fully_read(AccountFactory.create(tenant=thea.team.tenant))
    EntryFactory.create(account=spare, happened_at=days_ago(days=900))
    sum_up(spare)
    first = add_entry(happened_at=days_ago(days=500)).happened_at.date()
    today = date(2026, 11, 20)
    assert spanned(thea, period="all") == (days_ago(days=900).date(), today)
    assert spanned(thea, period="all", account=str(account.pk)) == (first, today)
    narrowed = spanned(thea, period="all", account=str(account.pk), member=str(luca.user_id))
    assert narrowed == (first, today)
    assert spanned(thea, period="365d") == (date(2025, 11, 21), today)


def test_without_a_row_only_the_last_day_is_left_of_everything(account, thea):
    assert spanned(thea, period="all") == (date(2026, 11, 20),) * 2
    assert spanned(thea, period="..2020-01-31") == (date(2020, 1, 31),) * 2
