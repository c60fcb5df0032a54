"""A member is removed from the page, or leaves: what the dialog says, who goes on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import ApprovalRequest, AuditEvent, Budget, Membership
from proxyapi.models import Account, ChargeState, Job, JobState, Token, TokenState
from tests.dashboard.members.conftest import PASSWORD
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    JobFactory,
    MembershipFactory,
    TokenFactory,
)
from tests.pages import page_text

ClientOf = Callable[..., Client]


@pytest.fixture
def account(luca: Membership) -> Account:
    row: Account = AccountFactory.create(tenant=luca.team.tenant)
    return row


@pytest.fixture
def token(account: Account, luca: Membership) -> Token:
    row: Token = TokenFactory.create(account=account, owner=luca.user)
    return row


def start_render(token: Token) -> Job:
    soon = timezone.now() + timedelta(minutes=5)
    fields = {"state": JobState.RUNNING, "remote_id": f"{token.pk}", "next_poll_at": soon}
    job: Job = JobFactory.create(account=token.account, token=token, **fields)
    return job


def url_of(member: Membership, name: str = "member-removals") -> str:
    return reverse(name, args=[member.pk])


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_dialog_says_line_by_line_what_becomes_of_the_work(
    token: Token, luca: Membership, priya: Membership, mira: Membership, client_of: ClientOf
) -> None:
    TokenFactory.create(account=token.account, owner=priya.user)
    start_render(token)
    JobFactory.create_batch(2, account=token.account, token=token)
    failed = {"state": JobState.FAILED, "remote_id": "7"}
    unknown = JobFactory.create(account=token.account, token=token, **failed)
    ChargeFactory.create(job=unknown, state=ChargeState.UNKNOWN, hold=42, sent_at=timezone.now())
    waiting = ChargeFactory.create(job=start_draft(token), state=ChargeState.DRAFT)
    ApprovalRequest.objects.create(team=luca.team, charge=waiting, member=luca.user)
    ChargeFactory.create(job=start_draft(token), state=ChargeState.HELD)
    Budget.objects.create(team=luca.team, member=luca.user, hard=2500)
    page = text_of(client_of(mira).get(url_of(luca), headers={"HX-Request": "true"}))
    for words in (
        f"<code>…{token.last_four}</code>",
        "Priya opens the same account, so its balance and ledger stay up to date.",
        "1 running render",
        "Watch with Priya’s token",
        "4 drafts",
        "Move to Priya Raman",
        "1 charge not sent",
        "1 approval request",
        "1 unknown charge",
        "0 or 42",
        "Stays in Reconciliation",
        "Budget, 2,500 cr a month",
    ):
        assert words in page, words


def start_draft(token: Token) -> Job:
    job: Job = JobFactory.create(account=token.account, token=token)
    return job


def test_without_a_colleague_of_the_account_it_says_that_nobody_will_see_the_renders(
    token: Token, luca: Membership, priya: Membership, mira: Membership, client_of: ClientOf
) -> None:
    start_render(token)
    TokenFactory.create(account__tenant=luca.team.tenant, owner=priya.user)  # another account
    page = text_of(client_of(mira).get(url_of(luca)))
    assert "Nobody else opens this account. Reelroom will not see its renders again." in page
    assert "Not watched any more" in page
    assert "Watch with" not in page


def test_renders_and_drafts_go_to_the_chosen_colleagues(
    token: Token,
    luca: Membership,
    priya: Membership,
    mira: Membership,
    confirmed_client_of: ClientOf,
) -> None:
    hers, own = (
        TokenFactory.create(account=token.account, owner=one.user) for one in (priya, mira)
    )
    running, draft = start_render(token), start_draft(token)
    form = {"renders": mira.user_id, "drafts": priya.user_id}
    response = confirmed_client_of(mira).post(url_of(luca), form, follow=True)
    assert "Luca Moretti was removed from Northlight." in response.content.decode()
    for job in (running, draft, token):
        job.refresh_from_db()
    assert (running.token, running.member) == (own, luca.user)
    assert Job.objects.due(timezone.now()).get() == running
    assert (draft.token, draft.member) == (hers, priya.user)
    assert token.state == TokenState.REMOVED
    event = AuditEvent.objects.get(action="member.remove")
    assert (event.actor_kind, event.actor_name) == ("person", "Mira Sandvik")


def test_an_unknown_charge_stays_with_the_token_that_sent_it(
    token: Token,
    luca: Membership,
    priya: Membership,
    mira: Membership,
    confirmed_client_of: ClientOf,
) -> None:
    TokenFactory.create(account=token.account, owner=priya.user)
    job = start_draft(token)
    charge = ChargeFactory.create(job=job, state=ChargeState.UNKNOWN, sent_at=timezone.now())
    confirmed_client_of(mira).post(url_of(luca), {"drafts": priya.user_id})
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.token, charge.member, charge.state) == (token, luca.user, ChargeState.UNKNOWN)
    assert (job.token, job.member) == (token, luca.user)


@pytest.mark.parametrize("chosen", ["otto", "vera"])
def test_work_goes_only_to_a_colleague_with_a_token_of_the_account(
    chosen: str, request: Any, token: Token, mira: Membership, confirmed_client_of: ClientOf
) -> None:
    other, luca = request.getfixturevalue(chosen), request.getfixturevalue("luca")
    TokenFactory.create(account=token.account, owner=mira.user)
    start_render(token)
    response = confirmed_client_of(mira).post(url_of(luca), {"renders": other.user_id})
    assert response.status_code == 422
    assert Membership.objects.filter(pk=luca.pk).exists()


def test_it_asks_for_the_password_if_it_was_not_given_recently(
    mira_has_password: Membership, luca: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira_has_password)
    assert "Your password" in browser.get(url_of(luca)).content.decode()
    for form, text in (({}, "Enter your password"), ({"password": "x"}, "not your password")):
        response = browser.post(url_of(luca), form)
        assert response.status_code == 422, text
    assert Membership.objects.filter(pk=luca.pk).exists()
    assert browser.post(url_of(luca), {"password": PASSWORD}).status_code == 302
    assert not Membership.objects.filter(pk=luca.pk).exists()


@pytest.mark.parametrize(
    ("who", "status"), [("jonas", 403), ("thea", 403), ("priya", 403), ("vera", 403)]
)
def test_nobody_removes_who_has_more_permissions(
    who: str, status: int, request: Any, mira: Membership, confirmed_client_of: ClientOf
) -> None:
    member = request.getfixturevalue(who)
    for name in ("member-removals", "member-handovers", "member-sign-outs"):
        assert confirmed_client_of(member).post(url_of(mira, name)).status_code == status


def test_the_page_of_who_was_removed_ends(
    luca: Membership, mira: Membership, client_of: ClientOf, confirmed_client_of: ClientOf
) -> None:
    browser = client_of(luca)
    confirmed_client_of(mira).post(url_of(luca))
    page = browser.get(reverse("library"))
    assert page.status_code == 302
    assert page["Location"].startswith(reverse("account_login"))


@pytest.mark.parametrize("who", ["jonas", "thea", "priya", "vera"])
def test_everybody_leaves_by_themselves(
    who: str, request: Any, mira: Membership, confirmed_client_of: ClientOf
) -> None:
    member = request.getfixturevalue(who)
    browser = confirmed_client_of(member)
    assert "Leave <bdi>Northlight</bdi>?" in browser.get(url_of(member)).content.decode()
    answer = browser.post(url_of(member), follow=True)
    assert answer.redirect_chain == [(reverse("account_login"), 302)]
    text = page_text(answer.content)
    assert "You left Northlight. Your account is disabled until somebody invites you." in text
    assert not Membership.objects.filter(pk=member.pk).exists()
    assert AuditEvent.objects.get(action="member.leave").actor_name == str(member.user)
    assert browser.get(reverse("overview")).status_code == 302
    assert "You left" not in browser.get(reverse("account_login")).content.decode()


def test_who_leaves_one_of_two_teams_goes_on_in_the_other(
    priya: Membership, otto: Membership, mira: Membership, confirmed_client_of: ClientOf
) -> None:
    MembershipFactory.create(team=otto.team, user=priya.user)
    page = confirmed_client_of(priya).post(url_of(priya), follow=True).content.decode()
    assert "You left Northlight." in page
    assert "Your account is disabled" not in page
    assert "Otherwhere" in page


def test_the_last_owner_neither_leaves_nor_is_removed(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    response = confirmed_client_of(mira).post(url_of(mira))
    assert response.status_code == 422
    assert "Mira Sandvik is the last owner of Northlight." in response.content.decode()


def test_work_is_handed_over_so_that_the_role_can_change(
    token: Token, luca: Membership, priya: Membership, mira: Membership, client_of: ClientOf
) -> None:
    browser, job = client_of(mira), start_render(token)
    assert "No colleague has a working token" in text_of(
        browser.get(url_of(luca, "member-handovers"))
    )
    hers = TokenFactory.create(account=token.account, owner=priya.user)
    role = {"role": "viewer"}
    assert browser.post(url_of(luca, "member-roles"), role).status_code == 422
    browser.post(url_of(luca, "member-handovers"), {"to": priya.user_id})
    job.refresh_from_db()
    assert job.token == hers
    assert browser.post(url_of(luca, "member-roles"), role).status_code == 302
    assert AuditEvent.objects.get(action="member.hand_over").after["renders"] == 1


def test_a_member_is_signed_out_everywhere(
    luca: Membership, jonas: Membership, client_of: ClientOf
) -> None:
    browsers = [client_of(luca), client_of(luca)]
    manager = client_of(jonas)
    manager.post(url_of(luca, "member-sign-outs"))
    assert [browser.get(reverse("overview")).status_code for browser in browsers] == [302, 302]
    assert manager.get(reverse("overview")).status_code == 200
    assert AuditEvent.objects.get(action="member.sign_out").details == {"sessions": 2}
