"""The page of the budgets: who sees which, and who may change them."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from dashboard.budgets.actions import change_budget
from dashboard.models import AuditEvent, Budget, BudgetPeriod
from proxyapi.models import Account
from proxyapi.refusals import StaleData
from tests.cases import each_case
from tests.dashboard.budgets.conftest import NOON, drawn_form_fields
from tests.factories import AccountFactory

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOON, tick=False)


def page(browser, url="/budgets/", **headers):
    return html(browser.get(url, headers=headers))


def html(answer):
    return answer.content.decode()


def form(**fields):
    return {"who": "team", "period": "month", "hard": "", "soft": "", **fields}


def test_without_budgets_the_treasurer_can_add_one_and_the_others_see_why_not(
    thea, priya, client_of
):
    assert "Add budget" in page(client_of(thea))
    told = page(client_of(priya))
    assert "You have no budget" in told
    assert "Add budget" not in told


def test_members_see_their_own_and_the_teams_the_treasurer_all(
    thea, priya, luca, budget, client_of
):
    mine, theirs, ours = budget(priya, 2500), budget(luca, 700), budget(None, 9000)
    seen = page(client_of(priya))
    assert [f"budget-{one.pk}" in seen for one in (mine, theirs, ours)] == [True, False, True]
    assert "the limits of" not in seen
    assert "Add budget" not in seen
    seen = page(client_of(thea))
    assert "Add budget" in seen
    assert all(f"budget-{one.pk}" in seen for one in (mine, theirs, ours))
    assert seen.count("the limits of") == 3


def test_a_meter_shows_spent_held_and_the_alert(priya, budget, add_spending, client_of):
    budget(priya, 1000, soft=800)
    add_spending(priya, 650)
    add_spending(priya, 100, state="held")
    seen = page(client_of(priya))
    assert 'aria-label="650 spent and 100 held, of 1,000, alert at 800"' in seen
    assert '<rect class="meter__spent" x="65%" width="10%"' in seen
    assert '<rect class="meter__alert" x="80%"' in seen
    assert "This month, until 1 Dec" in seen
    assert "Counts the portal’s charges, without refunded ones." in seen
    assert "75 %" in seen


@pytest.mark.parametrize(
    ("taken", "state"), [(799, ""), (800, "late"), (999, "late"), (1000, "failed")]
)
def test_amber_past_the_alert_and_red_at_the_limit(
    priya, budget, add_spending, client_of, taken, state
):
    row = budget(priya, 1000, soft=800)
    add_spending(priya, taken)
    found = re.search(rf'<tr id="budget-{row.pk}"([^>]*)>', page(client_of(priya)))
    assert found
    assert found[1].strip() == (f'data-state="{state}"' if state else "")


def test_a_budget_that_only_warns_says_so(priya, budget, add_spending, client_of):
    budget(priya, None, soft=800, period=BudgetPeriod.WEEK)
    add_spending(priya, 900)
    seen = page(client_of(priya))
    assert "no limit" in seen
    assert "Alert at 800" in seen


def test_the_part_fetches_itself_without_the_rest(priya, budget, client_of):
    budget(priya, 1000)
    part = page(client_of(priya), **HTMX)
    assert part.lstrip().startswith('<div class="cols"')
    assert "<html" not in part


def test_a_treasurer_adds_one_for_a_member(thea, priya, client_of):
    answer = client_of(thea).post(
        "/budgets/new/", form(who=str(priya.user_id), hard="2500", soft="2000")
    )
    assert answer.url == "/budgets/"
    row = Budget.objects.get()
    assert (row.member, row.hard, row.soft, row.period) == (priya.user, 2500, 2000, "month")
    event = AuditEvent.objects.get()
    assert (event.action, event.after) == (
        "budget.add",
        {"soft": "2000", "hard": "2500"},
    )


@each_case(
    "fields, sentence",
    [
        ({}, "Set at least one of the two."),
        ({"hard": "10", "soft": "0"}, "Enter a whole number of credits from 1 to"),
        ({"hard": "0", "soft": "5"}, "It must not be below the alert: 5."),
        ({"hard": "-5"}, "Enter a whole number of credits from 0 to"),
        ({"hard": "2.5"}, "Enter a whole number of credits"),
        ({"hard": "1e3"}, "Enter a whole number of credits"),
        ({"hard": "1,5"}, "Enter a whole number of credits"),
        ({"hard": "NaN"}, "Enter a whole number of credits"),
        ({"hard": "many"}, "Enter a whole number of credits"),
        ({"hard": "10", "soft": "11"}, "It must not be below the alert: 11."),
        ({"hard": "10", "who": "999999"}, "Choose one from the list."),
        ({"hard": "10", "period": "year"}, "Choose one from the list."),
    ],
)
def test_only_legal_limits_are_taken(thea, client_of, fields, sentence):
    answer = client_of(thea).post("/budgets/new/", form(**fields))
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not Budget.objects.exists()


def test_an_existing_budget_is_not_added_again_but_an_ended_one_is_reactivated(
    thea, budget, client_of
):
    row = budget(None, 100)
    browser = client_of(thea)
    answer = browser.post("/budgets/new/", form(hard="50"))
    assert "This budget already exists." in answer.content.decode()
    browser.post(f"/budgets/{row.pk}/removals/")
    assert not Budget.objects.get().active
    browser.post("/budgets/new/", form(hard="50"))
    assert Budget.objects.get().active
    assert Budget.objects.get().hard == 50


def test_a_change_says_what_it_was_before(thea, priya, budget, client_of):
    row, browser = budget(priya, 2500), client_of(thea)
    limits = {"hard": "3,000", "soft": "2 000", "drawn": "/2500"}
    assert browser.post(f"/budgets/{row.pk}/limits/", limits).url == "/budgets/"
    assert (
        "changed Priya Raman’s monthly budget: 3,000 cr at most and an alert at 2,000 (before: "
        "2,500 cr at most)." in page(browser)
    )


def test_two_who_change_it_at_once_do_not_overwrite_each_other(thea, priya, budget, client_of):
    row = budget(priya, Decimal(2500))
    answer = client_of(thea).post(
        f"/budgets/{row.pk}/limits/", {"hard": "3000", "soft": "", "drawn": "/2400"}
    )
    assert answer.status_code == 422
    page = html(answer)
    assert "This budget was changed in another window or by somebody else." in page
    assert "It is now: 2,500 cr at most." in page
    row.refresh_from_db()
    assert row.hard == 2500


def test_after_looking_at_somebody_elses_change_a_second_save_means_it(thea, budget, client_of):
    row, browser = budget(None, 2500, soft=2000), client_of(thea)
    typed = {"hard": "3000", "soft": "2800"}
    answer = browser.post(f"/budgets/{row.pk}/limits/", {**typed, "drawn": "/2400"})
    assert "It is now: 2,500 cr at most and an alert at 2,000. Save again" in html(answer)
    assert 'value="3000"' in html(answer)
    assert 'value="2800"' in html(answer)
    again = {**typed, "drawn": drawn_form_fields(answer)}
    assert browser.post(f"/budgets/{row.pk}/limits/", again).url == "/budgets/"
    row.refresh_from_db()
    assert (row.hard, row.soft) == (3000, 2800)


def test_a_budget_that_ended_meanwhile_is_not_changed_silently(thea, budget):
    row = budget(None, 2500, active=False)
    with pytest.raises(StaleData, match="This budget was removed in another window"):
        change_budget(by=thea, budget=row, soft=None, hard=Decimal(3000))


def test_without_script_a_question_is_a_page(thea, budget, client_of):
    row, browser = budget(None, 100), client_of(thea)
    for path in ("new", f"{row.pk}/limits"):
        seen = page(browser, f"/budgets/{path}/")
        assert re.search(r"<dialog[^>]* open\s", seen)
        assert "<html" in seen
        part = page(browser, f"/budgets/{path}/", **HTMX)
        assert part.lstrip().startswith("<dialog")


def test_those_without_a_budget_are_named_to_the_treasurer(thea, priya, luca, budget, client_of):
    budget(luca, 100)
    assert "Without a budget of their own: Priya." in page(client_of(thea))
    assert "Without a budget" not in page(client_of(priya))


def test_the_number_of_queries_does_not_grow(
    mira, thea, priya, luca, budget, add_spending, client_of, django_assert_max_num_queries
):
    for member in (None, mira, priya, luca):
        for period in BudgetPeriod:
            budget(member, 100, period=period)
            if member:
                add_spending(member, 10)
    browser = client_of(thea)
    page(browser)
    with django_assert_max_num_queries(14):
        page(browser, **HTMX)


def test_limits_and_use_are_shown_in_money_if_all_accounts_have_one_price(
    priya, budget, account, add_spending, client_of
):
    budget(priya, 1000, soft=800)
    budget(None, 0)
    add_spending(priya, 600)
    assert "≈" not in page(client_of(priya))
    Account.objects.update(price_per_credit=Decimal("0.0125"), price_currency="EUR")
    for headers in ({}, HTMX):
        seen = page(client_of(priya), **headers)
        assert "≈ €7.50 of ≈ €12.50, alert at ≈ €10.00" in seen
        assert "no charges allowed" in seen.lower()
    AccountFactory.create(tenant=account.tenant)
    assert "≈" not in page(client_of(priya))
