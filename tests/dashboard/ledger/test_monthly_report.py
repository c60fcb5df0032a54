"""The monthly report: its figures are those of the pages, each row leads to its entries, and each
section adds up to what was spent."""

from __future__ import annotations

import csv
import io
import random
from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.demo.large_team.build import SeedSize, seed_team
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.monthly_report import MonthlyReport, load_monthly_report
from dashboard.ledger.queries.report_csv import render_report_csv
from dashboard.ledger.queries.scope import load_ledger_accounts, load_ledger_scope
from dashboard.ledger.queries.totals import CreditTotals, load_ledger_totals
from dashboard.models import AuditAction, AuditEvent, Label, Team
from dashboard.overview.queries.sums import load_overview_sums, window_for_span
from dashboard.shared.budget_usage import load_month_spend
from proxyapi.models import Account, Charge, Job
from tests.dashboard.ledger.conftest import NOON, days_ago, mark_fully_read, matched
from tests.factories import AccountFactory, TokenFactory

pytestmark = pytest.mark.postgresql

URL = "/ledger/report/"
MOST_QUERIES = 20  # eight of the report, three of the page, those of the frame
IN_OCTOBER = datetime(2026, 10, 8, 9, 0, tzinfo=UTC)


def monthly_report(team: Team, month: str = "2026-11") -> MonthlyReport:
    accounts = tuple(load_ledger_accounts(team.tenant))
    return load_monthly_report(team, accounts, datetime.fromisoformat(f"{month}-01").date())


def ledger_totals(team: Team, url: str) -> CreditTotals:
    """What the ledger page shows at this address."""
    filters = parse_ledger_filters(dict(parse_qsl(urlsplit(url).query)))
    return load_ledger_totals(load_ledger_scope(team, filters)).total


def amounts(rows) -> dict[str, tuple[int, int, int]]:
    return {row.name: (int(row.amount), int(row.refunded), int(row.before)) for row in rows}


def label_video(name: str, job: Job, by) -> None:
    label, _ = Label.objects.get_or_create(
        team=by.team, name=name, defaults={"created_by": by.user}
    )
    label.jobs.add(job)


@pytest.fixture
def two_months(add_entry, account, luca, thea):
    """Priya and Luca in November and October, a refund, spend outside the portal and a top-up."""
    luca_token = TokenFactory.create(account=account, owner=luca.user)
    sea = add_entry("-96")
    add_entry("-40", by=None, **matched(luca_token, "faceless.render"))
    add_entry("+96", by=None, **{**refund_of(sea), "happened_at": days_ago(hours=1)})
    both = add_entry("-30")
    add_entry("-12", by=None)
    add_entry("+2000", by=None)
    add_entry("-60", happened_at=IN_OCTOBER)
    add_entry("-7", happened_at=datetime(2026, 10, 25, 9, 0, tzinfo=UTC))
    label_video("Sea", sea.job, thea)
    label_video("Sea", both.job, thea)
    label_video("School", both.job, thea)
    return thea


def refund_of(entry):
    names = ("charge", "member", "job", "operation", "confidence", "reason")
    return {name: getattr(entry, name) for name in names}


def test_figures_are_compared_with_the_same_days_of_the_month_before(two_months):
    report = monthly_report(two_months.team)
    assert report.so_far
    assert report.before.label == "1 to 20 October 2026"
    shown = {key: (int(one.amount), int(one.before)) for key, one in report.figures.items()}
    assert shown == {
        "spent": (178, 60),
        "refunded": (96, 0),
        "outside": (12, 0),
        "added": (2000, 0),
        "net": (1918, -60),
    }
    assert report.figures["spent"].change_text == "+118 (+196.7 %)"
    assert report.figures["outside"].change_text == "+12"


def test_a_month_that_ended_is_compared_with_the_whole_month_before(two_months, time_machine):
    time_machine.move_to(datetime(2026, 12, 2, 12, 0, tzinfo=UTC))
    report = monthly_report(two_months.team)
    assert not report.so_far
    assert report.before.label == "October 2026"
    assert report.figures["spent"].before == 67


