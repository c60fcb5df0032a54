"""Verify an ID token (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from dashboard.shared.openid.errors import ProviderFailed

# Asymmetric only: with HS256 the client secret would sign, and `none` signs nothing.
SIGNING_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384")
CLOCK_LEEWAY_S = 60
MAX_TOKEN_CHARS = 100_000
BAD_SIGNATURE = (
    "The provider’s answer is not signed with a key of the provider. Nothing was changed."
)
OTHER_ISSUER = "The provider’s answer was issued by somebody else. Nothing was changed."
OTHER_AUDIENCE = (
    "The provider’s answer is for another client than “{client_id}”. Check the client ID here and "
    "at the provider."
)
OTHER_NONCE = (
    "The provider’s answer belongs to another sign-in. It was not used; start the sign-in again."
)
CLOCK_AHEAD = (
    "The provider’s clock is {minutes} ahead of Reelroom’s. Sign-in needs both within a minute: "
    "correct the clock of the provider or of this server."
)
CLOCK_BEHIND = (
    "The provider’s clock is {minutes} behind Reelroom’s. Sign-in needs both within a minute: "
    "correct the clock of the provider or of this server."
)
EXPIRED = "The provider’s answer expired before it arrived. Start the sign-in again."
NOT_REQUESTED = (
    "The provider does not say that it asked you to sign in just now, so nothing was confirmed or "
    "changed."
)
INCOMPLETE = "The provider’s answer lacks “{claim}”. Nothing was changed."

LoadKeys = Callable[[bool], KeySet]  # True reads them again


@dataclass(frozen=True, slots=True)
class ExpectedToken:
    """What the token must say. It is issued between `started_at`, when the browser was sent to the
    provider, and now; with `asks_person`, the provider also asked the person since then."""

    issuer: str
    client_id: str
    nonce: str
    started_at: datetime
    asks_person: bool = False


def verify_id_token(
    token: str, load_keys: LoadKeys, expected: ExpectedToken, now: datetime
) -> dict[str, Any]:
    """Return the claims of a valid token. Raises `ProviderFailed`."""
    claims = verify_signature(token, load_keys)
    if claims.get("iss") != expected.issuer:
        raise ProviderFailed(OTHER_ISSUER)
    check_audience(claims, expected.client_id)
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(
        nonce.encode(), expected.nonce.encode()
    ):
        raise ProviderFailed(OTHER_NONCE)
    check_times(claims, expected.started_at.timestamp(), now.timestamp())
    if expected.asks_person:
        check_sign_in_time(claims, expected.started_at.timestamp(), now.timestamp())
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise ProviderFailed(INCOMPLETE.format(claim="sub"))
    return claims


def verify_signature(token: str, load_keys: LoadKeys) -> dict[str, Any]:
    """Read the provider's keys again once, if they do not have the token's: it may have changed
    them since."""
    if not token.isascii() or len(token) > MAX_TOKEN_CHARS:
        raise ProviderFailed(BAD_SIGNATURE)
    try:
        try:
            return decode_token(token, load_keys(False))
        except InvalidKeyIdError:
            return decode_token(token, load_keys(True))
    except (JoseError, ValueError, TypeError):
        raise ProviderFailed(BAD_SIGNATURE) from None


def decode_token(token: str, keys: KeySet) -> dict[str, Any]:
    return dict(jwt.decode(token, keys, algorithms=SIGNING_ALGORITHMS).claims)


def check_audience(claims: dict[str, Any], client_id: str) -> None:
    """The token is for us, and if it names who asked for it (`azp`), that is us too."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    authorized_party = claims.get("azp", client_id if len(audiences) == 1 else None)
    if client_id not in audiences or authorized_party != client_id:
        raise ProviderFailed(OTHER_AUDIENCE.format(client_id=client_id))


def check_times(claims: dict[str, Any], started_at: float, now: float) -> None:
    """Compare the token's times with ours. A clock that is off is named, because the sign-in would
    fail each time."""
    issued_at, expires_at = (number_claim(claims, claim) for claim in ("iat", "exp"))
    if (ahead := issued_at - now) > CLOCK_LEEWAY_S:
        raise ProviderFailed(CLOCK_AHEAD.format(minutes=minutes_text(ahead)))
    if (behind := started_at - issued_at) > CLOCK_LEEWAY_S:
        raise ProviderFailed(CLOCK_BEHIND.format(minutes=minutes_text(behind)))
    if expires_at <= now - CLOCK_LEEWAY_S:
        raise ProviderFailed(EXPIRED)
    if number_claim({"nbf": now, **claims}, "nbf") > now + CLOCK_LEEWAY_S:
        raise ProviderFailed(CLOCK_AHEAD.format(minutes=minutes_text(claims["nbf"] - now)))


def check_sign_in_time(claims: dict[str, Any], started_at: float, now: float) -> None:
    """The provider was sent `max_age=0`, and says when it asked the person (section 2)."""
    if not started_at - CLOCK_LEEWAY_S <= asked_at_s(claims) <= now + CLOCK_LEEWAY_S:
        raise ProviderFailed(NOT_REQUESTED)


def asked_at_s(claims: dict[str, Any]) -> float:
    """Return when the provider asked the person to sign in (`auth_time`), since 1970; 0 if it does
    not say, which is no error: most sign-ins do not need it."""
    try:
        return number_claim(claims, "auth_time")
    except ProviderFailed:
        return 0


def number_claim(claims: dict[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e11:
        raise ProviderFailed(INCOMPLETE.format(claim=name))
    return float(value)


def minutes_text(seconds: float) -> str:
    minutes = max(round(seconds / 60), 1)
    return "1 minute" if minutes == 1 else f"{minutes:,} minutes"
