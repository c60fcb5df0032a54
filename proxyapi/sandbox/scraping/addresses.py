"""Which addresses are read, and how; everything else is refused without touching the network.

Built-in articles answer for the example domains. Beyond them only `http` on loopback is
fetched, written as `localhost`, `127.x.y.z` or `[::1]`: no name is ever looked up, so no name
can lead to a private address.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from proxyapi.sandbox.errors import ValidationError

MAX_URL_CHARS = 2048
SOCIAL = frozenset(
    {
        "bsky.app", "dailymotion.com", "discord.com", "discord.gg", "facebook.com", "fb.com",
        "fb.watch", "instagram.com", "linkedin.com", "lnkd.in", "pin.it", "pinterest.com",
        "reddit.com", "redd.it", "snapchat.com", "t.co", "t.me", "telegram.org", "threads.com",
        "threads.net", "tiktok.com", "tumblr.com", "twitch.tv", "twitter.com", "vimeo.com",
        "vk.com", "whatsapp.com", "x.com", "youtu.be", "youtube-nocookie.com", "youtube.com",
    }
)  # fmt: skip
_EXAMPLES = ("example.com", "example.org", "example.net", "example")
_UNFIT = re.compile(r"[\x00-\x20\x7f\\]")


class PageAddress(NamedTuple):
    """`loopback` is fetched, anything else looked up among the built-in articles."""

    url: str
    scheme: str
    host: str
    port: int
    path: str  # with the query
    loopback: bool


def parse_page_url(text: str) -> PageAddress:
    """Raises Invalid on the field `url` for what is never read."""
    parts = _split(text)
    host = (parts.hostname or "").rstrip(".").lower()
    if any(host == social or host.endswith(f".{social}") for social in SOCIAL):
        raise address_refused("Social media pages cannot be scraped.")
    loopback = parts.scheme == "http" and _is_loopback(host)
    example = any(host == it or host.endswith(f".{it}") for it in _EXAMPLES)
    if not loopback and not example:
        raise page_unreachable()
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    default = 80 if parts.scheme == "http" else 443
    return PageAddress(text, parts.scheme, host, _port(parts) or default, path, loopback)


def address_refused(sentence: str) -> ValidationError:
    return ValidationError({"url": [sentence]})


def page_unreachable() -> ValidationError:
    return address_refused("The page could not be reached.")


def _split(text: str) -> SplitResult:
    malformed = address_refused("The url field must be a valid URL.")
    if len(text) > MAX_URL_CHARS or _UNFIT.search(text):
        raise malformed
    try:
        parts = urlsplit(text)
        _ = parts.port, parts.hostname
    except ValueError:
        raise malformed from None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise malformed
    return parts


def _port(parts: SplitResult) -> int | None:
    if parts.port == 0:
        raise page_unreachable()
    return parts.port


def _is_loopback(host: str) -> bool:
    """Only the plain spellings; `127.1`, `0x7f000001` and mapped addresses are none."""
    if host in ("localhost", "::1"):
        return True
    try:
        return IPv4Address(host).is_loopback
    except ValueError:
        return False
