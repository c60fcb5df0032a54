"""What a provider may answer: its discovery document, its keys, its tokens, its errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import KeySet, RSAKey

from dashboard.shared.openid import code_exchange, provider
from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.openid.provider import (
    load_provider_metadata,
    load_signing_keys,
    parse_metadata,
)
from dashboard.shared.outgoing_requests import HostNotFound, OutgoingResponse

ISSUER = "https://login.example"
DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}
Answers = dict[str, tuple[int, object]]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Status and body by path; a body of bytes is sent as it is. `asked` counts the requests."""
    by_path: Answers = {"/.well-known/openid-configuration": (200, DOCUMENT)}

    def send(method: str, url: Any, **_: object) -> OutgoingResponse:
        if url.path not in by_path:
            raise HostNotFound("The host name cannot be resolved.")
        status, body = by_path[url.path]
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return OutgoingResponse(status, raw)

    monkeypatch.setattr(provider, "send_outgoing_request", send)
    return by_path


def sentence_of(call: Callable[[], object]) -> str:
    with pytest.raises(ProviderFailed) as failed:
        call()
    return failed.value.sentence


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {}),
        (500, DOCUMENT),
        (302, DOCUMENT),
        (200, b"<html>"),
        (200, b"[]"),
        (200, b"[" * 100_000),
        (200, {"issuer": ISSUER}),
        (200, {**DOCUMENT, "jwks_uri": 7}),
    ],
)
def test_a_discovery_document_that_cannot_be_read_is_said(
    answers: Answers, status: int, body: object
) -> None:
    answers["/.well-known/openid-configuration"] = (status, body)
    assert "discovery document cannot be read" in sentence_of(
        lambda: load_provider_metadata(ISSUER)
    )


def test_a_document_that_names_another_issuer_is_refused(answers: Answers) -> None:
    other = {**DOCUMENT, "issuer": "https://evil.example"}
    assert "calls itself “https://evil.example”" in sentence_of(
        lambda: parse_metadata(ISSUER, other)
    )


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
def test_endpoints_inside_a_network_are_refused(settings: Any, name: str) -> None:
    settings.VIDEO_API_IS_SANDBOX = False
    for address in ("http://login.example/x", "https://login.example:8443/x", "ftp://x/"):
        document = {**DOCUMENT, name: address}
        assert "connects to" in sentence_of(
            lambda document=document: parse_metadata(ISSUER, document)  # type: ignore[misc]
        )


def test_the_document_is_kept_for_a_while_and_read_again_on_request(answers: Answers) -> None:
    first = load_provider_metadata(ISSUER)
    answers.clear()
    assert load_provider_metadata(ISSUER) == first
    assert "did not answer" in sentence_of(lambda: load_provider_metadata(ISSUER, fresh=True))


def test_keys_are_kept_and_broken_ones_are_not(answers: Answers) -> None:
    metadata = load_provider_metadata(ISSUER)
    answers["/keys"] = (200, {"keys": [{"kty": "RSA"}]})
    assert "signing keys cannot be read" in sentence_of(lambda: load_signing_keys(metadata))
    key = RSAKey.generate_key(2048, {"kid": "first"})
    answers["/keys"] = (200, KeySet([key]).as_dict())
    assert load_signing_keys(metadata).get_by_kid("first").kid == "first"
    answers.clear()
    assert load_signing_keys(metadata).get_by_kid("first").kid == "first"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("invalid_client", "“invalid_client”. The provider refused the client ID or the client"),
        ("something_else", "“something_else”. The provider ended the sign-in."),
        ("<b>\n", "The provider ended the sign-in."),
        (None, "The provider ended the sign-in."),
    ],
)
def test_an_error_of_the_provider_is_said_in_its_words(error: object, sentence: str) -> None:
    assert code_exchange.describe_provider_error(error).startswith(sentence)


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ({}, "gives no e-mail address"),
        ({"email": "nonsense", "email_verified": True}, "gives no e-mail address"),
        ({"email": "a@b.example"}, "has not verified a@b.example"),
        ({"email": "a@b.example", "email_verified": "false"}, "has not verified a@b.example"),
        ({"email": "a@b.example", "email_verified": 1.5}, "has not verified a@b.example"),
    ],
)
def test_an_identity_needs_a_verified_address(claims: dict[str, Any], sentence: str) -> None:
    assert sentence in sentence_of(
        lambda: code_exchange.parse_identity({"sub": "1", **claims}, "groups")
    )


def test_groups_of_an_odd_shape_are_none(answers: Answers) -> None:
    said = {"email": "A@b.example", "email_verified": "true", "name": "Sam\x1b Okafor\n"}
    for groups in (None, 7, {"studio": True}, [7, None]):
        identity = code_exchange.parse_identity({"sub": "1", **said, "groups": groups}, "groups")
        assert (identity.address, identity.name, identity.groups) == (
            "a@b.example",
            "Sam Okafor",
            (),
        )
