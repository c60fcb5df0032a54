"""What RFC 9700 warns of, and documents that are not what they should be. Nothing is connected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token as OAuthToken
from django.test import Client

from dashboard.agents.redirects import form_targets, is_allowed_target
from dashboard.api_keys.agent_tokens import find_agent_by_token
from dashboard.models import AuditEvent, Membership
from proxyapi.models import ApiKey, Token
from tests.dashboard.agents.conftest import VERIFIER, Program, query_of
from tests.pages import page_text

Press = Callable[..., Any]
Connect = Callable[..., dict[str, Any]]
ClientOf = Callable[..., Client]
PLAIN = {"code_challenge": VERIFIER, "code_challenge_method": "plain"}


def refused_with(answer: Any) -> dict[str, str]:
    """The answer that the page offers to tell the program, without doing so by itself."""
    assert answer.status_code == 400
    assert "Nothing was connected." in page_text(answer.content)
    text = answer.content.decode()
    start = text.index('href="http://127.0.0.1:54321/callback?') + 6
    address = text[start : text.index('"', start)].replace("&amp;", "&")
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        (PLAIN, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"response_type": "token"}, "unauthorized_client"),
        ({"prompt": "none"}, "consent_required"),
    ],
    ids=["no PKCE", "plain", "no method", "other resource", "implicit", "no consent"],
)
def test_a_request_that_is_not_safe_gets_no_consent(
    changes: dict[str, str | None],
    error: str,
    priya: Membership,
    program: Program,
    confirmed_client_of: ClientOf,
) -> None:
    answer = refused_with(confirmed_client_of(priya).get(program.consent_url(**changes)))
    assert answer["error"] == error
    assert answer["state"] == "of-this-sign-in"
    assert answer["iss"] == "http://localhost:8000"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "http://127.0.0.1:54321/other",
        "http://127.0.0.1:54321/callback?more=1",
        "http://127.0.0.1:54321/callback/../callback",
        "http://127.0.0.1.evil.example/callback",
        "http://127.0.0.1@evil.example/callback",
        "http://localhost:54321/callback",
        "https://helper.example/callback/",
        "https://helper.example:444/callback",
        "https://helper.example/callback?x=1",
        "https://helper.example/callback#part",
        "https://HELPER.example/callback",
        "https://evil@helper.example/callback",
        "https://evil.example\\@helper.example/callback",
        "javascript:alert(1)",
    ],
)
def test_a_redirect_that_is_not_in_the_document_is_never_followed(
    uri: str, priya: Membership, program: Program, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(priya)
    answer = browser.get(program.consent_url(redirect_uri=uri))
    assert answer.status_code == 400
    assert "is not in the document of the program" in page_text(answer.content)
    assert "Tell the program" not in page_text(answer.content)
    assert browser.post(program.consent_url(redirect_uri=uri)).status_code == 400


@pytest.mark.parametrize(
    ("uri", "target"),
    [
        ("http://127.0.0.1:1/callback", "http://127.0.0.1:1"),
        ("https://helper.example/callback", "https://helper.example"),
        ("helper-app:/done", "helper-app:"),
    ],
)
def test_each_kind_of_listed_redirect_gets_its_code(
    uri: str, target: str, press: Press, priya: Membership, program: Program
) -> None:
    answer = press(priya, program.consent_url(redirect_uri=uri))
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(f"{uri}?code=")
    assert form_targets(uri)[1] == target
    tokens = program.exchange(query_of(answer)["code"], redirect_uri=uri)
    assert tokens.status_code == 200


def test_an_ipv6_loopback_is_allowed_by_its_scheme() -> None:
    assert is_allowed_target("http://[::1]:9/callback")
    assert form_targets("http://[::1]:9/callback")[1] == "http:"


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://helper.example/",
        "//helper.example/",
        "/x",
        "https://*.example/",
        "https://a.example/#x",
        "https://u@a.example/",
        "https:///x",
        "http://127.0.0.1:port/",
        "https://a.example/\n",
        "vbscript:x",
    ],
)
def test_a_document_with_a_redirect_that_a_browser_would_run_is_refused(uri: str) -> None:
    assert not is_allowed_target(uri)


def test_a_code_counts_once_and_its_second_use_ends_the_tokens(
    press: Press, priya: Membership, token: Token, program: Program
) -> None:
    code = query_of(press(priya, program.consent_url()))["code"]
    tokens = program.exchange(code).json()
    assert find_agent_by_token(tokens["access_token"]) is not None
    assert program.exchange(code).json() == {"error": "invalid_grant"}
    assert find_agent_by_token(tokens["access_token"]) is None
    assert program.refresh(tokens["refresh_token"]).status_code == 400
    assert AuditEvent.objects.get(action="agent.token_replay").details["what"] == "code"


def test_a_refresh_token_counts_once_and_its_second_use_ends_the_tokens(
    connect: Connect, program: Program
) -> None:
    first = connect()
    second = program.refresh(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert find_agent_by_token(second["access_token"]) is not None
    assert program.refresh(first["refresh_token"]).json() == {"error": "invalid_grant"}
    assert find_agent_by_token(first["access_token"]) is None
    assert find_agent_by_token(second["access_token"]) is None
    assert program.refresh(second["refresh_token"]).status_code == 400
    assert ApiKey.objects.get().revoked_at is None
    assert AuditEvent.objects.get(action="agent.token_replay").details["what"] == "refresh token"


@pytest.mark.parametrize(
    "changes",
    [
        {"code_verifier": "another verifier of at least forty-three characters"},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:1/callback"},
        {"client_id": "http://127.0.0.1:1/other.json"},
        {"resource": "https://other.example/mcp"},
    ],
    ids=["verifier", "no verifier", "redirect", "client", "resource"],
)
def test_a_stolen_code_gets_no_token(
    changes: dict[str, str], press: Press, priya: Membership, token: Token, program: Program
) -> None:
    code = query_of(press(priya, program.consent_url()))["code"]
    assert program.exchange(code, **changes).status_code in (400, 401)
    assert not OAuthToken.objects.exists()


def test_a_refresh_token_of_another_client_is_refused(connect: Connect, program: Program) -> None:
    tokens = connect()
    other = OAuthClient.objects.create(id="other", name="Other", secret="!", type="public")
    values = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    answer = program.token(**values, client_id=other.pk)
    assert answer.json() == {"error": "invalid_grant"}
    assert program.refresh(tokens["refresh_token"]).status_code == 200


@pytest.mark.parametrize("grant", ["password", "client_credentials", "implicit", ""])
def test_no_other_grant_is_served(grant: str, db: None, program: Program) -> None:
    answer = program.token(grant_type=grant, username="priya", password="x")
    assert answer.json() == {"error": "unsupported_grant_type"}


def test_a_token_for_another_resource_or_without_one_is_refused(connect: Connect) -> None:
    tokens = connect()
    row = OAuthToken.objects.get(type=OAuthToken.Type.ACCESS_TOKEN)
    for resources in (["https://other.example/mcp"], ["http://localhost:8000"], []):
        row.set_resources(resources)
        row.save()
        assert find_agent_by_token(tokens["access_token"]) is None


def test_neither_a_refresh_token_nor_a_code_is_accepted_as_an_access_token(
    connect: Connect,
) -> None:
    tokens = connect()
    assert find_agent_by_token(tokens["refresh_token"]) is None
    assert find_agent_by_token("") is None


def test_tokens_are_stored_as_hashes(connect: Connect) -> None:
    tokens = connect()
    stored = str(list(OAuthToken.objects.values()))
    assert tokens["access_token"] not in stored
    assert tokens["refresh_token"] not in stored


def test_a_scope_cannot_be_added_by_a_refresh(connect: Connect, program: Program) -> None:
    tokens = connect(scopes=["read"])
    values = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert program.token(**values, scope="read render").json()["error"] == "invalid_scope"


def test_the_consent_cannot_be_framed_or_sent_from_another_site(
    priya: Membership, program: Program
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(priya.user)
    page = browser.get(program.consent_url())
    assert page.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert browser.post(program.consent_url(), {"scopes": "read"}).status_code == 403
    assert not ApiKey.objects.exists()
