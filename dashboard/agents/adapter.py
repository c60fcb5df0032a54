"""What allauth's provider asks of the site: its address, the resource of tokens, registration."""

from __future__ import annotations

from typing import Any

from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from allauth.idp.oidc.internal.resources import InvalidTargetError
from allauth.idp.oidc.models import Client
from django.conf import settings
from django.core.exceptions import ValidationError

from dashboard.agents.documents import offer_usual_grants
from dashboard.agents.redirects import check_redirect_uris
from dashboard.api_keys.agent_tokens import agent_resource
from dashboard.shared.text_validation import validate_line
from proxyapi.refusals import Refusal

NOT_PUBLIC = "Only public clients connect here: token_endpoint_auth_method must be none."
NO_NAME = "client_name must be a line of text."


class AgentProviderAdapter(DefaultOIDCAdapter):  # type: ignore[misc]
    def get_issuer(self) -> str:
        return settings.PORTAL_URL

    def validate_resource_uris(self, *, uris: list[str], **options: Any) -> None:
        """Raise `InvalidTargetError` for another resource than ours (RFC 8707 section 2)."""
        if any(uri != agent_resource() for uri in uris):
            raise InvalidTargetError

    def validate_client_registration(self, *, client: Client, **options: Any) -> None:
        """Raise `ValidationError` unless a document with this content would do (RFC 7591)."""
        if client.type != Client.Type.PUBLIC:
            raise ValidationError(NOT_PUBLIC)
        if not client.name:
            raise ValidationError(NO_NAME)
        validate_line(client.name)
        try:
            check_redirect_uris(client.get_redirect_uris())
        except Refusal as refusal:
            raise ValidationError(refusal.sentence) from None
        client.secret = "!"  # noqa: S105 - no hash fits
        offer_usual_grants(client)
