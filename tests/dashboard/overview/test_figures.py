"""Sums of days, weeks and months in the team's time zone, and the balance walked back from them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from dashboard.models import Team
from dashboard.overview.queries.credits import build_balance_chart, build_balance_days
from dashboard.overview.queries.page import build_credits_part
from dashboard.overview.queries.spend import build_spend_comparisons, build_spend_overview, ordinal
from dashboard.overview.queries.sums import (
    first_of_previous_month,
    load_overview_sums,
    same_day_previous_month,
    week_start,
    window_for_span,
)
from dashboard.shared.team_balance import load_balance_and_counts
from proxyapi.models import LedgerMirror, Token, TokenState
from tests.factories import AccountFactory, JobFactory, MembershipFactory, TokenFactory

pytestmark = pytest.mark.postgresql

FRIDAY = date(2026, 11, 20)


def at(day: date, hour: int = 12) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC)


def move_to_zone(team: Team, zone: str) -> None:
    team.tenant.time_zone = zone
    team.tenant.save()


EVENING = at(FRIDAY, 18)


@pytest.fixture
def figures_at(northlight, account):
    """The sums of the ledger as of a moment."""

    def tell(now: datetime = EVENING, span: str = ""):
        return load_overview_sums(
            northlight, [account.pk], window_for_span(span, northlight.tenant.zone, now)
        )

    return tell


def test_today_this_week_and_this_month_stand_beside_the_last_ones(add_entry, figures_at):
    for day, cost in (
        (FRIDAY, 1),
        (date(2026, 11, 19), 10),
        (date(2026, 11, 13), 100),
        (date(2026, 11, 14), 1_000),
        (date(2026, 10, 20), 10_000),
        (date(2026, 10, 31), 100_000),
    ):
        add_entry(-cost, at(day))
    today, week, month = build_spend_comparisons(figures_at())
    assert (today.spent, today.previous) == (1, "yesterday 10")
    assert week.spent == 11
    assert week.previous == "last week 100 by Friday, 1,100 in total"
    assert month.spent == 1_111
    assert month.previous == "October 10,000 by the 20th, 110,000 in total"


def test_pitfall_68_a_day_is_the_teams_own(northlight, add_entry, figures_at):
    move_to_zone(northlight, "Pacific/Auckland")
    add_entry(-5, datetime(2026, 11, 19, 10, 59, tzinfo=UTC))  # 23:59 there
    add_entry(-7, datetime(2026, 11, 19, 11, 0, tzinfo=UTC))  # midnight there
    today, *_ = build_spend_comparisons(figures_at(datetime(2026, 11, 20, 1, tzinfo=UTC)))
    assert (today.spent, today.previous) == (7, "yesterday 5")


@pytest.mark.parametrize(
    ("day", "same"),
    [
        (date(2026, 3, 31), date(2026, 2, 28)),
        (date(2028, 3, 30), date(2028, 2, 29)),
        (date(2026, 1, 1), date(2025, 12, 1)),
    ],
)
def test_the_same_day_of_a_shorter_month_is_its_last(day, same):
    assert same_day_previous_month(day) == same
    assert first_of_previous_month(day) == same.replace(day=1)


def test_a_week_starts_on_monday():
    assert week_start(FRIDAY) == date(2026, 11, 16)
    assert week_start(date(2026, 11, 16)) == date(2026, 11, 16)


def test_a_window_over_a_changed_clock_has_thirty_days():
    now = datetime(2026, 11, 1, 3, tzinfo=UTC)
    window = window_for_span("", ZoneInfo("America/New_York"), now)
    assert (len(window.days), window.today) == (30, date(2026, 10, 31))


@pytest.mark.parametrize(("number", "words"), [(1, "1st"), (2, "2nd"), (11, "11th"), (23, "23rd")])
def test_a_day_of_the_month_has_its_ending(number, words):
    assert ordinal(number) == words


def test_the_balance_is_walked_back_through_every_entry(add_entry, figures_at):
    add_entry(-100, at(date(2026, 11, 10)))
    add_entry(2_000, at(date(2026, 11, 12)), label="Auto top-up")
    add_entry(-50, at(FRIDAY))
    line = build_balance_chart(build_balance_days(Decimal(2_050), figures_at(), is_complete=True))
    assert line is not None
    assert "from 200 to 2,050 credits" in line.sentence
    assert "Credits added on 12 Nov." in line.sentence
    assert [(mark.kind, mark.label) for mark in line.marks] == [("in", "+2,000"), ("now", "2,050")]
    assert line.marks[0].title == "12 Nov: +2,000 credits, Auto top-up"
    assert line.stops[-1].text.endswith(": 2,050 cr at the end of the day. 50 went.")


def test_the_balance_counts_what_came_since_the_last_checkpoint(add_entry, token, mira):
    add_entry(-100, timezone.now() - timedelta(days=1))
    add_entry(500.25)
    LedgerMirror.objects.update(balance_exact=1000, checkpoint_high=1)
    told = build_credits_part(mira, "").credits
    assert told is not None
    yesterday, today = told.days
    assert (yesterday.opening_balance, yesterday.closing_balance, today.closing_balance) == (
        1100,
        1000,
        Decimal("1500.25"),
    )


def test_a_refund_too_small_to_see_is_marked_and_not_written_out(add_entry, figures_at):
    add_entry(2_000, at(date(2026, 11, 6)), label="")
    add_entry(5, at(date(2026, 11, 16)), label="")
    line = build_balance_chart(build_balance_days(Decimal(2_050), figures_at(), is_complete=True))
    assert line is not None
    marks = {mark.title: mark.label for mark in line.marks}
    assert marks["16 Nov: +5 credits"] == ""
    assert marks["6 Nov: +2,000 credits"] == "+2,000"


def test_a_ledger_that_is_not_whole_is_drawn_from_its_first_whole_day(add_entry, figures_at):
    add_entry(-100, at(date(2026, 11, 10)))
    add_entry(-50, at(FRIDAY))
    line = build_balance_chart(build_balance_days(Decimal(500), figures_at(), is_complete=False))
    assert line is not None
    assert "Balance from Wed 11 Nov" in line.sentence


def test_without_entries_there_is_no_line(ledger, figures_at):
    assert (
        build_balance_chart(build_balance_days(Decimal(500), figures_at(), is_complete=True))
        is None
    )


def test_members_have_their_colours_and_outside_has_none(
    add_entry, make_charge, priya, luca, figures_at
):
    now = timezone.now()
    add_entry(-96, now, charge=make_charge(96, priya))
    add_entry(-40, now, charge=make_charge(40, luca))
    add_entry(-8, now)
    spend = build_spend_overview(figures_at(now))
    assert [(one.name, one.tone, one.spent) for one in spend.members] == [
        ("Priya Raman", "m1", 96),
        ("Luca Moretti", "m2", 40),
        ("Outside the portal", "outside", 8),
    ]
    assert [one.label for one in spend.bars.series] == ["Priya", "Luca", "outside the portal"]
    assert spend.total == spend.bars.total == 144
    assert [(one.name, one.count) for one in spend.features] == [
        ("Render", 2),
        ("Outside the portal", 1),
    ]


@pytest.mark.parametrize("blank", ["", "   "])
def test_who_has_no_name_goes_by_the_address(blank, add_entry, make_charge, priya, figures_at):
    type(priya.user).objects.filter(pk=priya.user_id).update(name=blank)
    now = timezone.now()
    add_entry(-96, now, charge=make_charge(96, priya))
    spend = build_spend_overview(figures_at(now))
    assert [one.label for one in spend.bars.series] == ["priya"]
    assert [one.name for one in spend.members] == [priya.user.email]


def test_a_refund_is_no_spend_and_no_feature(add_entry, make_charge, priya, figures_at):
    now = timezone.now()
    charge = make_charge(98, priya)
    add_entry(-98, now, charge=charge)
    add_entry(98, now, charge=charge)
    spend = build_spend_overview(figures_at(now))
    assert spend.total == 98
    assert [one.spent for one in spend.features] == [98]


def test_of_many_members_the_first_have_a_bar_of_their_own(
    add_entry, make_charge, figures_at, northlight
):
    now = timezone.now()
    for cost in range(1, 13):
        add_entry(-cost, now, charge=make_charge(cost, MembershipFactory.create(team=northlight)))
    spend = build_spend_overview(figures_at(now))
    # Priya, whose token it is, joined first and spent nothing.
    assert len(spend.bars.series) == 5
    assert spend.bars.series[0].label == "others"
    assert sum(one.spent for one in spend.members) == spend.total == 78
    assert spend.members[-1].name == "4 others"


def test_every_amount_is_exact_on_both_databases(add_entry, figures_at):
    now = timezone.now()
    for _ in range(10):
        add_entry("-0.1", now)
    assert build_spend_overview(figures_at(now)).total == Decimal(1)


def test_an_hour_more_or_less_moves_no_day(northlight, add_entry, figures_at):
    move_to_zone(northlight, "Europe/Berlin")
    night = datetime(2026, 10, 25, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    for hours in range(0, 25 * 3600, 1800):
        add_entry(-1, night.astimezone(UTC) + timedelta(seconds=hours))
    sums = figures_at(at(FRIDAY))
    assert sums.spent_between(date(2026, 10, 25), date(2026, 10, 25)) == 50


def test_what_an_account_holds_that_no_token_opens_is_not_taken_off_the_others(
    account, token, mira, priya, make_charge
):
    make_charge(member=priya, state="unknown", hold=Decimal(700))
    other = AccountFactory.create(tenant=account.tenant, balance=Decimal(1000))
    TokenFactory.create(account=other, owner=mira.user)
    held = TokenFactory.create(account=other, owner=priya.user)
    job = JobFactory.create(account=other, token=held)
    make_charge(member=priya, state="held", hold=Decimal(90), job=job)
    Token.objects.filter(account=account).update(state=TokenState.REMOVED)
    team_balance = load_balance_and_counts(account.tenant)[0]
    assert (team_balance.balance, team_balance.held, team_balance.free) == (1000, 90, 910)
