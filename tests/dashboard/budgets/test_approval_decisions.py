"""An ask is decided once, by those who may, on what was asked for; each with its audit row."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.budgets import actions as budget_actions
from dashboard.library.actions import retry_video
from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    AuditAction,
    AuditEvent,
    Budget,
    BudgetPeriod,
    Role,
)
from dashboard.shared.budget_usage import BudgetExceeded, load_budget_usages
from dashboard.shared.charging import ConfirmAnswer, charge_within_budget, request_approval
from dashboard.studio import actions
from proxyapi import tasks
from proxyapi.models import Charge, ChargeState, Draft, Job
from proxyapi.refusals import NotEnoughCredits, StaleData
from tests.cases import each_case
from tests.dashboard.budgets.conftest import NOON, drawn_form_fields, make_intent


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def enqueued(monkeypatch):
    """The ids that a worker was rung for."""
    ids: list[object] = []
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: ids.append(id))
    return ids


@pytest.fixture
def approval_request(mira, thea, priya, budget, add_spending, video):
    """Priya's, for 106 credits; 61 of her 2,500 are left."""
    budget(priya, 2500)
    add_spending(priya, 2439)
    return request_approval(priya, make_intent(video(priya)), "For the fair.")


def yes(approval):
    return f"/approval-requests/{approval.pk}/approvals/"


def no(approval):
    return f"/approval-requests/{approval.pk}/refusals/"


def press(browser, approval, how="once", hard="", *, follow=False):
    """Answer the dialog as it is drawn."""
    fields = {"how": how, "hard": hard, "drawn": drawn_form_fields(browser.get(yes(approval)))}
    return browser.post(yes(approval), fields, follow=follow)


def test_approved_it_is_sent_once_above_the_budget(approval_request, thea, client_of, enqueued):
    html = client_of(thea).get(yes(approval_request)).content.decode()
    assert "Approve 106 cr for <bdi>Priya</bdi>?" in html
    assert "Left of Priya’s 2,500 until 1 Dec" in html
    assert 'value="45"' in html
    assert press(client_of(thea), approval_request).url == "/budgets/"
    approval_request.refresh_from_db()
    assert (
        approval_request.decision,
        approval_request.decided_by,
        approval_request.decided_at,
    ) == ("approved", thea.user, NOON)
    assert approval_request.charge.state == ChargeState.HELD
    assert enqueued == [approval_request.charge.pk]
    event = AuditEvent.objects.get(action=AuditAction.APPROVAL_REQUEST_APPROVE)
    assert event.after == {"decision": "approved", "answer": ""}
    (exceeded,) = event.details["exceeded"]
    used = exceeded["hard"], exceeded["used_before"], exceeded["used_after"]
    assert used == ("2500", "2439", "2545")


def test_this_once_lets_nothing_else_through(approval_request, mira, priya, video, enqueued):
    budget_actions.approve_request(by=mira, approval=approval_request)
    with pytest.raises(BudgetExceeded, match="0 of your 2,500 are left"):
        charge_within_budget(priya, make_intent(video(priya), 1))


@pytest.mark.parametrize("period", [BudgetPeriod.DAY, BudgetPeriod.MONTH])
def test_what_is_approved_in_a_later_period_counts_in_that_one(
    approval_request, mira, thea, priya, video, enqueued, time_machine, period
):
    budget = approval_request.team.budgets.get()
    Budget.objects.update(period=period, hard=110)
    time_machine.move_to(NOON.replace(month=12, day=2), tick=False)
    budget_actions.approve_request(by=thea, approval=approval_request)
    budget.refresh_from_db()
    assert load_budget_usages(approval_request.team, [budget], timezone.now())[0].held == 106
    assert load_budget_usages(approval_request.team, [budget], NOON)[0].held == 0
    with pytest.raises(BudgetExceeded, match="4 of your 110 are left"):
        charge_within_budget(priya, make_intent(video(priya)))
    approval_request.refresh_from_db()
    assert approval_request.requested_at == NOON


