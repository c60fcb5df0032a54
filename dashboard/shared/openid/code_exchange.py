"""Exchange the code of a finished authorization for the identity of the person."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard.models import MAX_SUBJECT_CHARS, SingleSignOn, SingleSignOnSecret
from dashboard.models.email_address import parse_address
from dashboard.shared.openid.authorization import PendingAuthorization, redirect_uri
from dashboard.shared.openid.client_secret import decrypt_client_secret
from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.openid.id_token import ExpectedToken, asked_at_s, verify_id_token
from dashboard.shared.openid.provider import (
    AWAY,
    HTTP_OK,
    ProviderMetadata,
    fetch_json,
    load_provider_metadata,
    load_signing_keys,
    parse_json_object,
    request_provider,
)
from proxyapi.credentials.encryption import EncryptionError
from proxyapi.upstream.secret import Secret

MAX_GROUPS = 1000
HTTP_SERVER_ERROR = 500
PROVIDER_SAYS = "“{error}”. {meaning}"
ERROR_MEANINGS = {
    "invalid_client": "The provider refused the client ID or the client secret.",
    "invalid_grant": "The provider did not accept the code. Start the sign-in again.",
    "access_denied": "The provider did not let this person in.",
    "unauthorized_client": "The provider does not allow this client to sign people in.",
    "invalid_scope": "The provider does not give e-mail address and name to this client.",
    "login_required": "The provider asks to sign in there first.",
    "temporarily_unavailable": "The provider is busy. Try again in a moment.",
}
CHANGED_MEANWHILE = "Single sign-on was changed meanwhile. Start the sign-in again."
NO_CODE = "The provider sent no code. Start the sign-in again."
OTHER_ERROR = "The provider ended the sign-in."
NO_TOKEN = "The provider’s answer has no ID token. Nothing was changed."  # noqa: S105
NO_USERINFO = "The provider did not give the person’s e-mail address. Nothing was changed."
BAD_SUBJECT = "The provider’s name for this person (“sub”) cannot be read. Nothing was changed."
NO_ADDRESS = "The provider gives no e-mail address. Let it send “email” to this client."
NOT_VERIFIED = (
    "The provider has not verified {address}. Reelroom signs in verified addresses only; verify "
    "it at the provider."
)
SECRET_UNREADABLE = "The client secret cannot be decrypted. An owner enters it again."  # noqa: S105


@dataclass(frozen=True, slots=True)
class ProviderIdentity:
    """A person as the provider describes them. `subject` is its name for their account for good;
    `address` is verified and in lower case; `asked_at_s` is when the provider asked them to sign
    in, since 1970, 0 if it does not say."""

    subject: str
    address: str
    name: str
    groups: tuple[str, ...]
    asked_at_s: float = 0


def identify_person(
    single_sign_on: SingleSignOn, pending: PendingAuthorization, query: Mapping[str, str]
) -> ProviderIdentity:
    """Return who signed in at the provider; `query` is what it sent the browser back with. Raises
    `ProviderFailed`."""
    secret = single_sign_on.secrets.filter(pk=pending.secret_id).first()
    # RFC 9207: a provider that says who it is says so truly.
    if secret is None or query.get("iss", single_sign_on.issuer) != single_sign_on.issuer:
        raise ProviderFailed(CHANGED_MEANWHILE)
    if "error" in query:
        raise ProviderFailed(describe_provider_error(query["error"]))
    if not query.get("code"):
        raise ProviderFailed(NO_CODE)
    return fetch_identity(single_sign_on, secret, pending, query["code"])


def fetch_identity(
    single_sign_on: SingleSignOn,
    secret: SingleSignOnSecret,
    pending: PendingAuthorization,
    code: str,
) -> ProviderIdentity:
    metadata = load_provider_metadata(single_sign_on.issuer)
    tokens = redeem_code(single_sign_on, secret, metadata, pending, code)
    id_token = tokens.get("id_token")
    if not isinstance(id_token, str):
        raise ProviderFailed(NO_TOKEN)
    expected = ExpectedToken(
        issuer=metadata.issuer,
        client_id=single_sign_on.client_id,
        nonce=pending.nonce,
        started_at=pending.started_at,
        asks_person=pending.purpose == "confirmation",
    )
    claims = verify_id_token(
        id_token,
        lambda fresh: load_signing_keys(metadata, fresh=fresh),
        expected,
        timezone.now(),
    )
    asked_at = asked_at_s(claims)  # as it is signed
    wanted = {"email", "email_verified", single_sign_on.groups_claim}
    if metadata.userinfo_endpoint and not wanted <= claims.keys():
        claims = fetch_userinfo(metadata, tokens.get("access_token"), claims) | claims
    return replace(parse_identity(claims, single_sign_on.groups_claim), asked_at_s=asked_at)


@sensitive_variables()
def redeem_code(
    single_sign_on: SingleSignOn,
    secret: SingleSignOnSecret,
    metadata: ProviderMetadata,
    pending: PendingAuthorization,
    code: str,
) -> dict[str, Any]:
    """Return the token response (RFC 6749, section 4.1.4)."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri(),
        "code_verifier": pending.verifier,
    }
    try:
        plain_secret = decrypt_client_secret(secret)
    except EncryptionError:
        raise ProviderFailed(SECRET_UNREADABLE) from None
    headers = {"content-type": "application/x-www-form-urlencoded"}
    methods = metadata.token_auth_methods
    if "client_secret_post" in methods and "client_secret_basic" not in methods:
        form |= {"client_id": single_sign_on.client_id, "client_secret": plain_secret.reveal()}
    else:  # the default of RFC 8414, section 2
        headers["authorization"] = basic_credentials(single_sign_on.client_id, plain_secret)
    response = request_provider(
        "POST", metadata.token_endpoint, headers=headers, content=urlencode(form).encode()
    )
    answer = parse_json_object(response)
    if response.status >= HTTP_SERVER_ERROR:
        raise ProviderFailed(AWAY)
    if response.status != HTTP_OK or answer is None:
        raise ProviderFailed(describe_provider_error((answer or {}).get("error")))
    return answer


