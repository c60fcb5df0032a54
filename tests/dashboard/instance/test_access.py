"""The pages of the operator do not exist for anybody else, whatever their role."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from dashboard.models import Role, User
from tests.dashboard.shared.route_objects import unrendered
from tests.dashboard.shared.routes import OPERATORS

OF_A_TEAM = {"team-suspensions", "team-restorations", "team-invitations"}


def url(name, team):
    return reverse(name, args=[team.pk] if name in OF_A_TEAM else [])


@unrendered()
@pytest.mark.parametrize("role", ["mira", "jonas", "thea", "priya", "vera"])
def test_no_role_of_a_team_opens_them(role, request, northlight, otto, client_of):
    browser = client_of(request.getfixturevalue(role))
    for name in sorted(OPERATORS):
        for target in (northlight, otto.team):
            assert browser.get(url(name, target)).status_code in (404, 405)
            assert browser.post(url(name, target), {"reason": "x"}).status_code in (404, 405)
    assert browser.post(url("team-suspensions", northlight)).status_code == 404


def test_strangers_sign_in_first(client, northlight):
    assert client.get(reverse("instance")).url.startswith(reverse("account_login"))


def test_only_the_operator_finds_it_in_the_menu(operator, jonas, client_of):
    assert reverse("instance") in client_of(operator).get("/members/").content.decode()
    assert reverse("instance") not in client_of(jonas).get("/members/").content.decode()


def test_a_command_makes_an_operator_and_takes_it_back(jonas):
    call_command("grant_operator", "Jonas@Northlight.example", stdout=StringIO())
    assert User.objects.get(pk=jonas.user_id).is_superuser
    call_command("grant_operator", "jonas@northlight.example", "--revoke", stdout=StringIO())
    assert not User.objects.get(pk=jonas.user_id).is_superuser
    with pytest.raises(CommandError, match="Nobody has the address"):
        call_command("grant_operator", "nobody@northlight.example")


def test_the_first_user_of_an_installation_is_its_operator(db):
    for name in ("ada", "bob"):
        call_command("create_team", name, f"{name}@example.com", name, stdout=StringIO())
    assert [user.name for user in User.objects.filter(is_superuser=True)] == ["ada"]
    assert User.objects.get(name="ada").memberships.get().role == Role.OWNER
