"""How often a wrong password may be tried (docs/decisions/0019-limits-of-wrong-passwords.md).

Five tries in five minutes are for one client and one address together, so that nobody locks out
somebody else. A browser that signed in before is known by a signed cookie and has its own five;
every other client also shares a hundred tries an hour for the address, and ten a minute for its IP.
"""

from __future__ import annotations

import secrets

from allauth.core.internal import ratelimit
from django.conf import settings
from django.http import HttpRequest, HttpResponse

KNOWN_CLIENT_COOKIE = "known-client"
KNOWN_CLIENT_AGE_S = 180 * 24 * 3600
RATE_PER_CLIENT = "5/5m/key"
RATE_PER_ADDRESS = "100/h/key"
RATE_PER_IP = "10/m/ip"


def remember_client(response: HttpResponse, address: str) -> None:
    """Note in the browser that this person signed in there. The cookie holds no address."""
    response.set_signed_cookie(
        KNOWN_CLIENT_COOKIE,
        secrets.token_urlsafe(12),
        salt=address.lower(),
        max_age=KNOWN_CLIENT_AGE_S,
        path="/accounts/",
        secure=settings.BEHIND_TLS,
        httponly=True,
        samesite="Lax",
    )


def known_client_id(request: HttpRequest, address: str) -> str:
    """The id of a browser in which this person signed in before, else nothing."""
    id = request.get_signed_cookie(
        KNOWN_CLIENT_COOKIE, default="", salt=address.lower(), max_age=KNOWN_CLIENT_AGE_S
    )
    return id or ""


def consume_sign_in_attempt(request: HttpRequest, address: str) -> ratelimit.RateLimitUsage | None:
    """Count a try before the password is checked; None when there is none left.

    A right password gives it back: `rollback()`.
    """
    address = address.lower()
    known = known_client_id(request, address)
    client = known or ratelimit.get_ip(request)
    limits: list[tuple[str, str | None]] = [(RATE_PER_CLIENT, f"{client} {address}")]
    if not known:
        limits += [(RATE_PER_IP, None), (RATE_PER_ADDRESS, address)]
    taken = ratelimit.RateLimitUsage(usage=[])
    for rate, key in limits:
        usage = ratelimit.consume(
            request, app="sign_in", action="wrong", config={"wrong": rate}, key=key, limit_get=True
        )
        if usage is None:
            return None
        taken.usage += usage.usage
    return taken
