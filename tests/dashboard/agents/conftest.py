"""A program with its document on a web server of this machine, and its steps of OAuth."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from dashboard.api_keys.agent_tokens import agent_resource
from dashboard.models import Membership
from proxyapi.models import Account, Token
from tests.dashboard.api_keys import conftest
from tests.dashboard.members import conftest as members
from tests.factories import AccountFactory, TokenFactory
from tests.pages import page_text

confirmed_client_of = members.confirmed_client_of
make_key, new_key, spend = conftest.make_key, conftest.new_key, conftest.spend
CALLBACK = "http://127.0.0.1/callback"
VERIFIER = "a-verifier-of-at-least-forty-three-characters-0123"
DOCUMENT_PATH = "/program/client.json"


@pytest.fixture
def account(mira: Membership) -> Account:
    return AccountFactory.create(tenant=mira.team.tenant)


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


class Documents(BaseHTTPRequestHandler):
    """`answers`: status, headers and body by path."""

    answers: ClassVar[dict[str, tuple[int, dict[str, str], bytes]]] = {}
    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.seen.append(self.path)
        status, headers, body = self.answers.get(self.path.partition("?")[0], (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # a reader that had enough
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        return


class Program:
    """An OAuth client: its document, its requests, its tokens."""

    def __init__(self, host: str) -> None:
        self.client_id = f"{host}{DOCUMENT_PATH}"
        self.document: dict[str, Any] = {
            "client_id": self.client_id,
            "client_name": "Film helper",
            "redirect_uris": [CALLBACK, "https://helper.example/callback", "helper-app:/done"],
            "token_endpoint_auth_method": "none",
        }
        self.browser = Client()
        self.publish()

    def publish(self, **changes: Any) -> None:
        self.document |= changes
        self.serve(200, json.dumps(self.document).encode())

    def serve(self, status: int, body: bytes = b"", **headers: str) -> None:
        Documents.answers[DOCUMENT_PATH] = (status, headers, body)

    def consent_url(self, **changes: str | None) -> str:
        """The page that it opens; None leaves a parameter out."""
        digest = hashlib.sha256(VERIFIER.encode()).digest()
        query: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": "http://127.0.0.1:54321/callback",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "state": "of-this-sign-in",
            "scope": "read create render",
            "resource": agent_resource(),
        }
        query |= changes
        return f"/agents/consent/?{urlencode({k: v for k, v in query.items() if v is not None})}"

    def token(self, **values: str) -> Any:
        return self.browser.post("/oauth/tokens/", {"client_id": self.client_id, **values})

    def exchange(self, code: str, **changes: str) -> Any:
        values = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": VERIFIER,
            "redirect_uri": "http://127.0.0.1:54321/callback",
        }
        return self.token(**(values | changes))

    def refresh(self, value: str) -> Any:
        return self.token(grant_type="refresh_token", refresh_token=value)


@pytest.fixture
def program() -> Iterator[Program]:
    Documents.answers, Documents.seen = {}, []
    with ThreadingHTTPServer(("127.0.0.1", 0), Documents) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield Program(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


@pytest.fixture
def press(confirmed_client_of: Callable[..., Client]) -> Callable[..., Any]:
    """The member opens the page of the program and presses Connect, with these values changed."""

    def pressed(member: Membership, url: str, **changes: Any) -> Any:
        browser = confirmed_client_of(member)
        page = browser.get(url)
        assert page.status_code == 200, page_text(page.content)
        return browser.post(url, read_form(page.content) | changes)

    return pressed


def read_form(content: bytes) -> dict[str, Any]:
    """What the consent sends as it is shown."""
    form = LexborHTMLParser(content.decode()).css_first('main form[action^="/agents/consent/"]')
    assert form is not None
    sent: dict[str, Any] = {"scopes": []}
    for field in form.css("input[name], select[name]"):
        name, given = str(field.attributes["name"]), field.attributes
        if field.tag == "select":
            chosen = field.css_first("option[selected]")
            sent[name] = (chosen.attributes.get("value") if chosen else "") or ""
        elif given.get("type") == "checkbox":
            sent[name] += [given["value"]] if "checked" in given else []
        else:
            sent[name] = given.get("value") or ""
    return sent


def query_of(answer: Any) -> dict[str, str]:
    query = parse_qs(urlsplit(answer.headers["Location"]).query)
    return {name: values[0] for name, values in query.items()}


@pytest.fixture
def connect(
    press: Callable[..., Any], priya: Membership, token: Token, program: Program
) -> Callable[..., dict[str, Any]]:
    """Priya connects the program; returns its tokens."""

    def connected(**changes: Any) -> dict[str, Any]:
        answer = press(priya, program.consent_url(), **changes)
        assert answer.status_code == 303, answer.content.decode()
        tokens: dict[str, Any] = program.exchange(query_of(answer)["code"]).json()
        return tokens

    return connected
