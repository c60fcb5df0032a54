"""A provider's discovery document and signing keys (OpenID Connect Discovery 1.0), kept for an
hour in the cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from django.core.cache import cache
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, KeySetSerialization

from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.outgoing_requests import (
    AddressNotAllowed,
    OutgoingRequestFailed,
    OutgoingResponse,
    parse_outgoing_url,
    send_outgoing_request,
)

DISCOVERY_PATH = "/.well-known/openid-configuration"
CACHE_S = 3600
MAX_ANSWER_BYTES = 200_000
HTTP_OK = 200
NOT_ALLOWED = (
    "The provider’s address is not one that Reelroom connects to. It must start with https:// and "
    "name a public host."
)
AWAY = "The provider did not answer. Nothing was changed. Try again in a moment."
NO_DISCOVERY = (
    "The provider’s discovery document cannot be read. Check the issuer: it is the address before "
    "/.well-known/openid-configuration."
)
OTHER_ISSUER = "The provider calls itself “{issuer}”. Enter exactly this as the issuer."
NO_KEYS = "The provider’s signing keys cannot be read. Nothing was changed."


@dataclass(frozen=True, slots=True)
class ProviderMetadata:
    """What is used of a discovery document."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str  # empty if there is none
    token_auth_methods: tuple[str, ...]
    scopes: tuple[str, ...]


def load_provider_metadata(issuer: str, *, fresh: bool = False) -> ProviderMetadata:
    """Return the provider's endpoints, from the cache unless `fresh`. Raises `ProviderFailed`."""
    key = cache_key("metadata", issuer)
    if not fresh and (kept := cache.get(key)):
        return ProviderMetadata(**kept)
    document = fetch_json(issuer.rstrip("/") + DISCOVERY_PATH, NO_DISCOVERY)
    metadata = parse_metadata(issuer, document)
    cache.set(key, asdict(metadata), CACHE_S)
    return metadata


def parse_metadata(issuer: str, document: Mapping[str, Any]) -> ProviderMetadata:
    """The issuer must be the same to the letter, or one provider could speak for another."""
    own_name = document.get("issuer")
    if not isinstance(own_name, str):
        raise ProviderFailed(NO_DISCOVERY)
    if own_name != issuer:
        raise ProviderFailed(OTHER_ISSUER.format(issuer=own_name[:200]))
    return ProviderMetadata(
        issuer=issuer,
        authorization_endpoint=parse_endpoint(document.get("authorization_endpoint")),
        token_endpoint=parse_endpoint(document.get("token_endpoint")),
        jwks_uri=parse_endpoint(document.get("jwks_uri")),
        userinfo_endpoint=parse_endpoint(document["userinfo_endpoint"])
        if document.get("userinfo_endpoint")
        else "",
        token_auth_methods=parse_words(document.get("token_endpoint_auth_methods_supported")),
        scopes=parse_words(document.get("scopes_supported")),
    )


def parse_endpoint(value: object) -> str:
    if not isinstance(value, str):
        raise ProviderFailed(NO_DISCOVERY)
    try:
        return str(parse_outgoing_url(value))
    except AddressNotAllowed:
        raise ProviderFailed(NOT_ALLOWED) from None


def parse_words(value: object) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()


def load_signing_keys(metadata: ProviderMetadata, *, fresh: bool = False) -> KeySet:
    """Return the provider's public keys, from the cache unless `fresh`. Raises `ProviderFailed`."""
    key = cache_key("keys", metadata.jwks_uri)
    document = None if fresh else cache.get(key)
    if document is None:
        document = fetch_json(metadata.jwks_uri, NO_KEYS)
    try:
        keys = KeySet.import_key_set(cast(KeySetSerialization, document))
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        raise ProviderFailed(NO_KEYS) from None
    cache.set(key, document, CACHE_S)
    return keys


def cache_key(kind: str, address: str) -> str:
    return f"openid-{kind}:{hashlib.sha256(address.encode()).hexdigest()}"


def fetch_json(
    address: str, unreadable: str, *, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the JSON object at an address of the provider. Raises `ProviderFailed`, with the
    sentence `unreadable` if it is something else."""
    response = request_provider("GET", address, headers=headers or {})
    document = parse_json_object(response)
    if response.status != HTTP_OK or document is None:
        raise ProviderFailed(unreadable)
    return document


def request_provider(
    method: str, address: str, *, headers: Mapping[str, str], content: bytes = b""
) -> OutgoingResponse:
    """Send a request to the provider. Raises `ProviderFailed` if there is no answer."""
    try:
        return send_outgoing_request(
            method,
            parse_outgoing_url(address),
            headers={"accept": "application/json", "accept-encoding": "identity", **headers},
            content=content,
            max_body_bytes=MAX_ANSWER_BYTES,
        )
    except AddressNotAllowed:
        raise ProviderFailed(NOT_ALLOWED) from None
    except OutgoingRequestFailed:
        raise ProviderFailed(AWAY) from None


def parse_json_object(response: OutgoingResponse) -> dict[str, Any] | None:
    try:
        document = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
