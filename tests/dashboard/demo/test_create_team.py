"""Where there is no demo, one command makes the first team."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import Role, Team

pytestmark = pytest.mark.django_db


def test_the_owner_signs_in_with_what_the_command_shows(client):
    out = StringIO()
    call_command("create_team", "Northlight", "Mira@Northlight.example", "Mira Sandvik", stdout=out)

    *_, email, _, _, _, password = out.getvalue().split()

    assert client.login(request=None, email=email, password=password)
    assert Team.objects.get().memberships.get().role == Role.OWNER


def test_an_address_is_taken_once(mira):
    with pytest.raises(CommandError, match="already has a user account"):
        call_command("create_team", "Other", "MIRA@northlight.example", "Mira")


@pytest.mark.parametrize("blank", ["", "   "])
def test_nobody_is_without_a_name(blank):
    with pytest.raises(CommandError, match="needs a name"):
        call_command("create_team", "Northlight", "mira@northlight.example", blank)
    assert not Team.objects.exists()


def test_the_owner_has_an_address_to_sign_in_with():
    with pytest.raises(CommandError, match="valid email address"):
        call_command("create_team", "Northlight", "Mira Sandvik", "mira@northlight.example")
    assert not Team.objects.exists()


@pytest.mark.parametrize("name", ["", "  ", "Northlight", "n" * 61])
def test_a_team_name_is_unique(name):
    call_command("create_team", "Northlight", "mira@northlight.example", "Mira", stdout=StringIO())
    with pytest.raises(CommandError, match="a unique name of at most 60"):
        call_command("create_team", name, "jonas@northlight.example", "Jonas")
