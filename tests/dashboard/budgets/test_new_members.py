"""The budget that new members start with."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from dashboard.members.actions.joining import accept_invitation
from dashboard.models import AuditAction, AuditEvent, Budget, Membership, NewMemberBudget
from tests.dashboard.budgets.conftest import drawn_form_fields
from tests.factories import InvitationFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
URL = "/budgets/new-members/"


@pytest.fixture
def default(thea: Membership) -> NewMemberBudget:
    return NewMemberBudget.objects.create(
        team=thea.team, period="week", soft=200, hard=250, set_by=thea.user
    )


def join(by: Membership) -> Membership:
    address = "sam@northlight.example"
    invitation = InvitationFactory.create(team=by.team, address=address, invited_by=by.user)
    user = UserFactory.create(email=address, name="Sam Okafor")
    return accept_invitation(invitation=invitation, user=user)


def limits() -> set[tuple[Any, ...]]:
    return {(str(row.member), row.period, row.soft, row.hard) for row in Budget.objects.all()}


def test_who_joins_by_an_invitation_has_it(
    default: NewMemberBudget, mira: Membership, thea: Membership, client_of: Any
) -> None:
    sam = join(mira)
    assert limits() == {("Sam Okafor", "week", 200, 250)}
    event = AuditEvent.objects.get(action=AuditAction.BUDGET_ADD)
    assert (event.actor_kind, event.details["member"]) == ("system", "Sam Okafor")
    html = client_of(thea).get("/budgets/").content.decode()
    assert "set Sam Okafor’s weekly budget: 250 cr at most and an alert at 200." in html
    assert sam.user.budgets.get().active


def test_who_is_added_by_the_command_has_it(default: NewMemberBudget) -> None:
    call_command("add_member", "Northlight", "sam@northlight.example", "Sam Okafor")
    assert limits() == {("Sam Okafor", "week", 200, 250)}


def test_without_one_nobody_gets_a_budget(mira: Membership) -> None:
    join(mira)
    assert not Budget.objects.exists()


def test_an_old_budget_of_who_comes_back_is_set_to_it(
    default: NewMemberBudget, mira: Membership
) -> None:
    sam = join(mira)
    later = timezone.now() + timedelta(days=1)
    Budget.objects.update(hard=9000, active=False, raise_amount=500, raise_until=later)
    Membership.objects.filter(pk=sam.pk).delete()
    invitation = InvitationFactory.create(
        team=mira.team, address=sam.user.email, invited_by=mira.user, key_hash="again"
    )
    accept_invitation(invitation=invitation, user=sam.user)
    assert limits() == {("Sam Okafor", "week", 200, 250)}
    budget = Budget.objects.get()
    assert (budget.active, budget.raised_by(timezone.now())) == (True, 0)


def test_it_is_set_changed_and_removed_on_the_page(thea: Membership, client_of: Any) -> None:
    browser = client_of(thea)
    assert "Who joins has no budget of their own." in browser.get("/budgets/").content.decode()
    sent = {"period": "month", "hard": "500", "soft": "400", "drawn": ""}
    assert browser.post(URL, sent).url == "/budgets/"
    text = "Who joins starts with a budget: 500 cr a month, alert at 400."
    assert text in browser.get("/budgets/").content.decode()
    stale = browser.post(URL, {**sent, "hard": "600"})
    assert stale.status_code == 422
    assert "This was changed" in stale.content.decode()
    drawn = drawn_form_fields(stale)
    assert browser.post(URL, {**sent, "hard": "600", "drawn": drawn}).status_code == 302
    assert NewMemberBudget.objects.get().hard == 600
    removal = {"remove": "1", "drawn": drawn_form_fields(browser.get(URL))}
    assert browser.post(URL, removal).status_code == 302
    assert not NewMemberBudget.objects.exists()
    assert AuditEvent.objects.filter(action=AuditAction.BUDGET_NEW_MEMBERS).count() == 3


def test_limits_that_are_none_are_refused(thea: Membership, client_of: Any) -> None:
    browser = client_of(thea)
    for sent in ({}, {"hard": "10", "soft": "20"}, {"hard": "ten"}):
        answer = browser.post(URL, {"period": "month", "hard": "", "soft": "", **sent})
        assert answer.status_code == 422
    assert not NewMemberBudget.objects.exists()
