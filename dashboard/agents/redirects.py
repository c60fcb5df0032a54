"""Where the answer to an authorization request may go (RFC 9700 section 2.1, RFC 8252)."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from csp.constants import SELF
from django.conf import settings

from proxyapi.refusals import Refusal

LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")
MAX_REDIRECT_URIS, MAX_REDIRECT_CHARS = 50, 1000
# Schemes that a browser runs or reads itself; a program registers one of its own.
FORBIDDEN_SCHEMES = frozenset(
    [
        "about",
        "blob",
        "chrome",
        "data",
        "file",
        "filesystem",
        "ftp",
        "intent",
        "javascript",
        "view-source",
        "vbscript",
        "ws",
        "wss",
    ]
)
NO_REDIRECTS = "The document of this program lists no redirect address."
BAD_REDIRECT = (
    "The document of this program lists a redirect address that is not allowed: neither https, nor "
    "http on this computer, nor a scheme of the program itself."
)
UNLISTED = "The redirect address of this request is not in the document of the program."


def check_redirect_uris(uris: Any) -> None:
    """Raise `Refusal` unless they are a list of redirect addresses that a client may have."""
    if not isinstance(uris, list) or not uris or len(uris) > MAX_REDIRECT_URIS:
        raise Refusal(NO_REDIRECTS)
    if not all(isinstance(uri, str) and is_allowed_target(uri) for uri in uris):
        raise Refusal(BAD_REDIRECT)


def is_allowed_target(uri: str) -> bool:
    parts = split_uri(uri)
    if parts is None or parts.fragment or "#" in uri or len(uri) > MAX_REDIRECT_CHARS:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname) and "@" not in parts.netloc
    if parts.scheme == "http":
        return parts.hostname in LOOPBACK_HOSTS and "@" not in parts.netloc
    return bool(parts.scheme) and parts.scheme not in FORBIDDEN_SCHEMES


def split_uri(uri: str) -> SplitResult | None:
    """None for what is no absolute address of printable ASCII."""
    if not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri or "*" in uri:
        return None
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - raises if it is no number
    except ValueError:
        return None
    return parts


def check_redirect_uri(uri: str, listed: list[str]) -> None:
    """Raise `Refusal` unless the address is listed, character by character; only the port of one on
    this computer is free (RFC 8252 section 7.3)."""
    if not is_allowed_target(uri) or without_port(uri) not in map(without_port, listed):
        raise Refusal(UNLISTED)


def without_port(uri: str) -> str:
    parts = split_uri(uri)
    if parts is None or parts.scheme != "http" or parts.hostname not in LOOPBACK_HOSTS:
        return uri
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return parts._replace(netloc=host).geturl()


def describe_target(uri: str) -> str:
    """Where the answer goes, for a person: a host, this computer, or an app."""
    parts = urlsplit(uri)
    if parts.scheme == "https":
        return parts.netloc
    if parts.scheme == "http":
        return "a program on this computer"
    return f"an app on this device ({parts.scheme}:)"


def form_targets(uri: str) -> list[str]:
    """What the policy of the page must allow a form to lead to. It knows no IPv6 address."""
    parts = urlsplit(uri)
    is_host = parts.scheme in ("http", "https") and ":" not in (parts.hostname or "")
    return [SELF, f"{parts.scheme}://{parts.netloc}" if is_host else f"{parts.scheme}:"]


def answer_address(uri: str, **values: str) -> str:
    """The redirect address with these parameters and our issuer (RFC 9207); empty ones are left
    out."""
    parts = urlsplit(uri)
    pairs = [*parse_qsl(parts.query, keep_blank_values=True)]
    pairs += [(name, value) for name, value in values.items() if value]
    pairs.append(("iss", settings.PORTAL_URL))
    return parts._replace(query=urlencode(pairs)).geturl()
