"""Where there is no demo, one command makes the first team."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import Role, Team

pytestmark = pytest.mark.django_db


def test_the_owner_signs_in_with_what_the_command_shows(client):
    out = StringIO()
    call_command("found_team", "Northlight", "Mira@Northlight.example", "Mira Sandvik", stdout=out)

    *_, email, _, password = out.getvalue().split()

    assert client.login(request=None, email=email, password=password)
    assert Team.objects.get().memberships.get().role == Role.OWNER


def test_an_address_is_taken_once(mira):
    with pytest.raises(CommandError, match="has an account already"):
        call_command("found_team", "Other", "MIRA@northlight.example", "Mira")


@pytest.mark.parametrize("blank", ["", "   "])
def test_nobody_is_without_a_name(blank):
    with pytest.raises(CommandError, match="The owner needs a name"):
        call_command("found_team", "Northlight", "mira@northlight.example", blank)
    assert not Team.objects.exists()
