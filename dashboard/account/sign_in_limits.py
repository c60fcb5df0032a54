"""Rate limits of wrong passwords (docs/decisions/0019-limits-of-wrong-passwords.md) and of wrong
codes of a second factor.

Five attempts in five minutes are allowed per client and address together, so that nobody can lock
out another user. A browser that signed in before is known by a signed cookie and has its own five;
all other clients also share a hundred attempts an hour per address, and ten a minute per IP.

Codes are asked only of who knows the password: five attempts in five minutes per client and
account, twenty an hour for the account, for a code has only six digits, and ten a minute per IP,
whatever the accounts.
"""

from __future__ import annotations

import secrets

from allauth.core.internal import ratelimit
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dashboard.models import User
from dashboard.models.email_address import address_key

KNOWN_CLIENT_COOKIE = "known-client"
KNOWN_CLIENT_AGE_S = 180 * 24 * 3600
RATE_PER_CLIENT = "5/5m/key"
RATE_PER_ADDRESS = "100/h/key"
RATE_PER_IP = "10/m/ip"
CODE_RATE_PER_CLIENT = "5/5m/key"
CODE_RATE_PER_ACCOUNT = "20/h/key"
CODE_RATE_PER_IP = "10/m/ip"


def remember_client(response: HttpResponse, address: str) -> None:
    """Set a cookie that this user signed in with this browser. It does not contain the address."""
    response.set_signed_cookie(
        KNOWN_CLIENT_COOKIE,
        secrets.token_urlsafe(12),
        salt=address_key(address),
        max_age=KNOWN_CLIENT_AGE_S,
        path="/accounts/",
        secure=settings.BEHIND_TLS,
        httponly=True,
        samesite="Lax",
    )


def known_client_id(request: HttpRequest, address: str) -> str:
    """Return the id of a browser in which this user signed in before, else ""."""
    id = request.get_signed_cookie(
        KNOWN_CLIENT_COOKIE, default="", salt=address_key(address), max_age=KNOWN_CLIENT_AGE_S
    )
    return id or ""


def consume_sign_in_attempt(request: HttpRequest, address: str) -> ratelimit.RateLimitUsage | None:
    """Count an attempt before the password is checked; return None if none is left.

    A right password returns it: `rollback()`.
    """
    address = address_key(address)
    known_client = known_client_id(request, address)
    client = known_client or ratelimit.get_ip(request)
    limits: list[tuple[str, str | None]] = [(RATE_PER_CLIENT, f"{client} {address}")]
    if not known_client:
        limits += [(RATE_PER_IP, None), (RATE_PER_ADDRESS, address)]
    return consume_limits(request, "wrong", limits)


def consume_code_attempt(request: HttpRequest, user: User) -> ratelimit.RateLimitUsage | None:
    """Count an attempt before a code is checked; return None if none is left.

    A right code returns it: `rollback()`.
    """
    client = f"{ratelimit.get_ip(request)} {user.pk}"
    limits: list[tuple[str, str | None]] = [
        (CODE_RATE_PER_CLIENT, client),
        (CODE_RATE_PER_IP, None),
        (CODE_RATE_PER_ACCOUNT, str(user.pk)),
    ]
    return consume_limits(request, "code", limits)


def consume_limits(
    request: HttpRequest, action: str, limits: list[tuple[str, str | None]]
) -> ratelimit.RateLimitUsage | None:
    total_usage = ratelimit.RateLimitUsage(usage=[])
    for rate, key in limits:
        usage = ratelimit.consume(
            request, app="sign_in", action=action, config={action: rate}, key=key, limit_get=True
        )
        if usage is None:
            return None
        total_usage.usage += usage.usage
    return total_usage
