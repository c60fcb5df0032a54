"""A limit of 0: nothing of the member is sent without an approval, and no page shows a problem."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind, AlertRule, AuditAction, AuditEvent, Budget
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.budget_usage import BudgetExceeded
from dashboard.shared.charging import charge_within_budget, request_approval
from dashboard.studio.queries.home import load_budget_notice
from proxyapi import tasks
from proxyapi.models import Charge, ChargeState
from tests.dashboard.budgets.conftest import NOON, drawn_form_fields, make_intent


@pytest.fixture(autouse=True)
def _now(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: None)


@pytest.fixture
def blocked(priya, budget):
    return budget(priya, 0)


@pytest.fixture
def approval_request(blocked, thea, priya, video):
    return request_approval(priya, make_intent(video(priya)))


def visible_text(answer):
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_a_treasurer_blocks_a_member(thea, priya, client_of):
    browser = client_of(thea)
    fields = {"who": str(priya.user_id), "period": "month", "hard": "0", "soft": ""}
    assert browser.post("/budgets/new/", fields).url == "/budgets/"
    assert Budget.objects.get().hard == 0
    seen = visible_text(browser.get("/budgets/"))
    assert "No charges allowed" in seen
    assert "set Priya Raman’s monthly budget: no charges allowed." in seen
    assert "All within limits." in seen


@pytest.mark.parametrize(("spent", "width"), [(0, "0%"), (90, "100%")])
def test_the_meter_shows_what_was_used_before_the_block(
    blocked, priya, thea, add_spending, client_of, spent, width
):
    if spent:
        add_spending(priya, spent)
    html = client_of(thea).get("/budgets/").content.decode()
    row = html.split(f'id="budget-{blocked.pk}"')[1].split("</tr>")[0]
    assert f'<rect class="meter__spent" width="{width}"' in row
    assert "data-state" not in row
    assert " %<" not in row


def test_a_block_is_lifted_by_another_limit(blocked, thea, client_of):
    url, browser = f"/budgets/{blocked.pk}/limits/", client_of(thea)
    assert 'name="hard" value="0"' in browser.get(url).content.decode()
    browser.post(url, {"hard": "500", "soft": "", "drawn": "/0"})
    assert Budget.objects.get().hard == 500


def test_two_who_change_a_block_at_once_do_not_overwrite_each_other(blocked, thea, client_of):
    fields = {"hard": "500", "soft": "", "drawn": "/2500"}
    answer = client_of(thea).post(f"/budgets/{blocked.pk}/limits/", fields)
    assert "It is now: no charges allowed." in answer.content.decode()
    assert Budget.objects.get().hard == 0


@pytest.mark.parametrize(("whose", "words"), [("priya", "your"), (None, "the team’s")])
def test_a_charge_is_refused(whose, words, request, thea, priya, budget, video):
    budget(request.getfixturevalue(whose) if whose else None, 0)
    with pytest.raises(BudgetExceeded) as refused:
        charge_within_budget(priya, make_intent(video(priya)))
    assert refused.value.sentence == (
        f"Not sent. It needs 106 cr, and {words} budget allows no charges. Request approval. "
        "Thea can approve it."
    )
    assert not Charge.objects.exists()


def test_the_price_question_says_so_and_offers_a_request(blocked, thea, priya):
    impact = build_budget_impact(priya, Decimal(106))
    assert impact is not None
    assert (impact.left, impact.note) == (0, "Your budget allows no charges")
    assert impact.refusal.startswith("It needs 106 cr, and your budget allows no charges.")


def test_what_is_free_stays_allowed(blocked, priya, video):
    charge = charge_within_budget(priya, make_intent(video(priya), 0))
    assert charge.state == ChargeState.HELD


def test_the_studio_says_so_above_new_drafts(blocked, priya):
    notice = load_budget_notice(priya, Decimal(96))
    assert notice is not None
    assert notice.title == "Your budget allows no charges."
    assert "A render needs more budget" in notice.text


def test_a_request_is_approved_once_and_the_block_stays(approval_request, thea, client_of):
    url = f"/approval-requests/{approval_request.pk}/approvals/"
    browser = client_of(thea)
    assert "Their budget allows no charges." in visible_text(browser.get("/budgets/"))
    dialog = browser.get(url)
    assert "Priya’s budget allows no charges" in visible_text(dialog)
    browser.post(url, {"how": "once", "hard": "", "drawn": drawn_form_fields(dialog)})
    approval_request.charge.refresh_from_db()
    assert approval_request.charge.state == ChargeState.HELD
    assert Budget.objects.get().hard == 0
    decided = AuditEvent.objects.get(action=AuditAction.APPROVAL_REQUEST_APPROVE)
    assert [row["hard"] for row in decided.details["exceeded"]] == ["0"]


def test_a_request_raises_the_block(approval_request, thea, client_of):
    url = f"/approval-requests/{approval_request.pk}/approvals/"
    browser = client_of(thea)
    drawn = drawn_form_fields(browser.get(url))
    browser.post(url, {"how": "raise", "hard": "106", "drawn": drawn})
    assert Budget.objects.get().hard == 106


def test_a_block_is_no_alert(blocked, northlight, priya, add_spending):
    AlertRule.objects.create(team=northlight, kind=AlertKind.BUDGET)
    add_spending(priya, 90)
    evaluate_team(northlight.pk)
    assert not AlertEvent.objects.exists()
