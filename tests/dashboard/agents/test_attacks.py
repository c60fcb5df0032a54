"""What RFC 9700 warns of, and documents that are not what they should be. Nothing is connected."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token as OAuthToken
from django.core.cache import cache
from django.test import Client

from dashboard.agents import documents
from dashboard.agents.redirects import form_targets, is_allowed_target
from dashboard.api_keys.agent_tokens import find_agent_by_token
from dashboard.models import AuditEvent, Membership
from proxyapi.models import ApiKey, Token
from proxyapi.refusals import Refusal
from tests.dashboard.agents.conftest import VERIFIER, Documents, Program, query_of, read_form
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
