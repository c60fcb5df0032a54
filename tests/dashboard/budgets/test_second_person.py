"""The second-person rule: who may set it, what it stops, and that nobody passes it alone."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.budgets.actions import (
    approve_request,
    decline_request,
    set_second_person_rule,
    withdraw_request,
)
from dashboard.models import ApprovalDecision, ApprovalRequest, AuditAction, AuditEvent
from dashboard.shared.charging import charge_within_budget, request_approval
from dashboard.shared.second_person import SecondPersonRequired
from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, ChargeState
from proxyapi.operations import CHARGING_OPERATIONS, IDEA_SEARCH_OPERATION
from proxyapi.refusals import Refusal, StaleData
from tests.cases import each_case
from tests.dashboard.budgets.conftest import NOON, drawn_form_fields, make_intent

HTMX = {"HX-Request": "true"}
URL = "/budgets/second-person/"


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def rule(mira, thea):
    """Charges above 100 cr need a second person."""
    assert set_second_person_rule(by=thea, above=Decimal(100))


@pytest.fixture
def waiting(rule, priya, video):
    return request_approval(priya, make_intent(video(priya)), "For the fair.")


def above(member):
    member.team.refresh_from_db()
    return member.team.second_person_above


def test_a_charge_above_the_rule_is_refused_whatever_the_budgets_leave(rule, priya, budget, video):
    budget(priya, 5000)
    with pytest.raises(SecondPersonRequired) as refused:
        charge_within_budget(priya, make_intent(video(priya)))
    assert refused.value.sentence == (
        "Not sent. It needs 106 cr, and charges above 100 cr need a second person. Request "
        "approval. Thea or Mira can approve it."
    )
    assert not Charge.objects.exists()


def test_the_amount_itself_is_not_above_the_rule(rule, priya, video):
    assert charge_within_budget(priya, make_intent(video(priya), 100)).state == ChargeState.HELD


def test_it_holds_for_a_charge_without_a_video_and_for_owners(rule, mira, token):
    intent = ChargeIntent(None, IDEA_SEARCH_OPERATION, uuid.uuid4(), Decimal(101), token=token)
    with pytest.raises(SecondPersonRequired, match="Thea can approve it"):
        charge_within_budget(mira, intent)


@each_case("operation", CHARGING_OPERATIONS)
def test_it_holds_for_every_operation_that_charges(rule, priya, token, operation):
    intent = ChargeIntent(None, operation, uuid.uuid4(), Decimal(101), token=token)
    with pytest.raises(SecondPersonRequired):
        charge_within_budget(priya, intent)


def test_over_a_budget_too_the_question_names_both(rule, priya, budget, video, client_of):
    budget(priya, 50)
    url = reverse("studio-renders", args=[video(priya).pk])
    html = client_of(priya).get(url, headers=HTMX).content.decode()
    assert "Over budget" in html
    assert "Besides, charges above 100 cr need a second person." in html


def test_what_is_free_needs_nobody(rule, priya, video):
    set_second_person_rule(by=priya.team.memberships.get(role="owner"), above=Decimal(1))
    assert charge_within_budget(priya, make_intent(video(priya), 0)).hold == 0


def test_a_form_that_comes_twice_gets_its_charge_after_the_rule_was_set(priya, mira, thea, video):
    intent = make_intent(video(priya))
    charge = charge_within_budget(priya, intent)
    set_second_person_rule(by=thea, above=Decimal(1))
    assert charge_within_budget(priya, intent) == charge


def test_the_request_keeps_the_rule_that_it_exceeded(waiting):
    assert waiting.second_person_above == 100
    entry = AuditEvent.objects.get(action=AuditAction.APPROVAL_REQUEST_CREATE)
    assert entry.after["second_person_above"] == "100"


def test_what_fits_the_rule_is_not_requested(rule, priya, video):
    with pytest.raises(StaleData, match="It now fits"):
        request_approval(priya, make_intent(video(priya), 100))


def test_another_person_approves_and_it_is_sent(waiting, thea):
    approve_request(by=thea, approval=waiting, drawn="")
    charge = Charge.objects.get()
    assert (charge.state, charge.hold, charge.member) == (ChargeState.HELD, 106, waiting.member)


@pytest.mark.parametrize("decide", [approve_request, decline_request])
def test_nobody_decides_their_own_request_not_even_an_owner(rule, mira, video, decide):
    approval = request_approval(mira, make_intent(video(mira)))
    more = {"reason": "No."} if decide is decline_request else {}
    with pytest.raises(Refusal, match="Another treasurer or owner has to decide it"):
        decide(by=mira, approval=approval, **more)
    approval.refresh_from_db()
    assert approval.is_pending
    assert Charge.objects.get().state == ChargeState.DRAFT


def test_an_own_request_over_a_budget_is_not_approved_either(mira, budget, video, client_of):
    budget(mira, 50)
    approval = request_approval(mira, make_intent(video(mira)))
    url = reverse("approval-request-approvals", args=[approval.pk])
    html = client_of(mira).post(url, {"how": "once", "drawn": ""}).content.decode()
    assert "You made this request" in html
    assert "Approve" not in client_of(mira).get("/budgets/").content.decode()
    assert Charge.objects.get().state == ChargeState.DRAFT


def test_a_changed_rule_leaves_what_waits_until_it_is_decided(waiting, thea):
    set_second_person_rule(by=thea, above=None)
    waiting.refresh_from_db()
    assert waiting.is_pending
    assert approve_request(by=thea, approval=waiting).decision == ApprovalDecision.APPROVED


def test_a_price_that_rose_makes_the_request_outdated(waiting, thea):
    draft = waiting.charge.job.draft
    draft.estimate, draft.estimate_as_of = Decimal(120), timezone.now()
    draft.save()
    decided = approve_request(by=thea, approval=waiting)
    assert decided.decision == ApprovalDecision.STALE
    assert Charge.objects.get().state == ChargeState.REFUSED


def test_the_approver_reads_who_why_how_much_and_which_rule(waiting, thea, budget, client_of):
    def read(url):
        return client_of(thea).get(url, headers=HTMX).content.decode()

    url = reverse("approval-request-approvals", args=[waiting.pk])
    html = read(url)
    assert "Approve 106 cr for <bdi>Priya</bdi>?" in html
    assert "“For the fair.”" in html
    assert "Charges above 100 cr need a second person." in html
    assert "Above the budget" not in html
    budget(waiting.team.memberships.get(user=waiting.member), 61)
    both = read(url)
    assert "Charges above 100 cr need a second person." in both
    assert "Above the budget" in both


def test_the_question_offers_to_ask_and_names_the_rule(rule, priya, video, client_of):
    url = reverse("studio-renders", args=[video(priya).pk])
    html = client_of(priya).get(url, headers=HTMX).content.decode()
    assert "Needs a second person" in html
    assert "charges above 100 cr need a second person. Request approval." in html
    assert "Request approval</span>" in html
    assert "<span>Render</span>" not in html


def test_setting_it_is_audited_with_before_and_after(rule, thea):
    set_second_person_rule(by=thea, above=Decimal(250), drawn="100")
    entries = AuditEvent.objects.filter(action=AuditAction.SECOND_PERSON_CHANGE)
    assert [(entry.before, entry.after) for entry in entries.order_by("position")] == [
        ({}, {"above": "100"}),
        ({"above": "100"}, {"above": "250"}),
    ]


def test_a_form_that_was_built_from_another_rule_is_refused(rule, thea):
    with pytest.raises(StaleData, match="It is now: above 100 cr"):
        set_second_person_rule(by=thea, above=Decimal(300), drawn="")
    assert above(thea) == 100


def test_one_approver_alone_cannot_set_it(mira, priya, client_of):
    with pytest.raises(Refusal, match="nobody approves their own request"):
        set_second_person_rule(by=mira, above=Decimal(100))
    page = client_of(mira).get("/budgets/").content.decode()
    assert "The rule needs two people who can approve" in page
    assert "Require a second person" not in page


def test_when_the_others_left_the_rule_stays_and_the_page_says_what_waits(
    rule, mira, thea, video, client_of
):
    thea.delete()
    page = client_of(mira).get("/budgets/").content.decode()
    assert "Only Mira can approve now." in page
    with pytest.raises(SecondPersonRequired, match="Nobody else in the team can approve it now"):
        charge_within_budget(mira, make_intent(video(mira)))
    approval = request_approval(mira, make_intent(video(mira)))
    withdraw_request(by=mira, approval=approval)
    set_second_person_rule(by=mira, above=None)
    assert charge_within_budget(mira, make_intent(video(mira))).state == ChargeState.HELD


def test_the_dialog_sets_and_removes_it(mira, thea, client_of):
    browser = client_of(thea)
    dialog = browser.get(URL, headers=HTMX)
    assert "Remove rule" not in dialog.content.decode()
    refused = browser.post(URL, {"above": "", "drawn": ""})
    assert refused.status_code == 422
    browser.post(URL, {"above": "200", "drawn": drawn_form_fields(dialog)})
    assert above(thea) == 200
    page = browser.get("/budgets/").content.decode()
    assert "A charge above 200 cr waits until another person approves it." in page
    assert "required a second person above 200 cr." in page
    browser.post(URL, {"remove": "1", "drawn": "200"})
    assert above(thea) is None
    assert (
        "removed the second-person rule (above 200 cr)."
        in browser.get("/budgets/").content.decode()
    )


def test_members_read_the_rule_and_may_not_change_it(rule, priya, client_of):
    page = client_of(priya).get("/budgets/").content.decode()
    assert "A charge above 100 cr waits until another person approves it." in page
    assert "Change rule" not in page
    assert ApprovalRequest.objects.count() == 0
