"""The address of a web page that the service is to read. What can be seen to be refused is refused
here, before anything is sent; where it redirects to, only the service sees."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

import httpx
from django import forms

from dashboard.shared.forms import PortalForm
from dashboard.shared.text_validation import reject_invisible
from proxyapi.media_proxy import is_public_address

MAX_ADDRESS_LENGTH = 2048
# Video and social sites, with their subdomains (spec, Faceless videos: refused with 422).
SOCIAL_SITES = frozenset(
    {
        "bsky.app", "dailymotion.com", "discord.com", "discord.gg", "facebook.com", "fb.com",
        "fb.watch", "instagram.com", "linkedin.com", "lnkd.in", "mastodon.social", "pin.it",
        "pinterest.com", "redd.it", "reddit.com", "snapchat.com", "t.co", "t.me", "telegram.org",
        "threads.com", "threads.net", "tiktok.com", "tumblr.com", "twitch.tv", "twitter.com",
        "vimeo.com", "vk.com", "whatsapp.com", "x.com", "youtu.be", "youtube-nocookie.com",
        "youtube.com",
    }
)  # fmt: skip
# Names that exist in private networks alone (RFC 6761, 6762, 8375 and common practice).
PRIVATE_SUFFIXES = frozenset(
    {"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "arpa",
     "private", "test"}
)  # fmt: skip
NONEXISTENT_SUFFIXES = frozenset({"invalid", "onion"})  # nowhere on the public internet
IP_LIKE_RE = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+)){0,3}", re.IGNORECASE)
ADDRESS_REQUIRED = "Enter the address of a web page."
ADDRESS_UNREADABLE = "Enter a full address, such as https://example.com/article."
SOCIAL_SITE = (
    "The service does not read video and social sites. Use the address of an article or a product "
    "page."
)
PRIVATE_ADDRESS = (
    "The service can read public pages only, and this address is in a private network. Use the "
    "address of a public page."
)
NO_SUCH_SITE = "There is no site at this address. Check how it is spelled."
HAS_PASSWORD = "Remove the name and password from the address. The page must open without them."  # noqa: S105


class PageAddressField(forms.CharField):
    """The address with its scheme and a host in ASCII."""

    def __init__(self) -> None:
        super().__init__(
            label="Address",
            max_length=MAX_ADDRESS_LENGTH,
            help_text=(
                "A public article or product page. Video and social sites are refused by the "
                "service."
            ),
            widget=forms.URLInput(
                attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "https://"}
            ),
            error_messages={"required": ADDRESS_REQUIRED},
        )
        reject_invisible(self)

    def clean(self, value: Any) -> str:
        return normalize_page_address(str(super().clean(value)))


class PageReadForm(PortalForm):
    """`again` confirms that an order that was changed by hand is replaced."""

    url = PageAddressField()
    again = forms.BooleanField(required=False)

    def __init__(self, data: Any = None, *, url: str = "") -> None:
        super().__init__(data, initial={"url": url}, use_required_attribute=False)


def normalize_page_address(text: str) -> str:
    """Return the address as it is sent: with a scheme, a host in ASCII and without a fragment.
    Raises `ValidationError`."""
    address = text if re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE) else f"https://{text}"
    try:
        parts = urlsplit(address)
        port, host = parts.port, (parts.hostname or "").rstrip(".")
    except ValueError:
        raise forms.ValidationError(ADDRESS_UNREADABLE) from None
    if parts.scheme.lower() not in ("http", "https") or not host or re.search(r"[\s\\]", address):
        raise forms.ValidationError(ADDRESS_UNREADABLE)
    if parts.username is not None or parts.password is not None:
        raise forms.ValidationError(HAS_PASSWORD)
    ascii_host = check_page_host(host)
    netloc = ascii_host if port is None else f"{ascii_host}:{port}"
    return SplitResult(
        parts.scheme.lower(), netloc, quote_page_part(parts.path), quote_page_part(parts.query), ""
    ).geturl()


def check_page_host(host: str) -> str:
    """Return the host in ASCII. Raises `ValidationError` for social sites, private networks and
    what is no host."""
    if (address := parse_ip_address(host)) is not None:
        if not is_public_address(address):
            raise forms.ValidationError(PRIVATE_ADDRESS)
        return f"[{address}]" if address.version == 6 else str(address)
    try:
        ascii_host = httpx.URL(scheme="https", host=host).raw_host.decode("ascii").rstrip(".")
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise forms.ValidationError(ADDRESS_UNREADABLE) from None
    if ascii_host != host.lower() and parse_ip_address(ascii_host) is not None:
        return check_page_host(ascii_host)  # written with other full stops
    labels = ascii_host.split(".")
    if labels[-1] in NONEXISTENT_SUFFIXES:
        raise forms.ValidationError(NO_SUCH_SITE)
    if labels[-1] in PRIVATE_SUFFIXES:
        raise forms.ValidationError(PRIVATE_ADDRESS)
    if len(labels) < 2 or not all(labels) or not re.search("[a-z]", labels[-1]):
        raise forms.ValidationError(ADDRESS_UNREADABLE)
    if any(".".join(labels[start:]) in SOCIAL_SITES for start in range(len(labels))):
        raise forms.ValidationError(SOCIAL_SITE)
    return ascii_host


def parse_ip_address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a host is, also in the short, octal and hexadecimal spellings that
    a resolver takes; None for a name."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    if not IP_LIKE_RE.fullmatch(host):
        return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def quote_page_part(text: str) -> str:
    """Percent-encode what is not ASCII; what is encoded already stays."""
    return quote(text, safe="!#$%&'()*+,/:;=?@[]~")
