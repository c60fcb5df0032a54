"""The drawings of the ledger say what the entries add up to."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dashboard.ledger.queries.chart_page import load_ledger_charts
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.ledger.queries.scope import load_ledger_scope
from dashboard.ledger.queries.spend_chart import build_spend_chart, build_spend_split
from dashboard.ledger.queries.totals import load_ledger_totals
from dashboard.shared.people import load_team_people
from proxyapi.models import LedgerMirror
from tests.dashboard.ledger.conftest import days_ago, sum_up
from tests.factories import EntryFactory, MembershipFactory

pytestmark = pytest.mark.postgresql


def spend(reader, **query):
    scope, people = (
        load_ledger_scope(reader.team, parse_ledger_filters(query)),
        load_team_people(reader.team),
    )
    return build_spend_chart(
        scope, load_ledger_totals(scope, build_spend_split(scope, people)), people
    )


def chart_summary(reader, **query) -> dict[str, Any]:
    return load_ledger_charts(reader, parse_ledger_filters(query))


def test_the_spend_of_a_day_is_split_by_member(add_entry, thea, luca, priya):
    add_entry("-96")
    add_entry("-14", member=luca.user)
    add_entry("-42", by=None)
    add_entry("+500", by=None)
    today = spend(thea).columns[-1]
    assert today.is_now
    assert dict(today.amounts) == {
        str(priya.user_id): 96,
        str(luca.user_id): 14,
        "outside": 42,
        "others": 0,
    }
    assert spend(thea).total == 152
    assert "Priya 96" in spend(thea).bars[-1].text


def test_who_joined_late_is_with_the_others(add_entry, thea):
    for number in range(6):
        MembershipFactory.create(team=thea.team, user__name=f"Person {number}")
    late = MembershipFactory.create(team=thea.team, user__name="Late Comer")
    add_entry("-96", member=late.user)
    assert spend(thea).columns[-1].amounts["others"] == 96
    assert "Late" not in [one.label for one in spend(thea).series]


def test_the_spend_is_split_by_feature_too(add_entry, thea):
    add_entry("-96")
    add_entry("-14", operation="faceless.export")
    chart = spend(thea, by="feature")
    assert [one.label for one in chart.series] == ["Render", "Export"]
    assert chart.columns[-1].amounts["faceless.export"] == 14


@pytest.mark.parametrize(("period", "columns"), [("", 30), ("90d", 14), ("2026-11", 30)])
def test_long_periods_are_drawn_by_week(period, columns, add_entry, thea):
    add_entry(happened_at=days_ago(days=70))
    add_entry()
    assert len(spend(thea, period=period).columns) == columns


def test_years_are_drawn_by_month_and_begin_with_the_first_row(add_entry, thea):
    add_entry(happened_at=days_ago(days=500))
    columns = spend(thea, period="all").columns
    assert (columns[0].name, columns[-1].name) == ("July 2025", "November 2026")
    assert sum(column.total for column in columns) == 96


def test_of_a_period_far_into_the_future_only_what_was_is_drawn(add_entry, thea):
    """A mistyped year would else be thousands of columns of nothing."""
    add_entry(happened_at=days_ago(days=10))
    columns = spend(thea, period="2026-11-01..2999-12-31").columns
    assert (len(columns), sum(column.total for column in columns)) == (11, 96)


def test_the_balance_walks_back_from_what_is_left(add_entry, account, thea):
    add_entry("-96", happened_at=days_ago(days=1))
    add_entry("+2000", by=None, happened_at=days_ago(days=2))
    LedgerMirror.objects.filter(pk=account.pk).update(balance_exact=Decimal(4000))
    chart = chart_summary(thea, period="2026-11-17..2026-11-20")["balance"]
    assert chart is not None
    assert [(came, left) for _, came, left in chart["table"]] == [
        (0, 4000),
        (0, 4000),
        (2000, 4096),
        (0, 2096),
    ]
    (mark,) = chart["line"].marks
    assert (mark.kind, mark.title) == ("in", "Wed 18 Nov: credits in 2,000 cr")


def test_days_after_the_period_count_towards_its_balance(add_entry, account, thea):
    add_entry("-96")
    add_entry("-4", happened_at=days_ago(days=60))
    LedgerMirror.objects.filter(pk=account.pk).update(balance_exact=Decimal(1000))
    chart = chart_summary(thea, period="2026-09")["balance"]
    assert chart is not None
    assert chart["table"][0][2] == 1096


def test_the_balance_counts_what_came_since_the_last_checkpoint(add_entry, account, thea):
    add_entry("-100", by=None, position=0, happened_at=days_ago(days=1))
    add_entry("+500.25", by=None, position=1)
    weighed = {"balance_exact": Decimal(1000), "checkpoint_high": 1, "high": 2, "total": 2}
    LedgerMirror.objects.filter(pk=account.pk).update(**weighed)
    chart = chart_summary(thea, period="2026-11-18..2026-11-20")["balance"]
    assert chart is not None
    ends = [left for _, _, left in chart["table"]]
    assert ends == [Decimal("1500.25"), 1000, 1100]
    shown = load_ledger_page(thea, parse_ledger_filters({}))["entries"]["page"].days
    assert [row["balance"] for day in shown for row in day.rows] == ends[
        :2
    ]  # the rows say the same


@pytest.mark.parametrize(
    ("period", "head", "rows"),
    [
        ("2026-11-17..2026-11-20", "Day", [("Today, Fri 20 Nov", 0, 4000)]),
        ("90d", "Week", [("Week of 16 Nov 2026", 5, 4000), ("Week of 9 Nov 2026", 0, 4091)]),
        (
            "all",
            "Month",
            [("November 2026", 15, 4000), ("October 2026", 0, 4081), ("September 2026", 0, 4081)],
        ),
    ],
)
def test_the_table_of_long_periods_is_by_week_or_by_month(
    period, head, rows, add_entry, account, thea
):
    add_entry("-96")
    for days, amount in ((4, "+5"), (14, "+10"), (500, "-7")):
        add_entry(amount, by=None, happened_at=days_ago(days=days))
    LedgerMirror.objects.filter(pk=account.pk).update(balance_exact=Decimal(4000))
    chart = chart_summary(thea, period=period)["balance"]
    assert chart is not None
    assert chart["head"] == head
    assert list(chart["table"][: len(rows)]) == rows


@pytest.mark.parametrize(
    ("period", "columns"),
    [
        ("", [("Thu 19 Nov", 9, 0), ("Fri 20 Nov", 0, 42)]),
        ("365d", [("Week of 5 Oct 2026", 4, 0), ("Week of 16 Nov 2026", 9, 42)]),
        ("all", [("July 2025", 96, 0), ("October 2026", 4, 0), ("November 2026", 9, 42)]),
    ],
)
@pytest.mark.parametrize("query", [{}, {"by": "feature"}, {"by": "feature", "source": "api"}])
def test_the_parts_of_a_column_are_those_of_its_days(
    query, period, columns, add_entry, thea, priya
):
    """Whether the sums are of months or of days."""
    add_entry(happened_at=days_ago(days=500))
    add_entry("-4", happened_at=days_ago(days=40))
    add_entry("-9", happened_at=days_ago(days=1))
    add_entry("-42", by=None)
    key = "faceless.render" if query else str(priya.user_id)
    chart = spend(thea, period=period, **query)
    told = [(one.name, one.amounts, one.total) for one in chart.columns if one.total]
    assert [(name, it.get(key, 0), it["outside"]) for name, it, _ in told] == columns
    assert [total for *_, total in told] == [ours + outside for _, ours, outside in columns]


def test_a_refund_has_a_mark_of_its_own(add_entry, account, thea):
    debit = add_entry("-96")
    given = {name: getattr(debit, name) for name in ("charge", "member", "job", "operation")}
    refund = {"credit_spend": "96", "confidence": "certain", "happened_at": days_ago(minutes=5)}
    EntryFactory.create(account=account, **given, **refund)
    sum_up(account)
    chart = chart_summary(thea)["balance"]
    assert chart is not None
    assert [mark.kind for mark in chart["line"].marks] == ["refund"]


def test_charts_without_rows_say_so(account, thea, client_of):
    html = client_of(thea).get("/ledger/charts/").content.decode()
    assert "No balance data for these days." in html
    assert "No spend in these days." in html


def test_the_charts_have_a_table_and_a_sentence(add_entry, thea, client_of):
    add_entry()
    html = client_of(thea).get("/ledger/charts/").content.decode()
    assert html.count("As a table") == 1
    assert 'aria-label="Last 30 days: the balance ended at' in html
    assert "style=" not in html
