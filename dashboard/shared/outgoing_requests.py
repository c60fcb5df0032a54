"""Requests to web addresses that members enter: webhooks and identity providers.

Such an address is not trusted: only public hosts on https port 443 are connected to, every resolved
address is checked, the connection uses the checked address, and redirects are not followed. With
the sandbox as upstream, loopback addresses are allowed too, but never the sandbox itself.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import Timer

import httpx
from django.conf import settings

from proxyapi.media_proxy import is_public_address, url_port
from proxyapi.upstream.tls import shared_ssl_context

REQUEST_TIMEOUT = httpx.Timeout(10, connect=5)  # seconds for each read
MAX_REQUEST_S = 15.0  # for the whole request: a host may send its headers byte by byte, for days
USER_AGENT = "reelroom"


class OutgoingRequestFailed(Exception):
    """There was no response; the text is a sentence without any part of the address."""


class AddressNotAllowed(OutgoingRequestFailed):
    """Nothing was connected to: the form of the address or its host is not allowed."""


class HostNotFound(OutgoingRequestFailed):
    """The host name cannot be resolved now."""


@dataclass(frozen=True, slots=True)
class OutgoingResponse:
    """`body` has at most as many bytes as were asked for."""

    status: int
    body: bytes


def send_outgoing_request(
    method: str,
    url: httpx.URL,
    *,
    headers: Mapping[str, str],
    content: bytes = b"",
    max_body_bytes: int = 0,
) -> OutgoingResponse:
    """Send a request and read at most `max_body_bytes` of the body. Raises
    `OutgoingRequestFailed`."""
    pinned = url.copy_with(host=str(resolve_outgoing_address(url)), fragment=None)
    host_header = {"host": url.netloc.decode("ascii"), "user-agent": USER_AGENT}
    try:
        with (
            httpx.Client(
                verify=shared_ssl_context(),
                timeout=REQUEST_TIMEOUT,
                follow_redirects=False,
                trust_env=False,
            ) as client,
            close_client_after(MAX_REQUEST_S, client),
            client.stream(
                *(method, pinned),
                content=content,
                headers={**headers, **host_header},
                extensions={"sni_hostname": url.host},
            ) as response,
        ):
            return OutgoingResponse(response.status_code, read_body(response, max_body_bytes))
    except (httpx.HTTPError, OSError) as error:
        raise OutgoingRequestFailed(f"The host did not respond ({type(error).__name__}).") from None


def read_body(response: httpx.Response, max_bytes: int) -> bytes:
    body = b""
    if max_bytes:
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > max_bytes:
                break
    return body[:max_bytes]


@contextmanager
def close_client_after(seconds: float, client: httpx.Client) -> Iterator[None]:
    """Close the client's connections after `seconds`, even while data arrives."""
    timer = Timer(seconds, client.close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def parse_outgoing_url(address: str) -> httpx.URL:
    """Parse the URL. Raises `AddressNotAllowed` if its form alone rules it out."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        raise AddressNotAllowed("The address is not valid.") from None
    is_public = (url.scheme, url_port(url)) == ("https", 443)
    if not url.host or url.userinfo or not (is_public or is_local_demo_url(url)):
        raise AddressNotAllowed("The address is not valid.")
    return url


def is_local_demo_url(url: httpx.URL) -> bool:
    """True with the sandbox as upstream, for any port except that of the sandbox itself."""
    sandbox_url = httpx.URL(settings.VIDEO_API_BASE_URL)
    is_http = url.scheme in ("http", "https") and bool(url_port(url))
    return settings.VIDEO_API_IS_SANDBOX and is_http and url_port(url) != url_port(sandbox_url)


def resolve_outgoing_address(url: httpx.URL) -> IPv4Address | IPv6Address:
    """The IP address to connect to. One disallowed address among several refuses the host."""
    try:
        entries = socket.getaddrinfo(url.host, url_port(url), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise HostNotFound("The host name cannot be resolved.") from None
    addresses = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
    if not addresses or not all(is_allowed_address(url, address) for address in addresses):
        raise AddressNotAllowed("The host is not public, so no connection was made.")
    return addresses[0]


def is_allowed_address(url: httpx.URL, address: IPv4Address | IPv6Address) -> bool:
    if is_local_demo_url(url) and address.is_loopback:
        return True
    return (url.scheme, url_port(url)) == ("https", 443) and is_public_address(address)