def basic_credentials(client_id: str, secret: Secret) -> str:
    """Return the header of RFC 6749, section 2.3.1: both parts are URL-encoded first."""
    pair = f"{quote(client_id, safe='')}:{quote(secret.reveal(), safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def describe_provider_error(error: object) -> str:
    """Return the provider's error code with what it means, or that it ended without one."""
    if not isinstance(error, str) or not error.isascii() or not error.isprintable() or not error:
        return OTHER_ERROR
    return PROVIDER_SAYS.format(error=error[:60], meaning=ERROR_MEANINGS.get(error, OTHER_ERROR))


def fetch_userinfo(
    metadata: ProviderMetadata, access_token: object, claims: Mapping[str, Any]
) -> dict[str, Any]:
    """Return claims that the ID token lacks; they must be about the same person."""
    if not isinstance(access_token, str) or not (
        access_token.isascii() and access_token.isprintable()
    ):
        return {}
    headers = {"authorization": f"Bearer {access_token}"}
    userinfo = fetch_json(metadata.userinfo_endpoint, NO_USERINFO, headers=headers)
    if userinfo.get("sub") != claims["sub"]:
        raise ProviderFailed(NO_USERINFO)
    return userinfo


def parse_identity(claims: Mapping[str, Any], groups_claim: str) -> ProviderIdentity:
    subject, address = claims["sub"], claims.get("email")
    if len(subject) > MAX_SUBJECT_CHARS or not subject.isprintable():
        raise ProviderFailed(BAD_SUBJECT)
    if not isinstance(address, str) or not (address := parse_address(address)):
        raise ProviderFailed(NO_ADDRESS)
    # Some providers send the word. A number is neither: 1 == True.
    verified = claims.get("email_verified")
    if verified is not True and verified != "true":
        raise ProviderFailed(NOT_VERIFIED.format(address=address))
    name = claims.get("name")
    groups = claims.get(groups_claim)
    if isinstance(groups, str):
        groups = [groups]
    return ProviderIdentity(
        subject=subject,
        address=address,
        name="".join(filter(str.isprintable, name))[:100].strip() if isinstance(name, str) else "",
        groups=tuple(group for group in groups if isinstance(group, str))[:MAX_GROUPS]
        if isinstance(groups, list)
        else (),
    )