def test_raising_the_budget_sends_it_within(approval_request, thea, client_of, enqueued):
    html = client_of(thea).get(yes(approval_request)).content.decode()
    assert "Requires at least 2545 cr." in html or "Requires at least 2,545 cr." in html
    press(client_of(thea), approval_request, how="raise", hard="3000")
    approval_request.refresh_from_db()
    assert approval_request.decision == "approved"
    assert approval_request.team.budgets.get().hard == 3000
    event = AuditEvent.objects.get(action=AuditAction.BUDGET_CHANGE)
    assert (event.before["hard"], event.after["hard"]) == ("2500", "3000")


@each_case("hard", ["", "-1", "many", "2500", "1"])
def test_a_raise_needs_a_limit(approval_request, thea, client_of, enqueued, hard):
    answer = press(client_of(thea), approval_request, how="raise", hard=hard)
    assert answer.status_code == 422
    assert approval_request.team.budgets.get().hard == 2500
    assert enqueued == []
    approval_request.refresh_from_db()
    assert approval_request.is_pending


def test_declined_the_requester_reads_why_beside_the_video(
    approval_request, thea, priya, client_of, enqueued
):
    assert client_of(thea).post(no(approval_request), {"answer": " "}).status_code == 422
    client_of(thea).post(no(approval_request), {"answer": "Not before the fair is paid."})
    approval_request.refresh_from_db()
    assert (approval_request.decision, approval_request.charge.state) == (
        "declined",
        ChargeState.REFUSED,
    )
    told = client_of(priya).get(f"/videos/{approval_request.charge.job_id}/").content.decode()
    assert "Thea declined: “Not before the fair is paid.”" in told
    assert enqueued == []


@pytest.mark.parametrize("change", ["edited", "unpriced", "hidden"])
def test_what_changed_since_is_not_sent_and_the_approver_sees_it(
    approval_request, thea, client_of, enqueued, change, time_machine
):
    time_machine.shift(60)
    job = approval_request.charge.job
    match change:
        case "edited":
            job.draft.edited_at = NOON.replace(minute=1)
        case "unpriced":
            job.draft.estimate = None
        case "hidden":
            job.hidden_at = NOON
    job.save()
    job.draft.save()
    html = press(client_of(thea), approval_request, follow=True).content.decode()
    assert "changed since the request. Nothing was sent." in html
    approval_request.refresh_from_db()
    assert (approval_request.decision, approval_request.charge.state) == (
        "stale",
        ChargeState.REFUSED,
    )
    assert enqueued == []


@pytest.fixture(params=["faceless.render", "faceless.retry", "faceless.scripts"])
def priced_request(request, mira, thea, priya, budget, video, account):
    """Priya's ask for each thing that can be asked for, at 96 credits, and what sets its price."""
    budget(priya, 50)
    account.costs = {"CONTENT_PROMPT_REQUESTED": {"credits": 96}}
    account.save()
    job = video(priya, state="failed" if request.param == "faceless.retry" else "draft")
    ways = {"by": priya, "job": job, "nonce": uuid.uuid4(), "seen": Decimal(96)}
    ways["answer"] = ConfirmAnswer(note="")
    if request.param == "faceless.render":
        actions.render_video(**ways)
    elif request.param == "faceless.retry":
        retry_video(failed_at="", **ways)
    else:
        actions.write_script(chosen={"topic": "Ice", "duration": 60}, **ways)

    def costs(credits: int) -> None:
        account.costs["CONTENT_PROMPT_REQUESTED"]["credits"] = credits
        account.save()
        Draft.objects.update(estimate=Decimal(credits))

    return ApprovalRequest.objects.get(), costs


def test_what_costs_more_now_is_not_sent_and_both_prices_are_shown(
    priced_request, thea, priya, client_of, enqueued, time_machine
):
    approval, costs = priced_request
    costs(97)
    html = press(client_of(thea), approval, follow=True).content.decode()
    told = "It was requested at 96 cr and now costs 97 cr. Nothing was sent. Request it again."
    assert told in html
    approval.refresh_from_db()
    assert (approval.decision, approval.charge.state) == ("stale", ChargeState.REFUSED)
    assert approval.charge.reason == told
    assert enqueued == []


def test_what_costs_less_by_now_is_sent_at_the_lower_price(
    priced_request, thea, client_of, enqueued
):
    approval, costs = priced_request
    margin = 5 if approval.charge.hold > 96 else 0
    costs(50)
    press(client_of(thea), approval)
    approval.charge.refresh_from_db()
    assert (approval.charge.state, approval.charge.quote) == (ChargeState.HELD, 50)
    assert approval.charge.hold == 50 + margin
    assert enqueued == [approval.charge.pk]


