"""`manage.py api`: one request with the key of the environment, its answer, its exit status."""

from __future__ import annotations

import io
import json

import httpx
import pytest
from django.core.management import CommandError, call_command

from dashboard.management.commands import api
from proxyapi.gateway.keys import new_value


class Portal:
    """Answers each request alike, and keeps the last one."""

    def __init__(self) -> None:
        self.status, self.body = 200, '{"message": "Done"}'
        self.request = httpx.Request("GET", "http://nothing.example")

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.request = request
        return httpx.Response(self.status, text=self.body)

    def client(self) -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(self.answer))


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    value = new_value()
    monkeypatch.setenv(api.KEY_VARIABLE, value)
    return value


@pytest.fixture
def portal(monkeypatch: pytest.MonkeyPatch) -> Portal:
    portal = Portal()
    monkeypatch.setattr(api, "build_client", portal.client)
    return portal


def run_api(*arguments: str) -> str:
    output = io.StringIO()
    call_command("api", *arguments, stdout=output)
    return output.getvalue()


def test_it_prints_the_body_of_the_answer(portal: Portal, key: str) -> None:
    assert run_api("get", "/faceless/1", "--url", "http://portal.example/") == f"{portal.body}\n"
    assert str(portal.request.url) == "http://portal.example/api/v2/faceless/1"
    assert portal.request.method == "GET"
    assert portal.request.headers["authorization"] == f"Bearer {key}"
    assert portal.request.content == b""


def test_the_address_of_the_portal_is_the_setting(portal: Portal, key: str, settings) -> None:
    settings.PORTAL_URL = "https://reelroom.example.com"
    run_api("GET", "/credits/history?page=2")
    address = "https://reelroom.example.com/api/v2/credits/history?page=2"
    assert str(portal.request.url) == address


def test_body_idempotency_key_quote_and_wait_are_sent(portal: Portal, key: str) -> None:
    run_api(
        *("POST", "/faceless", "--json", '{"topic": "Whales"}'),
        *("--idempotency-key", "night-1", "--quote", "quote_1", "--wait", "60"),
    )
    assert json.loads(portal.request.content) == {"topic": "Whales"}
    assert portal.request.headers["content-type"] == "application/json"
    assert portal.request.headers["idempotency-key"] == "night-1"
    assert portal.request.headers["reelroom-quote"] == "quote_1"
    assert portal.request.headers["prefer"] == "wait=60"


@pytest.mark.parametrize("status", [402, 500])
def test_an_error_ends_with_status_1_after_its_body(
    status: int, portal: Portal, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    portal.status, portal.body = status, '{"error": {"code": "BUDGET-EXCEEDED"}}'
    with pytest.raises(SystemExit) as ended:
        call_command("api", "POST", "/faceless/1/render")
    assert ended.value.code == 1
    assert "BUDGET-EXCEEDED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("GET", "faceless/1"), "The path begins with a slash"),
        (("POST", "/faceless", "--json", "{topic}"), "--json is not valid JSON"),
        (("GET", "/me", "--url", "http://portal:x"), "is no address"),
        (("POST", "/faceless", "--idempotency-key", "night…"), "has only ASCII characters"),
    ],
)
def test_bad_arguments_end_with_a_sentence_and_nothing_is_sent(
    arguments: tuple[str, ...], sentence: str, portal: Portal, key: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        run_api(*arguments)
    assert portal.request.url.host == "nothing.example"


def test_without_a_key_it_says_where_to_put_it(
    portal: Portal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(api.KEY_VARIABLE, raising=False)
    with pytest.raises(CommandError, match=r"Set REELROOM_KEY to an API key"):
        run_api("GET", "/me")


def test_a_portal_that_does_not_answer_is_named(
    portal: Portal, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Connection refused", request=request)

    monkeypatch.setattr(portal, "answer", refuse)
    with pytest.raises(CommandError, match=r"No answer from http://portal\.example"):
        run_api("GET", "/me", "--url", "http://portal.example")
