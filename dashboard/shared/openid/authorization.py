"""Send a browser to the provider, and take it back once.

State, nonce and PKCE verifier are random, kept in the session of the browser that started, and
deleted when it comes back: a second use finds nothing, whoever tries it.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from dashboard.models import SingleSignOn
from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.openid.provider import load_provider_metadata

AUTHORIZATIONS_SESSION_KEY = "openid_authorizations"
AUTHORIZATION_LIFETIME_S = 600
MAX_OPEN_AUTHORIZATIONS = 5  # of one browser, in several tabs
SCOPES = ("openid", "email", "profile")
NO_SECRET = "The client secret is not set. An owner of the team enters it."  # noqa: S105
GROUPS_SCOPE = "groups"  # asked for where the provider offers it

Purpose = Literal["sign_in", "test", "confirmation"]


@dataclass(frozen=True, slots=True)
class PendingAuthorization:
    """`secret_id` is the client secret that the code is exchanged with."""

    state: str
    nonce: str
    verifier: str
    single_sign_on_id: str
    secret_id: str
    purpose: Purpose
    next_path: str
    started_at_s: int  # since 1970

    @property
    def started_at(self) -> datetime:
        return datetime.fromtimestamp(self.started_at_s, UTC)


def redirect_uri() -> str:
    """Return the address that the provider sends browsers back to."""
    return f"{settings.PORTAL_URL}{reverse('single-sign-on-callback')}"


def start_authorization(
    request: HttpRequest, single_sign_on: SingleSignOn, *, purpose: Purpose, next_path: str = ""
) -> str:
    """Remember a new authorization in the session and return the provider's address for it.

    A test uses the secret that waits for one, and reads the discovery document again. Raises
    `ProviderFailed`.
    """
    is_test = purpose == "test"
    secret = single_sign_on.newest_secret() if is_test else single_sign_on.current_secret()
    if secret is None:
        raise ProviderFailed(NO_SECRET)
    metadata = load_provider_metadata(single_sign_on.issuer, fresh=is_test)
    pending = PendingAuthorization(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        single_sign_on_id=str(single_sign_on.pk),
        secret_id=str(secret.pk),
        purpose=purpose,
        next_path=next_path,
        started_at_s=int(time.time()),
    )
    kept = [asdict(row) for row in open_authorizations(request)][1 - MAX_OPEN_AUTHORIZATIONS :]
    request.session[AUTHORIZATIONS_SESSION_KEY] = [*kept, asdict(pending)]
    scopes = [*SCOPES, *([GROUPS_SCOPE] if GROUPS_SCOPE in metadata.scopes else [])]
    query = {
        "response_type": "code",
        "client_id": single_sign_on.client_id,
        "redirect_uri": redirect_uri(),
        "scope": " ".join(scopes),
        "state": pending.state,
        "nonce": pending.nonce,
        "code_challenge": s256_challenge(pending.verifier),
        "code_challenge_method": "S256",
    }
    if purpose == "confirmation":  # the provider asks, whatever session it has
        query |= {"prompt": "login", "max_age": "0"}
    separator = "&" if "?" in metadata.authorization_endpoint else "?"
    return f"{metadata.authorization_endpoint}{separator}{urlencode(query)}"


def take_authorization(request: HttpRequest, state: str) -> PendingAuthorization | None:
    """Return the authorization with this state and delete it; None if there is none (any more)."""
    rows = open_authorizations(request)
    same = state.encode()
    found = next((row for row in rows if secrets.compare_digest(row.state.encode(), same)), None)
    if found:
        kept = [asdict(row) for row in rows if row is not found]
        request.session[AUTHORIZATIONS_SESSION_KEY] = kept
    return found


def open_authorizations(request: HttpRequest) -> list[PendingAuthorization]:
    """Return those that were started a short time ago, the oldest first."""
    rows = [
        PendingAuthorization(**row) for row in request.session.get(AUTHORIZATIONS_SESSION_KEY, [])
    ]
    oldest = time.time() - AUTHORIZATION_LIFETIME_S
    return [row for row in rows if row.started_at_s >= oldest]


def s256_challenge(verifier: str) -> str:
    """Return the code challenge of RFC 7636, section 4.2."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
