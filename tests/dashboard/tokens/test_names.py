"""The name of a token: given when it is added, changed in a dialog, kept when it is added again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dashboard.models import Membership
from proxyapi import tokens
from proxyapi.models import Token, TokenState
from tests.factories import AccountFactory, TokenFactory
from tests.pages import page_text

ClientOf = Callable[[Membership], Client]
VALUE = "sbx_canary_of_the_names_7f21"


@pytest.fixture
def token(priya: Membership) -> Token:
    account = AccountFactory.create(tenant=priya.team.tenant)
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture(autouse=True)
def _accepting_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "fetch_profile", lambda *_: {"id": 77, "name": "Northlight Media"})


def rename(browser: Client, token: Token, name: str) -> Any:
    return browser.post(reverse("token-names", args=[token.pk]), {"name": name}, follow=True)


def test_a_token_is_added_with_a_name(priya: Membership, client_of: ClientOf) -> None:
    form = {"token": VALUE, "name": " Night <renders> "}
    page = client_of(priya).post(reverse("tokens"), form, follow=True).content.decode()
    assert Token.objects.get().name == "Night <renders>"
    assert "<bdi>Night &lt;renders&gt;</bdi>" in page


def test_the_name_is_stored_with_the_token(priya: Membership, client_of: ClientOf) -> None:
    """Not in an update of its own, after which the token could be left without."""
    with CaptureQueriesContext(connection) as queries:
        client_of(priya).post(reverse("tokens"), {"token": VALUE, "name": "Night renders"})
    sent = [query["sql"] for query in queries if "proxyapi_token" in query["sql"]]
    assert sum(sql.startswith("INSERT") for sql in sent) == 1
    assert not [sql for sql in sent if sql.startswith("UPDATE") and '"name" =' in sql]


def test_a_refused_token_leaves_the_name_in_its_field(
    priya: Membership, client_of: ClientOf
) -> None:
    page = client_of(priya).post(reverse("tokens"), {"token": "a b", "name": "Night renders"})
    assert 'value="Night renders"' in page.content.decode()
    assert not Token.objects.exists()


def test_a_token_that_is_added_again_keeps_its_name(priya: Membership, client_of: ClientOf) -> None:
    browser = client_of(priya)
    browser.post(reverse("tokens"), {"token": VALUE, "name": "Night renders"})
    Token.objects.update(state=TokenState.REVOKED)
    browser.post(reverse("tokens"), {"token": VALUE, "name": ""})
    assert Token.objects.not_removed().get().name == "Night renders"


@pytest.mark.parametrize("who", ["priya", "mira", "jonas"])
def test_its_member_and_managers_rename_it(
    who: str, request: pytest.FixtureRequest, token: Token, client_of: ClientOf
) -> None:
    browser = client_of(request.getfixturevalue(who))
    text = page_text(rename(browser, token, "Night renders").content)
    assert f"Token …{token.last_four} is named “Night renders” now." in text
    dialog = browser.get(reverse("token-names", args=[token.pk])).content.decode()
    assert 'value="Night renders"' in dialog
    text = page_text(rename(browser, token, "").content)
    assert f"Token …{token.last_four} has no name now." in text
    token.refresh_from_db()
    assert token.name == ""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x" * 61, "At most 60 characters are allowed (now 61)."),
        ("a\u202eb", "It contains an invisible character."),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_stays_in_the_field(
    name: str, sentence: str, token: Token, priya: Membership, client_of: ClientOf
) -> None:
    answer = rename(client_of(priya), token, name)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert f'value="{name}"' in answer.content.decode()
    token.refresh_from_db()
    assert token.name == ""
