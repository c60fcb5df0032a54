"""The members page: who sees it, who changes a role, and which changes are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.members.queries.role_matrix import PERMISSION_LABELS
from dashboard.models import AlertEvent, AuditEvent, Membership, Role, User
from dashboard.shared.roles import Permission
from proxyapi.models import ChargeState, Token, TokenState
from tests.cases import each_case
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    JobFactory,
    MembershipFactory,
    TokenFactory,
)
from tests.pages import page_text

ClientOf = Callable[[Membership], Client]


def give(browser: Client, member: Membership, role: str) -> Any:
    return browser.post(reverse("member-roles", args=[member.pk]), {"role": role})


@pytest.fixture
def team(
    mira: Membership, jonas: Membership, thea: Membership, priya: Membership, vera: Membership
) -> dict[str, Membership]:
    return {"mira": mira, "jonas": jonas, "thea": thea, "priya": priya, "vera": vera}


def test_every_member_sees_everybody_and_what_they_may_do(
    team: dict[str, Membership], client_of: ClientOf
) -> None:
    url = reverse("members")
    pages = {who: client_of(member).get(url).content.decode() for who, member in team.items()}
    for who, page in pages.items():
        assert all(member.user.email in page for member in team.values()), who
        assert "Make and render videos" in page, who
    assert "<select" not in pages["vera"]
    assert "Owners and admins invite people and change roles." in pages["vera"]
    assert "Owners and admins invite" not in pages["jonas"]
    # Who reads the audit log is led to what a member did.
    link = f'href="/audit/?who={team["priya"].user_id}"'
    assert [link in pages[who] for who in ("mira", "thea", "priya")] == [True, True, False]


def test_the_table_of_roles_has_every_permission(mira: Membership, client_of: ClientOf) -> None:
    assert set(PERMISSION_LABELS) == set(Permission)
    html = client_of(mira).get(reverse("members")).content.decode()
    table = html.partition('<table class="matrix">')[2].partition("</table>")[0]
    rows = [page_text(row.encode()) for row in table.split("<tr>")[2:]]
    for row, permission in zip(rows, Permission, strict=True):
        label, limit = PERMISSION_LABELS[permission]
        assert row.startswith(label)
        assert limit in row
    assert rows[-1].endswith("no no no yes yes")  # viewer, producer, treasurer, admin, owner


def test_initials_are_two_letters_at_most() -> None:
    people = [User(name=name, email="vera@northlight.example") for name in ("mira", "A B C", "")]
    assert [person.initials for person in people] == ["M", "AC", "V"]


def test_another_team_is_not_seen(
    team: dict[str, Membership], otto: Membership, client_of: ClientOf
) -> None:
    page = client_of(otto).get(reverse("members")).content.decode()
    assert "northlight.example" not in page


@pytest.mark.parametrize("who", ["mira", "jonas"])
def test_an_owner_or_admin_changes_a_role_and_it_is_written_down(
    who: str, team: dict[str, Membership], client_of: ClientOf
) -> None:
    browser = client_of(team[who])
    assert give(browser, team["priya"], "viewer").status_code == 302
    team["priya"].refresh_from_db()
    assert team["priya"].role == Role.VIEWER
    assert "Priya is a viewer now." in browser.get(reverse("members")).content.decode()
    event = AuditEvent.objects.get(action="member.role")
    actor = team[who].user
    assert (event.actor_kind, event.actor_id) == ("person", str(actor.pk))
    assert event.actor_name == str(actor)
    assert (event.before, event.after) == ({"role": "producer"}, {"role": "viewer"})


@pytest.mark.parametrize("who", ["thea", "priya", "vera"])
def test_nobody_else_changes_a_role(
    who: str, team: dict[str, Membership], client_of: ClientOf
) -> None:
    response = give(client_of(team[who]), team["priya"], "owner")
    assert response.status_code == 403
    team["priya"].refresh_from_db()
    assert team["priya"].role == Role.PRODUCER


@pytest.mark.parametrize(
    ("member", "role", "sentence"),
    [
        ("priya", "owner", "You can only assign roles whose permissions you have yourself."),
        ("jonas", "treasurer", "You can only assign roles whose permissions you have yourself."),
        ("mira", "viewer", "This member has permissions that you do not have"),
        ("thea", "viewer", "This member has permissions that you do not have"),
    ],
)
def test_an_admin_neither_gives_nor_takes_permissions_that_they_lack(
    member: str, role: str, sentence: str, team: dict[str, Membership], client_of: ClientOf
) -> None:
    response = give(client_of(team["jonas"]), team[member], role)
    assert response.status_code == 403
    assert sentence in response.content.decode()
    assert not AuditEvent.objects.exclude(action="access.refuse").exists()


def test_the_last_owner_stays_owner(team: dict[str, Membership], client_of: ClientOf) -> None:
    response = give(client_of(team["mira"]), team["mira"], "viewer")
    assert response.status_code == 422
    page = response.content.decode()
    assert "The team needs an owner. Make another member an owner first." in page
    assert f'id="role-{team["mira"].pk}-error"' in page
    assert f'id="role-{team["mira"].pk}"' not in page
    team["mira"].refresh_from_db()
    assert team["mira"].role == Role.OWNER


def test_one_of_two_owners_may_step_down(
    team: dict[str, Membership], confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(team["mira"])
    give(browser, team["jonas"], "owner")
    assert give(browser, team["mira"], "producer").status_code == 302
    team["mira"].refresh_from_db()
    assert team["mira"].role == Role.PRODUCER


@pytest.mark.parametrize("role", ["", "emperor", "OWNER"])
def test_a_role_that_does_not_exist_is_not_given(
    role: str, team: dict[str, Membership], client_of: ClientOf
) -> None:
    response = give(client_of(team["mira"]), team["priya"], role)
    assert response.status_code == 422
    assert "There is no such role." in response.content.decode()


def test_the_same_role_again_changes_nothing(
    team: dict[str, Membership], client_of: ClientOf
) -> None:
    give(client_of(team["mira"]), team["priya"], "producer")
    assert not AuditEvent.objects.exists()


def test_the_best_token_and_what_each_spent_this_month_stand_in_their_row(
    team: dict[str, Membership], client_of: ClientOf
) -> None:
    account = AccountFactory.create(tenant=team["mira"].team.tenant)
    TokenFactory.create(account=account, owner=team["priya"].user, state=TokenState.REVOKED)
    token = TokenFactory.create(account=account, owner=team["priya"].user)
    job = JobFactory.create(account=account, token=token)
    ChargeFactory.create(job=job, state=ChargeState.CONFIRMED, cost=96, sent_at=timezone.now())
    shut = TokenFactory.create(account=account, owner=team["priya"].user)
    Token.objects.filter(pk=shut.pk).update(ciphertext=b"")
    TokenFactory.create(account=account, owner=team["jonas"].user, state=TokenState.REVOKED)
    page = client_of(team["vera"]).get(reverse("members")).content.decode()
    assert page.count("Working") == 1
    assert page.count("Revoked since") == 1
    assert page.count("No token") == 2
    assert page.count("Not needed") == 1
    assert "5 people, 1 with a working token." in page
    row = page.partition(f'id="member-{team["priya"].pk}"')[2].partition("</tr>")[0]
    assert 'value="96"' in row
    assert f"/ledger/?member={team['priya'].user_id}" in row
    assert "Counts the portal’s charges, without refunded ones." in page


@pytest.mark.parametrize(("members", "shown"), [(20, False), (21, True)])
def test_search_and_filters_come_with_the_21st_member(
    members: int, shown: bool, mira: Membership, client_of: ClientOf
) -> None:
    MembershipFactory.create_batch(members - 1, team=mira.team)
    page = client_of(mira).get(reverse("members")).content.decode()
    assert ('id="member-search"' in page) is shown


@pytest.fixture
def crowd(mira: Membership, vera: Membership) -> None:
    """55 members with Mira and Vera."""
    MembershipFactory.create(team=mira.team, user__name="Nóra Kis")
    MembershipFactory.create_batch(52, team=mira.team)


@each_case(
    "query, count",
    [
        *(("", 50), ("?offset=50", 5), ("?role=viewer", 1), ("?q=NÓRA", 1), ("?token=none", 50)),
        *(("?q=nobody", 0), ("?role=emperor&offset=x", 50)),
    ],
)
def test_the_list_is_narrowed_and_paged_by_its_address(
    query: str, count: int, crowd: None, mira: Membership, client_of: ClientOf
) -> None:
    page = client_of(mira).get(f"{reverse('members')}{query}").content.decode()
    assert page.count('<tr id="member-') == count
    assert ("Nothing matches" in page) is (count == 0)
    assert "55 people" in page


def test_a_member_without_a_token_is_reminded_twice_an_hour_at_most(
    team: dict[str, Membership], client_of: ClientOf
) -> None:
    browser, priya = client_of(team["mira"]), team["priya"]
    url = reverse("member-token-requests", args=[priya.pk])
    assert url in browser.get(reverse("members")).content.decode()
    for _ in range(3):
        browser.post(url)
    assert AlertEvent.objects.filter(member=priya.user).count() == 2
    assert "was reminded a moment ago" in browser.get(reverse("members")).content.decode()


def test_nobody_is_reminded_who_has_a_token_or_needs_none(
    team: dict[str, Membership], client_of: ClientOf
) -> None:
    account = AccountFactory.create(tenant=team["mira"].team.tenant)
    TokenFactory.create(account=account, owner=team["priya"].user)
    browser = client_of(team["mira"])
    for name in ("priya", "vera"):
        browser.post(reverse("member-token-requests", args=[team[name].pk]))
    assert not AlertEvent.objects.exists()