def test_members_and_outside_add_up_to_what_was_spent(two_months):
    report = monthly_report(two_months.team)
    assert amounts(report.members) == {
        "Priya Raman": (126, 96, 60),
        "Luca Moretti": (40, 0, 0),
        "Outside the portal": (12, 0, 0),
    }


def test_a_video_with_two_labels_counts_under_both_and_the_sum_is_right(two_months):
    report = monthly_report(two_months.team)
    assert amounts(report.labels) == {
        "Sea": (126, 96, 0),
        "School": (30, 0, 0),
        "No label": (40, 0, 60),
        "Counted under several labels": (-30, 0, 0),
        "Outside the portal": (12, 0, 0),
    }


def test_what_was_spent_is_the_same_on_the_overview_and_the_members_page(two_months, account):
    Charge.objects.filter(entries__amount=-40).update(cost=40)
    Charge.objects.filter(entries__amount=-30).update(cost=30)
    Charge.objects.filter(entries__amount=-96).update(refunded_at=timezone.now())
    Charge.objects.filter(entries__happened_at__lt=days_ago(days=20)).update(created_at=IN_OCTOBER)
    team, report = two_months.team, monthly_report(two_months.team)
    window = window_for_span("month", team.tenant.zone, NOON)
    overview = load_overview_sums(team, [account.pk], window)
    assert report.figures["spent"].amount == overview.spent_between(window.first, window.today)
    assert report.figures["outside"].amount == overview.outside_in_window
    ours = {row.name: row for row in report.members if not row.kind}
    assert {one.name: one.spent for one in overview.members} == {
        name: row.amount for name, row in ours.items()
    }
    spent = load_month_spend(team, NOON)
    assert sorted(spent.values()) == sorted(row.after_refunds for row in ours.values())


@pytest.mark.parametrize("month", ["2026-11", "2026-10", "2026-09"])
def test_each_row_of_a_large_team_leads_to_entries_of_its_sum(month, mira):
    team = seed_team(SeedSize(entries=400, members=8, jobs=40, days=120), mira.user, seed=3)
    owner, pick = team.memberships.get(user=mira.user), random.Random(5)  # noqa: S311 - test rows
    for name in ("Sea", "School", "News"):
        for job in pick.sample(list(Job.objects.filter(tenant=team.tenant)), 12):
            label_video(name, job, owner)
    report = monthly_report(team, month)
    assert any(not row.kind for row in report.labels)
    for row in (*report.members, *report.labels, *report.figures.values()):
        if row.url:
            shown = ledger_totals(team, row.url)
            expected = shown.received if "direction=in" in row.url else shown.spent
            assert row.amount == (shown.net if row.name == "Net" else expected), row
            if hasattr(row, "refunded"):
                assert row.refunded == shown.received, row
    whole = ledger_totals(team, f"/ledger/?period={month}")
    assert whole.spent > 0
    for rows in (report.members, report.labels):
        assert sum(row.amount for row in rows) == whole.spent == report.total.amount
        assert sum(row.before for row in rows) == report.total.before
        assert sum(row.refunded for row in rows) == report.figures["refunded"].amount
    added = report.figures["added"].amount + report.figures["refunded"].amount
    assert added == whole.received
    assert report.figures["outside"].amount == whole.outside
    assert report.figures["net"].amount == whole.net


def test_months_are_those_of_the_teams_zone(add_entry, northlight, thea):
    northlight.tenant.time_zone = "Asia/Tokyo"
    northlight.tenant.save()
    add_entry("-5", happened_at=datetime(2026, 10, 31, 15, 30, tzinfo=UTC))
    assert monthly_report(thea.team).figures["spent"].amount == 5


def test_nothing_of_another_team_is_counted(two_months, otto):
    elsewhere = mark_fully_read(AccountFactory.create(tenant=otto.team.tenant))
    report = monthly_report(otto.team)
    assert elsewhere.entries.count() == 0
    assert report.is_empty
    assert amounts(report.labels) == {"No label": (0, 0, 0)}


