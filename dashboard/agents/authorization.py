"""An authorization request of a client (RFC 6749 section 4.1.1 with RFC 7636 and RFC 8707): read
from the address of the page, checked, and answered with a code."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from allauth.idp.oidc.internal.oauthlib.server import get_server
from allauth.idp.oidc.internal.oauthlib.utils import extract_params, get_validator_context
from allauth.idp.oidc.internal.resources import get_resources
from allauth.idp.oidc.models import Client
from django.core.cache import cache
from django.core.exceptions import ValidationError
from oauthlib.oauth2.rfc6749 import errors

from dashboard.agents.documents import is_document_address, load_client
from dashboard.agents.redirects import answer_address, check_redirect_uri, describe_target
from dashboard.agents.scopes import SCOPE_SENTENCES, USUAL_SCOPES
from dashboard.api_keys.agent_tokens import agent_resource
from dashboard.shared.http import TeamRequest
from proxyapi.models import ApiKey, KeyScope
from proxyapi.refusals import Refusal

CODE_MEMORY_S = 3600  # a code that comes again later is unknown and refused like any other
INVALID_REQUEST = "invalid_request"
NO_PKCE = "It sends no proof key (PKCE) with the method S256."
NO_CONSENT = "It asks to be connected without your consent."
OTHER_RESOURCE = "It asks for access to another address than that of Reelroom’s agents."
NOT_UNDERSTOOD = "Its request cannot be understood ({error})."


class ClientRefused(Refusal):
    """The request of a client that is known: `answer_url` tells the client why."""

    def __init__(self, sentence: str, answer_url: str) -> None:
        super().__init__(sentence)
        self.answer_url = answer_url


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A request that was checked. `version` is that of what the client says about itself."""

    client: Client
    redirect_uri: str
    state: str
    scopes: tuple[KeyScope, ...]

    @property
    def host(self) -> str:
        """Who vouches for the client; empty for one that registered itself."""
        is_document = is_document_address(self.client.pk)
        return urlsplit(self.client.pk).netloc if is_document else ""

    @property
    def target(self) -> str:
        return describe_target(self.redirect_uri)

    @property
    def version(self) -> str:
        said = f"{self.client.name}\n{self.client.redirect_uris}\n{self.client.data}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def refuse(self, error: str) -> str:
        """The address that says the error to the client."""
        return answer_address(self.redirect_uri, error=error, state=self.state)


def read_client_request(request: TeamRequest) -> ClientRequest:
    """Check the request in the query of the page. Raises `Refusal` if the client or its redirect
    address is not to be trusted, else `ClientRefused`."""
    query = request.GET
    client = load_client(query.get("client_id", ""), request.user.pk, read=request.method == "GET")
    redirect_uri = query.get("redirect_uri", "")
    check_redirect_uri(redirect_uri, client.get_redirect_uris())
    known = set(query.get("scope", "").split()) & set(SCOPE_SENTENCES)
    scopes = tuple(scope for scope in SCOPE_SENTENCES if scope in (known or USUAL_SCOPES))
    read = ClientRequest(client, redirect_uri, query.get("state", ""), scopes)

    def refuse(sentence: str, error: str = INVALID_REQUEST) -> ClientRefused:
        return ClientRefused(sentence, read.refuse(error))

    # Clients may name scopes of other servers: what is not known here is left out above.
    let_provider_find(client, redirect_uri, query.get("scope", "").split())
    address, _, _, headers = extract_params(request)
    try:
        _, checked = get_server().validate_authorization_request(address, "GET", "", headers)
        get_resources(request)
    except errors.FatalClientError as error:
        raise Refusal(NOT_UNDERSTOOD.format(error=error.error)) from None
    except errors.OAuth2Error as error:
        pkce = not query.get("code_challenge")
        sentence = NO_PKCE if pkce else NOT_UNDERSTOOD.format(error=error.error)
        sentence = OTHER_RESOURCE if error.error == "invalid_target" else sentence
        raise refuse(sentence, error.error) from None
    except ValidationError:
        raise refuse(OTHER_RESOURCE, "invalid_target") from None
    if checked.get("code_challenge_method") != "S256":
        raise refuse(NO_PKCE)
    if "none" in query.get("prompt", "").split():
        raise refuse(NO_CONSENT, "consent_required")
    return read


def let_provider_find(client: Client, redirect_uri: str, scopes: list[str]) -> None:
    """Have the provider check this request against what was checked here: its own rules know no
    free port of `localhost`, and let a query differ."""
    checked = copy.copy(client)
    checked.set_redirect_uris([redirect_uri])
    checked.set_scopes([*client.get_scopes(), *scopes])
    get_validator_context().clients[client.pk] = checked


def issue_code(request: TeamRequest, read: ClientRequest, agent: ApiKey) -> str:
    """The address with a code for the agent, which the client exchanges once within a minute."""
    get_validator_context().requested_resources = [agent_resource()]
    address, _, _, headers = extract_params(request)
    answer, _, _ = get_server().create_authorization_response(
        *(address, "GET", "", headers),
        scopes=[str(scope) for scope in agent.scopes],
        credentials={"user": request.user},
    )
    values = parse_qs(urlsplit(answer["Location"]).query)
    (code,) = values["code"]
    cache.set(code_key(code), (str(agent.pk), read.client.pk), timeout=CODE_MEMORY_S)
    return answer_address(read.redirect_uri, code=code, state=read.state)


def code_key(code: str) -> str:
    return f"agent-code:{hashlib.sha256(code.encode()).hexdigest()}"
