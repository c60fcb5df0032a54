"""Who may give which role to whom: every actor, every member, every new role."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse

from dashboard.members.actions.roles import change_member_role
from dashboard.models import AlertEvent, AuditEvent, Delivery, Membership, Role, Team
from tests.cases import each_case
from tests.factories import MembershipFactory

ClientOf = Callable[[Membership], Client]
OWNER, ADMIN, TREASURER, PRODUCER, VIEWER = Role
# Who gives which roles, by the role that the member has before. What is missing is refused.
GIVES: dict[tuple[Role, Role], set[Role]] = {
    **{(OWNER, current): set(Role) for current in Role},
    **{(ADMIN, current): {ADMIN, PRODUCER, VIEWER} for current in (ADMIN, PRODUCER, VIEWER)},
    (TREASURER, VIEWER): {TREASURER, VIEWER},
}


def member(team: Team, role: Role) -> Membership:
    return MembershipFactory.create(team=team, role=role)


@each_case("actor, current, new", product(Role, repeat=3), rolls_back=True)
def test_a_role_is_given_by_who_has_its_permissions_and_those_of_the_one_before(
    actor: Role, current: Role, new: Role, northlight: Team, mira: Membership
) -> None:
    by, target = member(northlight, actor), member(northlight, current)
    if new in GIVES.get((actor, current), set()):
        assert change_member_role(by=by, member=target, role=new) is (new != current)
    else:
        with pytest.raises(PermissionDenied):
            change_member_role(by=by, member=target, role=new)
        new = current
    target.refresh_from_db()
    assert target.role == new
    assert AuditEvent.objects.count() == (new != current)


@each_case("actor", Role, rolls_back=True)
def test_the_page_offers_exactly_the_roles_that_are_given(
    actor: Role, northlight: Team, client_of: ClientOf
) -> None:
    by, targets = member(northlight, actor), [member(northlight, current) for current in Role]
    page = client_of(by).get(reverse("members")).content.decode()
    for target in targets:
        row = page.partition(f'id="member-{target.pk}"')[2].partition("</tr>")[0]
        offered = {role for role in Role if f'value="{role.value}"' in row}
        assert offered == GIVES.get((actor, Role(target.role)), set()), target.role


@pytest.mark.parametrize("who", ["jonas", "thea"])
def test_nobody_gives_themselves_more(
    who: str, request: pytest.FixtureRequest, mira: Membership, client_of: ClientOf
) -> None:
    me = request.getfixturevalue(who)
    for role in (OWNER, ADMIN, TREASURER):
        answer = client_of(me).post(reverse("member-roles", args=[me.pk]), {"role": role})
        assert answer.status_code == (302 if role == me.role == ADMIN else 403), role
    me.refresh_from_db()
    assert me.role == (ADMIN if who == "jonas" else TREASURER)


def test_the_owners_are_notified_in_the_portal_and_by_mail(
    mira: Membership,
    jonas: Membership,
    priya: Membership,
    client_of: ClientOf,
    confirmed_client_of: ClientOf,
) -> None:
    url = reverse("member-roles", args=[priya.pk])
    assert confirmed_client_of(jonas).post(url, {"role": "admin"}).status_code == 302
    event = AlertEvent.objects.get(member=mira.user)
    assert event.title == "Jonas Weber made Priya Raman admin"
    assert event.text.startswith("Priya Raman was producer before.")
    assert [row.address for row in event.deliveries.all()] == ["mira@northlight.example"]
    assert event.title in client_of(mira).get(reverse("alerts")).content.decode()
    assert event.title not in client_of(priya).get(reverse("alerts")).content.decode()


def test_the_member_is_notified_and_who_gives_the_role_is_not(
    mira: Membership, priya: Membership
) -> None:
    change_member_role(by=mira, member=priya, role=VIEWER)
    event = AlertEvent.objects.get()
    assert (event.member, event.title) == (priya.user, "You are viewer of Northlight now")
    assert Delivery.objects.get().address == "priya@northlight.example"