def test_credits_are_shown_in_money_with_a_price(two_months, account, client_of):
    Account.objects.filter(pk=account.pk).update(price_per_credit="0.5", price_currency="EUR")
    html = client_of(two_months).get(f"{URL}?month=2026-11").content.decode()
    assert "≈ €89.00" in html  # spent
    assert "≈ €15.00" in html  # what Priya spent, after refunds


def test_the_newest_month_that_ended_is_shown_first(two_months, client_of):
    html = client_of(two_months).get(URL).content.decode()
    assert "October 2026, compared with September 2026." in html
    assert '<option value="2026-11">November 2026 so far</option>' in html
    assert "2026-09" not in html


@pytest.mark.parametrize("month", ["2026-12", "2026-09", "2026-13", "now"])
def test_a_month_without_a_report_says_so(month, two_months, client_of):
    for path in (URL, f"{URL}export/"):
        answer = client_of(two_months).get(path, {"month": month})
        assert answer.status_code == 404
        assert "There is no report for this month" in answer.content.decode()


def test_a_ledger_without_entries_says_what_will_be_here(account, thea, client_of):
    html = client_of(thea).get(URL).content.decode()
    assert "No entries yet" in html
    assert "Export CSV" not in html


def test_a_team_without_an_account_is_led_to_its_first_token(otto, client_of):
    assert "Add a token" in client_of(otto).get(URL).content.decode()


def test_without_a_label_the_page_says_what_labels_are_for(add_entry, thea, client_of):
    add_entry("-96")
    assert "one for each cost centre" in client_of(thea).get(URL).content.decode()


def test_the_ledger_leads_to_the_report(two_months, client_of):
    assert f'href="{URL}"' in client_of(two_months).get("/ledger/").content.decode()


def test_the_page_takes_as_many_queries_with_many_members(two_months, client_of, account):
    browser = client_of(two_months)
    browser.get(URL)
    with CaptureQueriesContext(connection) as few:
        browser.get(f"{URL}?month=2026-11")
    assert len(few) <= MOST_QUERIES


# The file -----------------------------------------------------------------------------------------
def read_csv(report: MonthlyReport) -> list[dict[str, str]]:
    text = render_report_csv(report).removeprefix("\ufeff")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_file_has_the_numbers_of_the_page(two_months, client_of):
    answer = client_of(two_months).get(f"{URL}export/?month=2026-11")
    assert answer["Content-Disposition"] == 'attachment; filename="report-2026-11-so-far.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    sums = {(row["section"], row["name"]): row for row in rows}
    priya = sums["member", "Priya Raman"]
    assert priya["member_email"] == "priya@northlight.example"
    assert (priya["credits"], priya["refunded"], priya["after_refunds"]) == ("126", "96", "30")
    assert (priya["month_before"], priya["change"], priya["change_percent"]) == (
        "60",
        "66",
        "+110",
    )
    assert priya["period"] == "2026-11-01..2026-11-20"
    assert priya["compared_with"] == "2026-10-01..2026-10-20"
    for section in ("member", "label"):
        whole = sum(Decimal(row["credits"]) for row in rows if row["section"] == section)
        assert whole == Decimal(sums["total", "Spent"]["credits"]) == 178
    event = AuditEvent.objects.filter(action=AuditAction.LEDGER_EXPORT).get()
    assert event.target == "report-2026-11-so-far.csv"


def test_the_file_has_money_that_is_not_rounded(two_months, account):
    price = {"price_per_credit": "0.0125", "price_currency": "EUR"}
    Account.objects.filter(pk=account.pk).update(**price)
    rows = read_csv(monthly_report(two_months.team))
    priya = next(row for row in rows if row["name"] == "Priya Raman")
    assert priya["price_per_credit"] == "0.0125"
    assert (priya["estimated_amount"], priya["estimated_after_refunds"]) == ("1.575", "0.375")
    assert priya["currency"] == "EUR"


def test_no_cell_is_a_formula(two_months, priya):
    priya.user.name = "=1+2"
    priya.user.save()
    Label.objects.filter(name="Sea").update(name="@SUM(A1)")
    names = {row["name"] for row in read_csv(monthly_report(two_months.team))}
    assert {"'=1+2", "'@SUM(A1)"} <= names
