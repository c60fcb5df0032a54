"""Documents of clients that are not what they should be, and clients that register themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from django.core.cache import cache
from django.test import Client

from dashboard.agents import documents
from dashboard.api_keys.agent_tokens import find_agent_by_token
from dashboard.models import Membership
from proxyapi.models import ApiKey, Token
from proxyapi.refusals import Refusal
from tests.dashboard.agents.conftest import Documents, Program, read_form
from tests.pages import page_text

Connect = Callable[..., dict[str, Any]]
ClientOf = Callable[..., Client]


@pytest.mark.parametrize(
    ("status", "body", "headers", "why"),
    [
        (200, b" " * 10_000_000, {}, "larger than 64 kB"),
        (302, b"", {"Location": "https://evil.example/client.json"}, "answered 302"),
        (404, b"", {}, "answered 404"),
        (200, b"[1]", {}, "not a JSON object"),
        (200, b"[" * 60_000, {}, "not a JSON object"),
        (200, b"\xff\xfe\xfd", {}, "not a JSON object"),
    ],
    ids=["10 MB", "redirect", "missing", "list", "nested", "bytes"],
)
def test_a_document_that_cannot_be_read_is_refused_with_the_reason(
    status: int,
    body: bytes,
    headers: dict[str, str],
    why: str,
    priya: Membership,
    program: Program,
    confirmed_client_of: ClientOf,
) -> None:
    program.serve(status, body, **headers)
    answer = confirmed_client_of(priya).get(program.consent_url())
    assert answer.status_code == 400
    assert why in page_text(answer.content)
    assert not OAuthClient.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://other.example/client.json"},
        {"client_name": ""},
        {"client_name": "Two\nlines"},
        {"client_name": "\u202eevil"},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": "https://helper.example/"},
        {"token_endpoint_auth_method": "private_key_jwt"},
    ],
)
def test_a_document_that_says_something_wrong_is_refused(
    changes: dict[str, Any], priya: Membership, program: Program, confirmed_client_of: ClientOf
) -> None:
    address = program.client_id
    program.publish(**changes)
    answer = confirmed_client_of(priya).get(program.consent_url(client_id=address))
    assert answer.status_code == 400
    assert not OAuthClient.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        "https://10.0.0.1/client.json",
        "https://127.0.0.1/client.json",
        "https://[::1]/client.json",
        "https://169.254.169.254/latest/meta-data",
        "http://helper.example/client.json",
    ],
)
def test_no_document_is_read_from_a_private_address(
    address: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VIDEO_API_IS_SANDBOX = False
    monkeypatch.setattr("httpx.Client", None)  # nothing is connected to
    with pytest.raises(Refusal, match=r"not public|client ID must|not valid"):
        documents.read_document(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://helper.example",
        "https://helper.example/",
        "https://helper.example/a?b=c",
        "https://helper.example/a#b",
        "https://u@helper.example/a",
        "https://helper.example/a/../b",
        "https://HELPER.example/a",
        f"https://helper.example/{'a' * 100}",
        "https:///a",
        "https:a",
    ],
)
def test_a_client_id_has_one_spelling(address: str) -> None:
    with pytest.raises(Refusal, match="client ID must"):
        documents.check_address(address)


def test_a_client_id_that_is_too_long_is_refused_with_a_sentence(
    priya: Membership, program: Program, confirmed_client_of: ClientOf
) -> None:
    long = f"https://helper.example/{'a' * 100}"
    answer = confirmed_client_of(priya).get(program.consent_url(client_id=long))
    assert answer.status_code == 400
    assert "an https address of at most 100 characters" in page_text(answer.content)


def test_a_document_that_changed_while_the_page_was_open_is_shown_again(
    priya: Membership, token: Token, program: Program, confirmed_client_of: ClientOf
) -> None:
    browser, url = confirmed_client_of(priya), program.consent_url()
    form = read_form(browser.get(url).content)
    program.publish(client_name="Another name")
    confirmed_client_of(priya).get(url)  # somebody has it read meanwhile
    answer = browser.post(url, form)
    assert answer.status_code == 200
    assert "Connect Another name?" in page_text(answer.content)
    assert not ApiKey.objects.exists()
    assert browser.post(url, read_form(answer.content)).status_code == 303


def test_a_document_that_changed_after_the_consent_needs_another_one(
    connect: Connect, program: Program
) -> None:
    tokens = connect()
    tokens = program.refresh(tokens["refresh_token"]).json()
    program.publish(redirect_uris=["https://evil.example/callback"])
    cache.clear()  # a day later
    assert program.refresh(tokens["refresh_token"]).json() == {"error": "invalid_grant"}
    assert find_agent_by_token(tokens["access_token"]) is None


def test_a_document_that_cannot_be_read_later_changes_nothing(
    connect: Connect, program: Program
) -> None:
    tokens = connect()
    program.serve(503)
    assert program.refresh(tokens["refresh_token"]).status_code == 200


def test_a_document_is_read_at_most_ten_times_a_minute_for_a_member(
    priya: Membership, program: Program, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(priya)
    answers = [browser.get(program.consent_url()) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [400]
    assert "You opened too many of these pages." in page_text(answers[-1].content)
    assert len(Documents.seen) == 10


def register(**changes: Any) -> Any:
    metadata = {
        "client_name": "Registered",
        "redirect_uris": ["http://localhost:9/callback"],
        "token_endpoint_auth_method": "none",
        **changes,
    }
    return Client().post("/oauth/clients/", json.dumps(metadata), "application/json")


def test_nobody_registers_a_client_unless_the_operator_allows_it(
    settings: Any, priya: Membership, confirmed_client_of: ClientOf, program: Program
) -> None:
    assert register().status_code == 404
    settings.IDP_OIDC_DCR_ENABLED = True
    assert "registration_endpoint" in Client().get("/.well-known/oauth-authorization-server").json()
    answer = register()
    assert answer.status_code == 201
    url = program.consent_url(
        client_id=answer.json()["client_id"], redirect_uri="http://localhost:7777/callback"
    )
    page = page_text(confirmed_client_of(priya).get(url).content)
    assert "It registered itself." in page
    for wrong in (
        {"redirect_uris": ["http://evil.example/"]},
        {"token_endpoint_auth_method": "client_secret_basic"},
    ):
        assert register(**wrong).json()["error"] == "invalid_client_metadata"
