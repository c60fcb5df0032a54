"""`manage.py create_key` prints the key alone, and says in a sentence what is wrong."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dashboard.models import AuditEvent, AuditSource, Membership, Role
from proxyapi import tokens
from proxyapi.gateway.keys import find_key
from proxyapi.models import ApiKey, KeyScope, Token
from tests.dashboard.tokens.test_page import PROFILE
from tests.factories import MembershipFactory, TeamFactory

PASTED = "sbx_canary_of_create_key_91c2"


@pytest.fixture
def give_token(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What stands on standard input; the service knows every token."""

    def give(text: str) -> None:
        monkeypatch.setattr(tokens, "fetch_profile", lambda token, secret: PROFILE)
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    return give


def created(*args: str, **options: Any) -> str:
    out = StringIO()
    call_command("create_key", *args, stdout=out, **options)
    return out.getvalue()


def test_the_key_alone_is_printed(priya: Membership, token: Token) -> None:
    printed = created("Priya@northlight.example", "--name", "nightly", "--scopes", "all")
    key = find_key(printed.rstrip("\n"), timezone.now())
    assert key is not None
    assert (key.owner, key.name, key.token) == (priya.user, "nightly", None)
    assert set(key.scopes) == set(KeyScope.values)
    event = AuditEvent.objects.get()
    assert (event.action, event.actor_name) == ("api_key.create", "manage.py create_key")
    assert event.source == AuditSource.COMMAND
    assert printed.strip() not in str(AuditEvent.objects.values_list())


def test_a_token_of_standard_input_is_added_and_used(
    priya: Membership, give_token: Callable[[str], None]
) -> None:
    give_token(f"  {PASTED}\n")
    args = ("priya@northlight.example", "--name", "nightly", "--scopes", "read,render")
    key = find_key(created(*args, "--upstream-token", "-").strip(), timezone.now())
    token = Token.objects.get()
    assert key is not None
    assert (key.token, key.scopes) == (token, ["read", "render"])
    assert (token.last_four, token.owner, token.name) == ("91c2", priya.user, "nightly")
    actions = AuditEvent.objects.order_by("position").values_list("action", "actor_name")
    command = "manage.py create_key"
    assert list(actions) == [("token.add", command), ("api_key.create", command)]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nobody@northlight.example"], "nobody@northlight.example is no member of a team."),
        (["--team", "Nobody"], "is no member of a team named Nobody."),
        (["--scopes", "read,everything"], "There is no scope named everything. Give all, or"),
        (["--scopes", " , "], "A key needs a scope."),
        (["--name", "  "], "A key needs a name of 1 to 60 characters."),
        (["--name", "x" * 61], "A key needs a name of 1 to 60 characters."),
        (["--name", "a\x07b"], "The name cannot be used."),
        (["--name", "taken"], "You have an API key with this name already."),
    ],
)
def test_what_cannot_be_is_said(
    args: list[str], sentence: str, priya: Membership, make_key: Callable[..., ApiKey]
) -> None:
    make_key("taken")
    email = [] if "@" in args[0] else ["priya@northlight.example"]
    given = {"--name": "nightly", "--scopes": "all"}
    rest = [part for name, value in given.items() if name not in args for part in (name, value)]
    with pytest.raises(CommandError, match=sentence):
        created(*email, *args, *rest)
    assert ApiKey.objects.count() == 1


def test_without_a_token_nothing_is_created(priya: Membership) -> None:
    with pytest.raises(CommandError, match="no token yet"):
        created("priya@northlight.example", "--name", "nightly", "--scopes", "all")
    assert not ApiKey.objects.exists()


def test_a_taken_name_adds_no_token(
    make_key: Callable[..., ApiKey], give_token: Callable[[str], None]
) -> None:
    make_key("nightly")
    give_token(PASTED)
    args = ("priya@northlight.example", "--name", "nightly", "--scopes", "all")
    with pytest.raises(CommandError, match="with this name already"):
        created(*args, "--upstream-token", "-")
    assert Token.objects.count() == 1


def test_a_viewer_gets_no_key(vera: Membership) -> None:
    with pytest.raises(CommandError, match="is a viewer of the team"):
        created("vera@northlight.example", "--name", "nightly", "--scopes", "read")


def test_a_member_of_several_teams_names_one(priya: Membership, token: Token) -> None:
    other = TeamFactory.create(name="Otherwhere")
    MembershipFactory.create(team=other, user=priya.user, role=Role.OWNER)
    args = ("priya@northlight.example", "--name", "nightly", "--scopes", "all")
    with pytest.raises(CommandError, match="Give one by --team: Northlight, Otherwhere"):
        created(*args)
    assert find_key(created(*args, "--team", "Northlight").strip(), timezone.now())


def test_a_wrong_call_ends_with_a_sentence_on_standard_error() -> None:
    call = [sys.executable, "manage.py", "create_key", "x@x.example", "--name", "x"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "--scopes" in done.stderr
