"""A role is saved when it is chosen: the row, the undo, the password, and renders in the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.members.actions.removal import remove_member
from dashboard.members.actions.roles import change_member_role
from dashboard.models import AuditEvent, Invitation, Membership, Role
from proxyapi.models import Job, JobState
from proxyapi.refusals import Refusal
from tests.dashboard.members.conftest import PASSWORD
from tests.factories import AccountFactory, JobFactory, MembershipFactory, TokenFactory

ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}


def give(browser: Client, member: Membership, role: str, **more: Any) -> Any:
    headers = more.pop("headers", None)
    url = reverse("member-roles", args=[member.pk])
    return browser.post(url, {"role": role, **more}, headers=headers)


def role_of(member: Membership) -> str:
    member.refresh_from_db()
    return member.role


def test_htmx_gets_the_row_with_the_new_role_and_an_undo(
    mira: Membership, priya: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira)
    page = give(browser, priya, "viewer", headers=HTMX).content.decode()
    undo = reverse("member-role-restorations", args=[priya.pk, "producer"])
    assert f'<tr id="member-{priya.pk}">' in page
    assert "Priya is a viewer now." in page
    assert f'action="{undo}"' in page
    assert browser.post(undo).status_code == 302
    assert role_of(priya) == Role.PRODUCER
    assert AuditEvent.objects.filter(action="member.role").count() == 2


def test_who_lowers_themselves_is_offered_no_undo(
    mira: Membership, jonas: Membership, client_of: ClientOf
) -> None:
    assert "Undo" not in give(client_of(jonas), jonas, "viewer", headers=HTMX).content.decode()


@pytest.mark.parametrize("role", ["owner", "admin", "treasurer"])
def test_a_role_that_manages_people_or_money_needs_a_recent_password(
    role: str, mira_has_password: Membership, priya: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira_has_password)
    asked = give(browser, priya, role, headers=HTMX)
    assert (asked.status_code, asked["HX-Retarget"]) == (200, "#dialogs")
    assert "Your password" in asked.content.decode()
    wrong = give(browser, priya, role, password="a lantern under the ice")
    assert wrong.status_code == 422
    assert "This is not your password. Nothing was changed." in wrong.content.decode()
    assert role_of(priya) == Role.PRODUCER
    assert give(browser, priya, role, password=PASSWORD).status_code == 302
    assert role_of(priya) == role


@pytest.mark.parametrize(("age_s", "status"), [(599, 302), (601, 422)])
def test_the_password_counts_for_ten_minutes(
    age_s: int, status: int, mira: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    assert give(confirmed_client_of(mira, age_s), priya, "admin").status_code == status


def test_after_five_wrong_passwords_the_right_one_waits(
    mira_has_password: Membership, priya: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira_has_password)
    for _ in range(5):
        give(browser, priya, "admin", password="wrong")
    page = give(browser, priya, "admin", password=PASSWORD).content.decode()
    assert "Too many wrong passwords. Nothing was changed. Wait 5 minutes." in page
    assert role_of(priya) == Role.PRODUCER


def test_the_undo_of_a_lost_role_asks_for_the_password_too(
    mira_has_password: Membership, jonas: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira_has_password)
    give(browser, jonas, "viewer")
    page = browser.post(reverse("member-role-restorations", args=[jonas.pk, "admin"]))
    assert "Make Jonas admin?" in page.content.decode()
    assert role_of(jonas) == Role.VIEWER


@pytest.fixture
def running(priya: Membership) -> Job:
    account = AccountFactory.create(tenant=priya.team.tenant)
    token = TokenFactory.create(account=account, owner=priya.user)
    job: Job = JobFactory.create(
        account=account,
        token=token,
        remote_id="9",
        state=JobState.RUNNING,
        next_poll_at=timezone.now() + timedelta(seconds=9),
    )
    return job


def test_who_has_a_render_running_becomes_no_viewer(
    running: Job, mira: Membership, priya: Membership, client_of: ClientOf
) -> None:
    page = give(client_of(mira), priya, "viewer", headers=HTMX).content.decode()
    sentence = "Not changed. Priya has 1 render running. A viewer cannot own it: hand it over first"
    assert sentence in page
    assert ">Hand over the renders</a>" in page
    assert role_of(priya) == Role.PRODUCER


def test_a_treasurer_keeps_a_token_and_so_the_running_renders(
    running: Job, mira: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    assert give(confirmed_client_of(mira), priya, "treasurer").status_code == 302
    assert role_of(priya) == Role.TREASURER


@pytest.mark.parametrize("after", [Role.ADMIN, None])
def test_who_was_demoted_or_removed_while_the_request_was_on_its_way_changes_nobody(
    after: Role | None, mira: Membership, priya: Membership
) -> None:
    """The membership of the request was read before."""
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    if after:
        change_member_role(by=mira, member=second, role=after)
    else:
        remove_member(Membership.objects.get(pk=second.pk), by=mira)
    second.role = Role.OWNER
    for act in (
        lambda: change_member_role(by=second, member=mira, role=Role.VIEWER),
        lambda: change_member_role(by=second, member=priya, role=Role.TREASURER),
        lambda: remove_member(mira, by=second),
    ):
        with pytest.raises((PermissionDenied, Refusal)):
            act()
    assert (role_of(mira), role_of(priya)) == (Role.OWNER, Role.PRODUCER)


def test_a_form_that_was_open_when_the_role_was_lowered_changes_nothing(
    mira: Membership, jonas: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(jonas)
    assert browser.get(reverse("invitations"), headers=HTMX).status_code == 200
    change_member_role(by=mira, member=jonas, role=Role.PRODUCER)
    form = {"addresses": "sam@northlight.example", "role": "producer", "message": ""}
    removal = reverse("member-removals", args=[priya.pk])
    assert browser.post(reverse("invitations"), form).status_code == 403
    assert browser.post(removal).status_code == 403
    assert give(browser, priya, "viewer").status_code == 403
    assert (Invitation.objects.count(), role_of(priya)) == (0, Role.PRODUCER)
