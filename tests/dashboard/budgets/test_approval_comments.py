"""Comments on an approval request: of the requester and of those who decide it, until it is
decided."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dashboard.budgets.actions import (
    add_approval_comment,
    approve_request,
    decline_request,
    withdraw_request,
)
from dashboard.models import AlertEvent, ApprovalComment, AuditAction, AuditEvent, Delivery
from dashboard.shared.charging import request_approval
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.budgets.conftest import NOON, make_intent

pytestmark = pytest.mark.postgresql


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOON)


@pytest.fixture
def approval(mira, thea, priya, budget, video):
    """Priya asks; Thea and Mira can approve."""
    budget(priya, 50)
    return request_approval(priya, make_intent(video(priya)), "For the fair.")


def page_url(approval, name="approval-request"):
    return reverse(name, args=[approval.pk])


def read(browser, approval):
    return browser.get(page_url(approval)).content.decode()


def post(browser, approval, text):
    return browser.post(page_url(approval, "approval-request-comments"), {"text": text})


def test_both_sides_read_the_thread_in_order_and_nobody_else(
    approval, thea, priya, luca, client_of
):
    assert post(client_of(thea), approval, "Can it be\nshorter?").status_code == 302
    assert post(client_of(priya), approval, "No, the client <wants> 60 s.").status_code == 302
    for reader in (thea, priya):
        html = read(client_of(reader), approval)
        assert html.index("Can it be\nshorter?") < html.index("the client &lt;wants&gt; 60 s.")
    assert client_of(luca).get(page_url(approval)).status_code == 403
    assert post(client_of(luca), approval, "Me too").status_code == 403


def test_the_page_says_what_it_is_and_offers_each_reader_what_they_may_do(
    approval, thea, priya, client_of
):
    html = read(client_of(thea), approval)
    assert "Request of Priya" in html
    assert "106 cr to render “Who owns the Moon?”" in html
    assert ">Approve</span>" in html
    assert "Withdraw request" not in html
    mine = read(client_of(priya), approval)
    assert "Your request" in mine
    assert "Withdraw request" in mine
    assert ">Approve</span>" not in mine


def test_the_other_side_is_notified(approval, mira, thea, priya):
    add_approval_comment(by=priya, approval=approval, text="It is urgent.")
    told = AlertEvent.objects.filter(title__startswith="Priya commented")
    assert set(told.values_list("member", flat=True)) == {mira.user_id, thea.user_id}
    add_approval_comment(by=thea, approval=approval, text="Why?")
    answer = AlertEvent.objects.get(member=priya.user)
    assert answer.title == "Thea commented on the request for “Who owns the Moon?”"
    assert (answer.text, answer.url) == ("Why?", page_url(approval))
    assert Delivery.objects.get().address == priya.user.email
    add_approval_comment(by=priya, approval=approval, text="The fair is on Monday.")
    assert told.filter(text="The fair is on Monday.").get().member == thea.user


def test_it_is_audited_without_its_text(approval, thea):
    add_approval_comment(by=thea, approval=approval, text="Why?")
    entry = AuditEvent.objects.get(action=AuditAction.APPROVAL_REQUEST_COMMENT)
    assert entry.target == str(approval.pk)
    assert "Why" not in str(entry.details)


def test_a_form_that_comes_twice_adds_one_comment(approval, thea, client_of):
    for _ in range(2):
        post(client_of(thea), approval, "Why?")
    assert ApprovalComment.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (" \n ", "Enter a comment."),
        ("x" * 1001, "1000 characters"),
        ("a\u202eb", "invisible character"),
    ],
)
def test_bad_text_is_refused_and_stays_in_the_field(approval, thea, client_of, text, sentence):
    answer = post(client_of(thea), approval, text)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    if text.strip():
        assert text in answer.content.decode()
    assert not ApprovalComment.objects.exists()
    with pytest.raises(Refusal):
        add_approval_comment(by=thea, approval=approval, text=text)


@pytest.mark.parametrize("ending", ["approve", "decline", "withdraw"])
def test_a_decided_request_keeps_its_comments_and_takes_none(
    approval, thea, priya, client_of, ending
):
    add_approval_comment(by=thea, approval=approval, text="Why?")
    if ending == "approve":
        approve_request(by=thea, approval=approval)
    elif ending == "decline":
        decline_request(by=thea, approval=approval, reason="Too long.")
    else:
        withdraw_request(by=priya, approval=approval)
    with pytest.raises(StaleData):
        add_approval_comment(by=priya, approval=approval, text="Late.")
    answer = post(client_of(priya), approval, "Late.")
    assert "This request is already decided." in answer.content.decode()
    assert "Late." in answer.content.decode()
    html = read(client_of(priya), approval)
    assert "Why?" in html
    assert "<textarea" not in html
