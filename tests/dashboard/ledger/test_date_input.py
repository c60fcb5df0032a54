"""Days in the address: years, two days with one of them open, and what is said of bad ones."""

from __future__ import annotations

from datetime import date

import pytest

from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.ledger.queries.period import (
    build_period_options,
    parse_date_range_input,
    parse_ledger_period,
)
from tests.dashboard.ledger.conftest import days_ago, sum_up

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("text", "first", "last", "says"),
    [
        ("2025", date(2025, 1, 1), date(2025, 12, 31), "2025"),
        ("2026-11-03..", date(2026, 11, 3), TODAY, "Since 3 Nov 2026"),
        ("2026-12-24..", date(2026, 12, 24), date(2026, 12, 24), "Since 24 Dec 2026"),
        ("..2026-11-03", date(2000, 1, 1), date(2026, 11, 3), "Until 3 Nov 2026"),
        ("2026-11-03..2026-11-18", date(2026, 11, 3), date(2026, 11, 18), None),
        ("1999", date(2026, 10, 22), TODAY, "Last 30 days"),
        ("..", date(2026, 10, 22), TODAY, "Last 30 days"),
        ("2026-11-03..x", date(2026, 10, 22), TODAY, "Last 30 days"),
    ],
)
def test_a_period_is_a_year_or_open_at_an_end(text, first, last, says):
    period = parse_ledger_period(text, TODAY)
    assert (period.first, period.last) == (first, last)
    assert period.label == (says or "3 Nov 2026 to 18 Nov 2026")


@pytest.mark.parametrize(
    ("text", "today", "first", "last", "label"),
    [
        ("last-month", TODAY, date(2026, 10, 1), date(2026, 10, 31), "October 2026"),
        ("last-month", date(2026, 1, 31), date(2025, 12, 1), date(2025, 12, 31), "December 2025"),
        ("this-quarter", TODAY, date(2026, 10, 1), TODAY, "this quarter"),
        ("this-quarter", date(2026, 3, 31), date(2026, 1, 1), date(2026, 3, 31), "this quarter"),
        ("this-quarter", date(2026, 4, 1), date(2026, 4, 1), date(2026, 4, 1), "this quarter"),
        ("this-year", TODAY, date(2026, 1, 1), TODAY, "this year"),
        ("all", TODAY, date(2000, 1, 1), TODAY, "all"),
    ],
)
def test_a_preset_is_a_period_of_today(text, today, first, last, label):
    period = parse_ledger_period(text, today)
    assert (period.first, period.last, period.label_in_sentence) == (first, last, label)


def test_presets_are_offered_and_kept_in_the_address(thea, client_of):
    page = client_of(thea).get("/ledger/?period=this-quarter").content.decode()
    assert '<option value="last-month">Last month</option>' in page
    assert '<option value="this-quarter" selected>This quarter</option>' in page
    assert '<option value="this-year">This year</option>' in page


def test_years_are_offered_beside_the_months():
    assert list(build_period_options("", TODAY))[-3:] == ["2026", "2025", "2024"]


@pytest.mark.parametrize(
    ("first", "last", "period"),
    [
        ("2026-11-03", "2026-11-18", "2026-11-03..2026-11-18"),
        ("2026-11-03", "2026-11-03", "2026-11-03"),
        ("2026-11-03", "", "2026-11-03.."),
        ("", "2026-11-03", "..2026-11-03"),
        ("", "", ""),
    ],
)
def test_two_days_are_a_period_of_the_address(first, last, period):
    dates = parse_date_range_input({"from": first, "to": last})
    assert (dates.period, dates.problem) == (period, "")
    assert parse_ledger_filters({"from": first, "to": last, "period": "90d"}).period == (
        period or "90d"
    )


@pytest.mark.parametrize(
    ("first", "last", "wrong", "said"),
    [
        ("2026-11-18", "2026-11-03", "to", "The last day, 3 Nov 2026, is before the first, 18 N"),
        ("31.12.2026", "", "from", "“31.12.2026” is not a valid date."),
        ("2026-11-03", "soon", "to", "“soon” is not a valid date."),
        ("2026-02-30", "", "from", "“2026-02-30” is not a valid date."),
        ("0026-11-18", "", "from", "“0026-11-18” is not a valid date."),
        ("20261118", "", "from", "“20261118” is not a valid date."),
        ("٢٠٢٦-11-18", "", "from", "“٢٠٢٦-11-18” is not a valid date."),
    ],
)
def test_days_that_mean_nothing_are_said_and_change_nothing(first, last, wrong, said):
    filters = parse_ledger_filters({"from": first, "to": last, "period": "2026-10"})
    assert filters.dates.problem.startswith(said)
    assert (filters.dates.problem_field, filters.period) == (wrong, "2026-10")
    assert filters.url() == "/ledger/?period=2026-10"


def test_the_page_keeps_what_was_typed_and_says_what_it_shows(add_entry, thea, client_of):
    add_entry()
    html = client_of(thea).get("/ledger/?from=2026-11-18&to=<i>&member=7").content.decode()
    assert "“&lt;i&gt;” is not a valid date." in html
    assert "Showing the last 30 days." in html
    assert 'name="to" value="&lt;i&gt;"' in html
    assert 'name="from" value="2026-11-18"' in html
    assert '<input type="hidden" name="member" value="7">' in html


def test_days_are_asked_for_in_the_teams_zone(add_entry, thea, client_of):
    """pitfall_68: the first day of the fields begins at midnight there."""
    thea.team.tenant.time_zone = "America/New_York"
    thea.team.tenant.save()
    add_entry("-7", happened_at=days_ago(hours=8))  # 23:00 of the day before, in New York
    entry = add_entry("-5", happened_at=days_ago(hours=6))
    entry.account.refresh_from_db()
    sum_up(type(entry.account).objects.get(pk=entry.account_id))
    shown = load_ledger_page(thea, parse_ledger_filters({"from": "2026-11-20"}))
    assert [
        int(row["entry"].amount) for day in shown["entries"]["page"].days for row in day.rows
    ] == [-5]
    assert shown["dates"]["zone"] == "America/New York"
    html = client_of(thea).get("/ledger/charts/?to=2026-11-19").content.decode()
    assert "Until 19 Nov 2026" in html
    assert 'name="to" value="2026-11-19"' in html
