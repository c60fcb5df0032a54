"""The OAuth client of the protocol's SDK connects with nothing but the address of the server: by
its document, and by registration where an operator allows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from django.db import connection
from django.test import Client
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from dashboard.agents import documents
from dashboard.api_keys.agent_tokens import agent_resource, find_agent_by_token
from dashboard.models import Membership
from dashboard.shared.outgoing_requests import OutgoingResponse
from proxyapi.models import ApiKey, Token
from tests.dashboard.agents.conftest import query_of

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENT_URL, CALLBACK = "https://sdk.example/client.json", "http://localhost:3030/callback"
SITE = "http://localhost:8000"


class Storage:
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def answer(request: httpx2.Request) -> httpx2.Response:
    """The portal, and a server at its address of agents that says who came."""
    try:
        if str(request.url) == agent_resource():
            return answer_agent(request.headers.get("authorization", ""))
        path = request.url.raw_path.decode()
        kind = request.headers.get("content-type", "")
        found = Client().generic(request.method, path, request.content, kind)
        return httpx2.Response(found.status_code, content=found.content, request=request)
    finally:
        connection.close()


def answer_agent(authorization: str) -> httpx2.Response:
    agent = find_agent_by_token(authorization.removeprefix("Bearer "))
    if agent is not None:
        return httpx2.Response(200, text=agent.name)
    metadata = f"{SITE}/.well-known/oauth-protected-resource/mcp"
    challenge = f'Bearer resource_metadata="{metadata}"'
    return httpx2.Response(401, headers={"WWW-Authenticate": challenge})


async def call_server(consent: Callable[[str], dict[str, str]], document: str | None) -> str:
    """The answer to one request of the SDK's client, whose user gives the consent."""
    given: dict[str, str] = {}

    async def open_browser(url: str) -> None:
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}" == SITE
        given.update(await asyncio.to_thread(consent, f"{parts.path}?{parts.query}"))

    async def wait_for_code() -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(given)

    async def send(request: httpx2.Request) -> httpx2.Response:
        return await asyncio.to_thread(answer, request)

    provider = OAuthClientProvider(
        agent_resource(),
        OAuthClientMetadata(
            client_name="SDK",
            redirect_uris=[AnyUrl(CALLBACK)],
            token_endpoint_auth_method="none",
        ),
        Storage(),
        open_browser,
        wait_for_code,
        client_metadata_url=document,
    )
    transport = httpx2.MockTransport(send)
    async with httpx2.AsyncClient(transport=transport, auth=provider) as client:
        return (await client.post(agent_resource())).text


@pytest.mark.parametrize("document", [DOCUMENT_URL, None], ids=["document", "registration"])
def test_the_client_of_the_sdk_connects_by_itself(
    document: str | None,
    press: Callable[..., Any],
    priya: Membership,
    token: Token,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.IDP_OIDC_DCR_ENABLED = document is None
    content = {"client_id": DOCUMENT_URL, "client_name": "SDK", "redirect_uris": [CALLBACK]}
    body = json.dumps(content).encode()
    monkeypatch.setattr(
        documents, "send_outgoing_request", lambda *_, **options: OutgoingResponse(200, body)
    )

    def consent(url: str) -> dict[str, str]:
        try:
            return query_of(press(priya, url))
        finally:
            connection.close()

    assert asyncio.run(call_server(consent, document)) == "SDK"
    agent = ApiKey.objects.get()
    assert agent.owner == priya.user
    assert (agent.client_id == DOCUMENT_URL) == (document is not None)
