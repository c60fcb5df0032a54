"""Clients known by the document at their address (OAuth Client ID Metadata Document): the client ID
is the address, and what stands there is what the client says about itself."""

from __future__ import annotations

import json
import posixpath
from typing import Any

import httpx
from allauth.idp.oidc.models import Client, Token
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction

from dashboard.agents.redirects import check_redirect_uris
from dashboard.agents.scopes import USUAL_SCOPES, offered_scopes
from dashboard.api_keys.agent_tokens import delete_tokens
from dashboard.shared.outgoing_requests import (
    OutgoingRequestFailed,
    is_local_demo_url,
    parse_outgoing_url,
    send_outgoing_request,
)
from dashboard.shared.text_validation import validate_line
from proxyapi import throttle
from proxyapi.refusals import Refusal

MAX_DOCUMENT_BYTES = 64 * 1024
DOCUMENT_CHECK_INTERVAL_S = 24 * 3600  # between reads for tokens; a consent reads it each time
READS_PER_MINUTE = 10  # for a member
DOCUMENT = "document"  # of `Client.data`: what was read at its address
UNKNOWN_CLIENT = (
    "This program is not known here. Its client ID is neither a registered one nor the https "
    "address of a document."
)
BAD_ADDRESS = (
    "The client ID must be an https address of at most 100 characters with a path, and without a "
    "query, a fragment or a user name."
)
NOT_READ = "The document of this program could not be read. {why}"
TOO_LARGE = "It is larger than 64 kB."
WRONG_STATUS = "Its address answered {status} and not 200; redirects are not followed."
NOT_JSON = "It is not a JSON object."
OTHER_ID = "It names another client ID than its address."
NOT_PUBLIC = (
    "It requires a secret or a key of the client; only public clients with PKCE connect here."
)
BAD_NAME = "Its client_name is missing or not a line of text."
TOO_MANY_READS = "You opened too many of these pages. Try again in {wait} s."


def find_client(client_id: str) -> Client | None:
    return Client.objects.filter(pk=client_id).first()


def load_client(client_id: str, user_id: int, *, read: bool) -> Client:
    """The client with this ID; with `read` its document is read again. Raises `Refusal`."""
    if read and is_document_address(client_id):
        throttle.count_attempt({f"agent-documents:{user_id}": READS_PER_MINUTE}, TOO_MANY_READS)
        return store_document(client_id, read_document(client_id))
    client = find_client(client_id)
    if client is None:
        raise Refusal(UNKNOWN_CLIENT)
    return client


def is_document_address(client_id: str) -> bool:
    return client_id.startswith(("https:", "http:"))


def read_document(address: str) -> dict[str, Any]:
    """Read and check the document at the address. Raises `Refusal` with the reason."""
    check_address(address)
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    try:
        url = parse_outgoing_url(address)
        answer = send_outgoing_request(
            "GET", url, headers=headers, max_body_bytes=MAX_DOCUMENT_BYTES + 1
        )
    except OutgoingRequestFailed as error:
        raise Refusal(NOT_READ.format(why=error)) from None
    if answer.status != 200:
        raise Refusal(NOT_READ.format(why=WRONG_STATUS.format(status=answer.status)))
    if len(answer.body) > MAX_DOCUMENT_BYTES:
        raise Refusal(NOT_READ.format(why=TOO_LARGE))
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Refusal(NOT_READ.format(why=NOT_JSON))
    check_document(address, document)
    return document


def check_address(address: str) -> None:
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        raise Refusal(BAD_ADDRESS) from None
    is_plain = url.scheme == "https" or is_local_demo_url(url)
    has_more = bool(url.query or url.fragment or url.userinfo) or "?" in address or "#" in address
    is_normal = len(url.path) > 1 and posixpath.normpath(url.path) == url.path
    too_long = len(address) > (Client._meta.get_field("id").max_length or 0)
    if not is_plain or has_more or not is_normal or too_long or str(url) != address:
        raise Refusal(BAD_ADDRESS)


def check_document(address: str, document: dict[str, Any]) -> None:
    if document.get("client_id") != address:
        raise Refusal(NOT_READ.format(why=OTHER_ID))
    if document.get("token_endpoint_auth_method", "none") != "none":
        raise Refusal(NOT_READ.format(why=NOT_PUBLIC))
    name = document.get("client_name")
    if not isinstance(name, str) or not name.strip():
        raise Refusal(NOT_READ.format(why=BAD_NAME))
    try:
        validate_line(name)
    except ValidationError:
        raise Refusal(NOT_READ.format(why=BAD_NAME)) from None
    check_redirect_uris(document.get("redirect_uris"))


@transaction.atomic
def store_document(address: str, document: dict[str, Any]) -> Client:
    """Keep the document. If it is another one than before, all tokens of the client end, so that
    each member is asked for consent to what it says now."""
    before = Client.objects.select_for_update(no_key=True).filter(pk=address).first()
    if before is not None and (before.data or {}).get(DOCUMENT) != document:
        delete_tokens(Token.objects.filter(client=before))
    client = Client(
        id=address,
        name=document["client_name"].strip()[:100],
        secret="!",  # noqa: S106 - no hash fits: a public client has none
        type=Client.Type.PUBLIC,
        data={DOCUMENT: document},
    )
    offer_usual_grants(client)
    client.set_redirect_uris(document["redirect_uris"])
    client._state.adding = before is None
    client.save()
    return client


def offer_usual_grants(client: Client) -> None:
    """Every client may ask for all scopes; what it gets is decided at the consent."""
    client.set_grant_types([Client.GrantType.AUTHORIZATION_CODE, Client.GrantType.REFRESH_TOKEN])
    client.set_response_types([Client.ResponseType.CODE])
    client.set_scopes(offered_scopes())
    client.set_default_scopes(list(USUAL_SCOPES))


def check_document_again(client_id: str) -> None:
    """Read the document of a client that gets tokens, once a day. One that cannot be read now
    changes nothing; another one ends the tokens."""
    if find_client(client_id) is None or not is_document_address(client_id):
        return
    if not cache.add(f"agent-document:{client_id}", True, timeout=DOCUMENT_CHECK_INTERVAL_S):
        return
    try:
        store_document(client_id, read_document(client_id))
    except Refusal:
        return
