"""A command lets people into a team."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from dashboard.models import Membership, Role, User
from tests.factories import TeamFactory

NAME = "Nora Berg"


def added(*args: str) -> str:
    out = StringIO()
    call_command("add_member", *args, stdout=out)
    return out.getvalue()


def test_a_new_person_signs_in_with_what_the_command_shows(mira: Membership) -> None:
    said = added(mira.team.name, "Nora@northlight.example", NAME, "--role", "treasurer")
    *_, email, _, _, _, password = said.split()
    assert Client().login(request=None, email=email, password=password)
    assert mira.team.memberships.get(user__name=NAME).role == Role.TREASURER


def test_who_has_an_account_keeps_the_password(mira: Membership, otto: Membership) -> None:
    said = added(mira.team.name, otto.user.email.upper(), "Somebody Else")
    kept = User.objects.get(pk=otto.user.pk)
    assert (kept.name, kept.password) == (otto.user.name, otto.user.password)
    assert "signs in as before" in said
    assert mira.team.memberships.get(user=otto.user).role == Role.PRODUCER


@pytest.mark.parametrize(
    ("team", "email", "says"),
    [
        ("Nobody", "nora@northlight.example", "0 teams named Nobody"),
        ("Twins", "nora@northlight.example", "2 teams named Twins"),
        ("Northlight", "nora", "nora: Enter a valid email address"),
        ("Northlight", "nora@" + "n" * 300 + ".example", "Enter a valid email address"),
        ("Northlight", "MIRA@northlight.example", "is already a member of Northlight"),
    ],
)
def test_what_cannot_be_is_said(team: str, email: str, says: str, mira: Membership) -> None:
    TeamFactory.create_batch(2, name="Twins")
    with pytest.raises(CommandError, match=says):
        added(team, email, NAME)
    assert not User.objects.filter(name=NAME).exists()


@pytest.mark.parametrize("blank", ["", "   "])
def test_nobody_is_without_a_name(blank: str, mira: Membership) -> None:
    with pytest.raises(CommandError, match="example needs a name"):
        added(mira.team.name, "nora@northlight.example", blank)
    assert not User.objects.filter(email="nora@northlight.example").exists()
