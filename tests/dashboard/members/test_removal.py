"""A command takes a person out of a team: what ends, what goes on, and what still shows them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import ApprovalRequest, AuditEvent, Budget, Membership, Role, Team
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, Token, TokenState
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    EntryFactory,
    JobFactory,
    MembershipFactory,
    TokenFactory,
)

ClientOf = Callable[[Membership], Client]
PAGES = (
    *(
        "overview",
        "library",
        "studio",
        "drafts",
        "budgets",
        "ledger",
        "ledger-charts",
        "costs",
        "forecast",
    ),
    *("reconciliation", "top-up", "alerts", "alerts-unread", "members", "tokens"),
)


def removed(*args: str) -> str:
    out = StringIO()
    call_command("remove_member", *args, stdout=out)
    return out.getvalue()


def leave(member: Membership) -> str:
    return removed(member.team.name, member.user.email)


@pytest.fixture
def account(northlight: Team) -> Account:
    return AccountFactory.create(tenant=northlight.tenant)


@pytest.fixture
def token(account: Account, luca: Membership) -> Token:
    return TokenFactory.create(account=account, owner=luca.user)


@pytest.fixture
def running(token: Token) -> Job:
    soon = timezone.now() + timedelta(seconds=9)
    return JobFactory.create(
        account=token.account,
        token=token,
        title="Whales in fog",
        remote_id="9",
        state=JobState.RUNNING,
        next_poll_at=soon,
    )


def charged(token: Token, state: ChargeState, **fields: Any) -> Charge:
    job = JobFactory.create(account=token.account, token=token)
    return ChargeFactory.create(job=job, state=state, **fields)


def test_who_has_no_other_team_is_signed_out_and_cannot_sign_in(
    luca: Membership, mira: Membership, client_of: ClientOf
) -> None:
    browser, other = client_of(luca), client_of(mira)
    said = leave(luca)
    assert "Luca Moretti (luca@northlight.example) is no longer a member of Northlight" in said
    assert "can no longer sign in" in said
    assert browser.get(reverse("overview")).status_code == 302
    assert other.get(reverse("overview")).status_code == 200
    luca.user.refresh_from_db()
    assert not luca.user.is_active
    assert not Membership.objects.filter(pk=luca.pk).exists()


def test_who_has_another_team_keeps_it(
    luca: Membership, mira: Membership, otto: Membership, client_of: ClientOf
) -> None:
    MembershipFactory.create(team=otto.team, user=luca.user)
    browser = client_of(luca)
    assert "stays in their other teams" in leave(luca)
    page = browser.get(reverse("members")).content.decode()
    assert otto.user.email in page
    assert mira.user.email not in page


def test_their_tokens_in_that_team_are_destroyed_and_no_others(
    token: Token, luca: Membership, mira: Membership, otto: Membership
) -> None:
    theirs = TokenFactory.create(owner=luca.user, account__tenant=otto.team.tenant)
    hers = TokenFactory.create(owner=mira.user, account=token.account)
    assert "Tokens removed: 1." in leave(luca)
    for one, state in (
        (token, TokenState.REMOVED),
        (theirs, TokenState.WORKING),
        (hers, TokenState.WORKING),
    ):
        one.refresh_from_db()
        assert (one.state, bool(one.ciphertext)) == (state, state == TokenState.WORKING)


def test_what_was_not_sent_is_ended_and_what_was_sent_is_left_to_its_settlement(
    token: Token, luca: Membership, mira: Membership
) -> None:
    now = timezone.now()
    held = charged(token, ChargeState.HELD)
    sending = charged(token, ChargeState.SENDING, sent_at=now)
    unknown = charged(token, ChargeState.UNKNOWN, sent_at=now)
    asked = charged(token, ChargeState.DRAFT)
    approval = ApprovalRequest.objects.create(team=luca.team, charge=asked, member=luca.user)
    said = leave(luca)
    assert "Unsent charges cancelled, nothing charged: 1." in said
    assert "Approval requests withdrawn: 1." in said
    assert "Charges sent whose outcome is still unknown: 2." in said
    for charge in (held, sending, unknown, asked, approval):
        charge.refresh_from_db()
    assert (held.state, asked.state) == (ChargeState.REFUSED, ChargeState.REFUSED)
    assert held.reason == "Luca Moretti left the team before it was sent. Nothing was charged."
    assert (sending.state, unknown.state) == (ChargeState.SENDING, ChargeState.UNKNOWN)
    assert approval.decision == "withdrawn"


def test_what_still_renders_is_named_and_its_page_says_so(
    running: Job, luca: Membership, mira: Membership, client_of: ClientOf
) -> None:
    said = leave(luca)
    assert "no longer polled without their token: “Whales in fog”." in said
    page = client_of(mira).get(reverse("video", args=[running.pk])).content.decode()
    assert "Luca left the team. The render continues at the service" in page


def test_drafts_go_on_with_a_colleagues_token_of_the_same_account(
    token: Token, running: Job, luca: Membership, mira: Membership
) -> None:
    hers = TokenFactory.create(account=token.account, owner=mira.user)
    elsewhere = TokenFactory.create(owner=luca.user, account__tenant=luca.team.tenant)
    draft, other = (JobFactory.create(account=it.account, token=it) for it in (token, elsewhere))
    unsettled = charged(token, ChargeState.UNKNOWN, sent_at=timezone.now()).job
    assert "Drafts moved to a colleague's token: 1." in leave(luca)
    used = dict(Job.objects.values_list("pk", "token"))
    assert used[draft.pk] == hers.pk
    assert used[other.pk] == elsewhere.pk
    assert used[running.pk] == token.pk
    assert unsettled is not None
    assert used[unsettled.pk] == token.pk


def test_a_charge_of_a_colleague_is_left_alone(
    token: Token, luca: Membership, mira: Membership
) -> None:
    hers = charged(TokenFactory.create(account=token.account, owner=mira.user), ChargeState.HELD)
    leave(luca)
    hers.refresh_from_db()
    assert hers.state == ChargeState.HELD


def test_the_audit_keeps_the_name(token: Token, luca: Membership, mira: Membership) -> None:
    leave(luca)
    event = AuditEvent.objects.get(action="member.remove")
    assert event.before == {"name": "Luca Moretti", "role": "producer", "tokens": 1}
    actors = AuditEvent.objects.values_list("action", "actor_kind", "actor_id", "actor_name")
    command = ("system", "", "manage.py remove_member")
    assert list(actors.order_by("position")) == [
        ("token.remove", *command),
        ("member.remove", *command),
    ]


def test_the_last_owner_stays(mira: Membership, luca: Membership) -> None:
    with pytest.raises(CommandError, match="Mira Sandvik is the last owner of Northlight"):
        leave(mira)
    MembershipFactory.create(team=mira.team, role=Role.OWNER)
    assert "is no longer a member of Northlight" in leave(mira)


def test_again_it_changes_nothing_and_says_so(luca: Membership, mira: Membership) -> None:
    leave(luca)
    for email in (luca.user.email, "nobody@northlight.example"):
        assert removed("Northlight", email) == (
            f"{email} is not a member of Northlight. Nothing was changed.\n"
        )
    with pytest.raises(CommandError, match="0 teams named Nobody"):
        removed("Nobody", luca.user.email)


def test_without_redis_nothing_is_cancelled_as_not_sent(
    token: Token, luca: Membership, mira: Membership, settings: Any, tmp_path: Path
) -> None:
    """Redis knows what was sent before a backup was put back."""
    held = charged(token, ChargeState.HELD)
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    with pytest.raises(CommandError, match="Redis does not answer"):
        leave(luca)
    held.refresh_from_db()
    assert (held.state, luca.user.is_active) == (ChargeState.HELD, True)


def test_who_comes_back_signs_in_as_before(luca: Membership, mira: Membership) -> None:
    luca.user.set_password("correct horse battery")
    luca.user.save()
    leave(luca)
    call_command("add_member", "Northlight", luca.user.email, "Luca", stdout=StringIO())
    browser = Client()
    assert browser.login(request=None, email=luca.user.email, password="correct horse battery")
    assert browser.get(reverse("overview")).status_code == 200


def test_their_stream_ends(luca: Membership, mira: Membership, client_of: ClientOf) -> None:
    tickets = [
        StreamSession(
            one.team.tenant_id, one.team_id, one.user_id, client_of(one).session.session_key or ""
        )
        for one in (luca, mira)
    ]
    assert not expired_sessions(tickets)
    leave(luca)
    assert expired_sessions(tickets) == {tickets[0]}


@pytest.fixture
def member_history(token: Token, running: Job, account: Account, luca: Membership) -> Job:
    """Luca made, spent, asked and had a budget."""
    done = charged(token, ChargeState.CONFIRMED, cost=96, sent_at=timezone.now())
    EntryFactory.create(
        account=account, charge=done, member=luca.user, job=done.job, confidence="certain"
    )
    charged(token, ChargeState.UNKNOWN, sent_at=timezone.now())
    charged(token, ChargeState.HELD)
    asked = charged(token, ChargeState.DRAFT)
    ApprovalRequest.objects.create(team=luca.team, charge=asked, member=luca.user)
    Budget.objects.create(team=luca.team, member=luca.user, hard=50)
    JobFactory.create(account=account, token=token, state=JobState.DRAFT, title="A draft of Luca")
    return running


def test_every_page_answers_after_somebody_left(
    member_history: Job, luca: Membership, mira: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira)
    leave(luca)
    pages = {name: browser.get(reverse(name)) for name in PAGES}
    assert {name for name, page in pages.items() if page.status_code != 200} == set()
    naming = {name for name, page in pages.items() if "Luca" in page.content.decode()}
    # Who they are now, and what they made.
    assert naming & {"members", "tokens"} == set()
    assert {"overview", "library", "drafts", "ledger"} - naming == set()


@pytest.mark.parametrize("name", ["library", "ledger"])
def test_what_they_made_can_still_be_filtered_for(
    name: str, member_history: Job, luca: Membership, mira: Membership, client_of: ClientOf
) -> None:
    leave(luca)
    page = client_of(mira).get(reverse(name), {"member": luca.user_id}).content.decode()
    assert f'<option value="{luca.user_id}" selected>Luca' in page


def test_every_page_of_what_they_made_answers(
    member_history: Job, luca: Membership, mira: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira)
    leave(luca)
    for job in Job.objects.all():
        for url in (
            reverse("video", args=[job.pk]),
            reverse("video-actions", args=[job.pk]),
            reverse("studio-step", args=[job.pk, "script"]),
        ):
            assert browser.get(url, follow=True).status_code == 200, url
    url = reverse("ledger-entry", args=[member_history.account_id, 0])
    assert "Luca" in browser.get(url).content.decode()
    assert browser.get(reverse("ledger-export")).status_code == 200