def test_the_lower_price_and_the_consent_are_one_change_under_the_accounts_lock(
    priced_request, thea
):
    """A charge is changed after its account is locked, as everywhere, or two wait in a ring."""
    approval, costs = priced_request
    costs(50)
    with CaptureQueriesContext(connection) as asked:
        budget_actions.approve_request(by=thea, approval=approval)
    said = [query["sql"] for query in asked]
    (changed,) = [sql for sql in said if sql.startswith('UPDATE "proxyapi_charge"')]
    assert '"state" = ' in changed
    assert '"quote" = ' in changed


def test_what_costs_the_same_is_sent_as_it_was_asked_for(priced_request, thea, client_of, enqueued):
    approval, _ = priced_request
    press(client_of(thea), approval)
    sent = Charge.objects.get()
    assert (sent.state, sent.quote, sent.hold) == (ChargeState.HELD, 96, approval.charge.hold)


def test_who_left_or_renders_no_more_gets_nothing_sent(approval_request, thea, priya, enqueued):
    priya.role = Role.VIEWER
    priya.save()
    assert (
        budget_actions.approve_request(by=thea, approval=approval_request).decision
        == ApprovalDecision.STALE
    )
    assert enqueued == []


def test_an_account_without_the_credits_leaves_it_waiting(
    approval_request, thea, account, client_of, enqueued
):
    account.balance = Decimal(10)
    account.save()
    answer = press(client_of(thea), approval_request)
    assert answer.status_code == 422
    assert "Not sent. It needs 106 cr" in answer.content.decode()
    with pytest.raises(NotEnoughCredits):
        budget_actions.approve_request(by=thea, approval=approval_request)
    approval_request.refresh_from_db()
    assert approval_request.is_pending


def test_without_the_credits_the_question_has_no_button(approval_request, thea, account, client_of):
    account.balance = Decimal(10)
    account.save()
    answer = client_of(thea).get(yes(approval_request), headers={"HX-Request": "true"})
    html = answer.content.decode()
    assert "10 cr free; 106 would be held" in html
    assert "btn--primary" not in html


def test_it_is_decided_once(approval_request, mira, thea, priya, enqueued):
    budget_actions.decline_request(by=thea, approval=approval_request, reason="No.")
    for again in (
        lambda: budget_actions.approve_request(by=mira, approval=approval_request),
        lambda: budget_actions.decline_request(by=mira, approval=approval_request, reason="No."),
        lambda: budget_actions.withdraw_request(by=priya, approval=approval_request),
    ):
        with pytest.raises(StaleData, match="already decided"):
            again()
    assert enqueued == []


def test_what_must_hold_of_an_ask_holds_in_the_database(approval_request, thea):
    for fields in ({"decision": "maybe"}, {"decision": "approved"}, {"decided_by": thea.user}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApprovalRequest.objects.filter(pk=approval_request.pk).update(**fields)


def test_decisions_stand_in_the_history(approval_request, thea, client_of, enqueued):
    client_of(thea).post(no(approval_request), {"answer": "Not before the fair is paid."})
    html = client_of(thea).get("/budgets/").content.decode()
    assert "declined 106 cr for Priya: “Not before the fair is paid.”" in html
    assert "Approval requests" not in html


def test_a_price_requested_again_by_hand_does_not_end_a_pending_request(
    approval_request, thea, priya, enqueued
):
    """Nothing of it changed: it is approved at the price it was asked for at."""
    actions.request_draft_price(by=priya, job=Job.objects.get(pk=approval_request.charge.job_id))
    budget_actions.approve_request(by=thea, approval=approval_request)
    approval_request.refresh_from_db()
    assert (approval_request.decision, approval_request.charge.state) == (
        "approved",
        ChargeState.HELD,
    )


def test_dearer_by_then_it_is_not_sent(approval_request, thea, priya, enqueued):
    Draft.objects.filter(pk=approval_request.charge.job_id).update(estimate=Decimal(120))
    budget_actions.approve_request(by=thea, approval=approval_request)
    approval_request.refresh_from_db()
    assert (approval_request.decision, approval_request.charge.state) == (
        "stale",
        ChargeState.REFUSED,
    )
