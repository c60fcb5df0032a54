"""The budget that an approval raises is the one that its dialog showed and the only one in the way,
or nothing is raised."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest

from dashboard.models import AuditAction, AuditEvent, Budget
from dashboard.shared.charging import request_approval
from proxyapi import tasks
from proxyapi.models import ChargeState
from tests.dashboard.budgets.conftest import NOON, drawn_form_fields, make_intent

OTHER = "The budget that blocks this request has changed."


@pytest.fixture(autouse=True)
def _now(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: None)


@pytest.fixture
def two_budgets(priya, budget):
    """The team's of 10,000, found first by a page, and Priya's of 2,500, whose key comes first."""
    low, high = sorted((uuid.uuid4(), uuid.uuid4()))
    return budget(None, 10_000, pk=high), budget(priya, 2500, pk=low)


@pytest.fixture
def approval_request(two_budgets, mira, thea, priya, add_spending, video):
    """Priya's, for 106 credits; hers is 45 over, the team's has room for 106."""
    add_spending(priya, 2545)
    add_spending(mira, 7349)
    return request_approval(priya, make_intent(video(priya)))


@pytest.fixture
def both_exceeded(approval_request, luca, add_spending):
    """The same, with the team's 44 over as well."""
    add_spending(luca, 150)
    return approval_request


def url(approval):
    return f"/approval-requests/{approval.pk}/approvals/"


def limits():
    return {row.member.first_name if row.member else "": row.hard for row in Budget.objects.all()}


def test_of_one_that_is_over_only_that_one_is_shown_and_raised(approval_request, thea, client_of):
    browser = client_of(thea)
    dialog = browser.get(url(approval_request))
    assert "Left of Priya’s 2,500" in dialog.content.decode()
    assert "Left of the team’s" not in dialog.content.decode()
    browser.post(
        url(approval_request), {"how": "raise", "hard": "2651", "drawn": drawn_form_fields(dialog)}
    )
    assert limits() == {"": 10_000, "Priya": 2651}


def test_of_two_that_are_over_both_are_shown_and_it_goes_this_once(
    both_exceeded, thea, two_budgets, client_of
):
    browser = client_of(thea)
    dialog = browser.get(url(both_exceeded))
    seen = dialog.content.decode()
    for words in ("Left of the team’s 10,000", "Left of Priya’s 2,500", "more than one budget"):
        assert words in seen
    assert "Requires at least" not in seen
    assert browser.post(url(both_exceeded), {"drawn": drawn_form_fields(dialog)}).url == "/budgets/"
    assert limits() == {"": 10_000, "Priya": 2500}
    event = AuditEvent.objects.get(action=AuditAction.APPROVAL_REQUEST_APPROVE)
    tightest, other = event.details["exceeded"]
    assert (tightest["budget"], tightest["used_after"]) == (str(two_budgets[1].pk), "2651")
    assert (other["budget"], other["used_before"]) == (str(two_budgets[0].pk), "10044")


def test_of_two_that_are_over_none_is_raised(both_exceeded, thea, client_of):
    """A raise of one would leave it above the other."""
    browser = client_of(thea)
    fields = {
        "how": "raise",
        "hard": "9999",
        "drawn": drawn_form_fields(browser.get(url(both_exceeded))),
    }
    answer = browser.post(url(both_exceeded), fields)
    assert answer.status_code == 422
    assert "It exceeds more than one budget. Raise these first" in answer.content.decode()
    assert limits() == {"": 10_000, "Priya": 2500}
    both_exceeded.refresh_from_db()
    assert both_exceeded.is_pending
    assert both_exceeded.charge.state == ChargeState.DRAFT


@pytest.mark.parametrize("how", ["raise", "once"])
def test_another_one_in_the_way_by_now_is_shown_before_anything_is_sent(
    approval_request, thea, luca, two_budgets, add_spending, client_of, how
):
    browser = client_of(thea)
    fields = {
        "how": how,
        "hard": "2651",
        "drawn": drawn_form_fields(browser.get(url(approval_request))),
    }
    Budget.objects.filter(pk=two_budgets[1].pk).update(hard=20_000)
    add_spending(luca, 151)
    answer = browser.post(url(approval_request), fields)
    seen = answer.content.decode()
    assert answer.status_code == 422
    assert OTHER in seen
    assert "Left of the team’s 10,000" in seen
    assert f'value="{how}" checked' in seen
    assert 'value="10151"' in seen
    assert 'value="2651"' not in seen
    approval_request.refresh_from_db()
    assert approval_request.is_pending
    fields = {"how": how, "hard": "10151", "drawn": drawn_form_fields(answer)}
    assert browser.post(url(approval_request), fields).url == "/budgets/"
    assert limits() == {"": 10_151 if how == "raise" else 10_000, "Priya": 20_000}


def test_a_second_one_in_the_way_by_now_is_shown_before_it_goes_above_both(
    approval_request, thea, luca, add_spending, client_of
):
    browser = client_of(thea)
    fields = {"how": "once", "drawn": drawn_form_fields(browser.get(url(approval_request)))}
    add_spending(luca, 150)
    answer = browser.post(url(approval_request), fields)
    assert OTHER in answer.content.decode()
    assert "Left of the team’s 10,000" in answer.content.decode()
    assert (
        browser.post(url(approval_request), {**fields, "drawn": drawn_form_fields(answer)}).url
        == "/budgets/"
    )


def test_a_limit_that_somebody_changed_meanwhile_is_shown_and_what_was_typed_stays(
    approval_request, thea, two_budgets, client_of
):
    browser = client_of(thea)
    fields = {
        "how": "raise",
        "hard": "4000",
        "drawn": drawn_form_fields(browser.get(url(approval_request))),
    }
    Budget.objects.filter(pk=two_budgets[0].pk).update(hard=20_000)
    Budget.objects.filter(pk=two_budgets[1].pk).update(hard=2600)
    answer = browser.post(url(approval_request), fields)
    assert OTHER in answer.content.decode()
    assert 'value="4000"' in answer.content.decode()
    assert limits() == {"": 20_000, "Priya": 2600}
    browser.post(url(approval_request), {**fields, "drawn": drawn_form_fields(answer)})
    assert limits() == {"": 20_000, "Priya": 4000}


@pytest.mark.parametrize("named", ["", "nonsense"])
def test_a_form_that_names_no_budget_raises_none(approval_request, thea, client_of, named):
    answer = client_of(thea).post(
        url(approval_request), {"how": "raise", "hard": "20000", "drawn": named}
    )
    assert OTHER in answer.content.decode()
    assert limits() == {"": 10_000, "Priya": 2500}


def test_with_credits_available_by_now_it_is_sent_and_no_limit_is_raised(
    approval_request, thea, client_of
):
    browser = client_of(thea)
    before = drawn_form_fields(browser.get(url(approval_request)))
    Budget.objects.update(hard=Decimal(20_000))
    answer = browser.post(url(approval_request), {"how": "raise", "hard": "30000", "drawn": before})
    assert OTHER in answer.content.decode()
    assert limits() == {"": 20_000, "Priya": 20_000}
    assert (
        browser.post(url(approval_request), {"drawn": drawn_form_fields(answer)}).url == "/budgets/"
    )
    approval_request.refresh_from_db()
    assert approval_request.decision == "approved"
