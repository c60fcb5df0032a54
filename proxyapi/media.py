"""A finished film, streamed from where the service keeps it; the browser never goes there itself.

The address comes from the service and is not trusted: only public https hosts are connected to,
and the sandbox while it is the service. A name is resolved once, every address it has is judged,
and the connection goes to the judged address, so that a second answer of the DNS changes nothing.
No token, no cookie and no redirect goes along; only the headers named here pass, either way.

MediaError
├── UnsafeAddress   nothing was connected to
├── MediaGone       the address answers, but has the film no more: it may have been renewed
└── MediaAway       no film for another reason: nobody answers, or with something else
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpx
from django.conf import settings

from proxyapi.upstream.trust import trusted

SENT = ("range", "if-range", "if-none-match", "if-modified-since")
PASSED_ON = ("content-length", "content-range", "accept-ranges", "etag", "last-modified")
ONE_RANGE = re.compile(r"bytes=\d*-\d*")  # several would be answered as another content type
ANSWERS = frozenset({200, 206, 304, 416})
GONE = frozenset({401, 403, 404, 410})
LARGEST = 2 * 1024**3  # bytes
LONGEST = 2 * 3600  # seconds; whoever watches may pause, whoever drips bytes may not stay
TIMEOUT = httpx.Timeout(20, connect=5)
NAT64 = IPv6Network("64:ff9b::/96")
GLOBAL_UNICAST = IPv6Network("2000::/3")


class MediaError(Exception):
    """There is no film to show now."""


class UnsafeAddress(MediaError):
    pass


class MediaGone(MediaError):
    pass


class MediaAway(MediaError):
    pass


@dataclass(frozen=True, slots=True)
class Film:
    """An answer on its way: status and headers to pass on, and the bytes."""

    status: int
    headers: dict[str, str]
    body: AsyncIterator[bytes]


async def open_film(address: str, wishes: Mapping[str, str], *, head: bool = False) -> Film:
    """Connect and read the headers. `wishes` are the browser's headers; few of them are sent on.

    The body has to be read to its end or closed. Raises `MediaError`.
    """
    url = parsed(address)
    pinned = url.copy_with(host=str(await judged(url)), fragment=None)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                verify=trusted(), timeout=TIMEOUT, follow_redirects=False, trust_env=False
            )
        )
        request = client.build_request(
            "HEAD" if head else "GET",
            pinned,
            headers=forwarded(wishes) | {"host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": url.host},
        )
        try:
            response = await client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise MediaAway("the film's host does not answer") from error
        stack.push_async_callback(response.aclose)
        headers = judged_headers(response)
        return Film(response.status_code, headers, bytes_of(response, stack.pop_all()))


def parsed(address: str) -> httpx.URL:
    """The address, if its form alone does not already rule it out."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError) as error:
        raise UnsafeAddress("the film's address cannot be read") from error
    if not url.host or url.userinfo or (url.scheme, port_of(url)) not in ways():
        raise UnsafeAddress("the film's address is not one that is connected to")
    return url


def ways() -> set[tuple[str, int]]:
    """Scheme and port: public https, and the sandbox's own door."""
    own = httpx.URL(settings.VIDEO_API_BASE_URL)
    sandbox = {(own.scheme, port_of(own))} if settings.VIDEO_API_IS_SANDBOX else set()
    return {("https", 443)} | sandbox


def port_of(url: httpx.URL) -> int:
    return url.port or {"https": 443, "http": 80}.get(url.scheme, 0)


async def judged(url: httpx.URL) -> IPv4Address | IPv6Address:
    """The address to connect to. One bad address among several is enough to refuse them all."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(url.host, port_of(url), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise MediaAway("the film's host has no address") from error
    addresses = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    if not addresses or not all(allowed(url, address) for address in addresses):
        raise UnsafeAddress("the film's host is not a public one")
    return addresses[0]


def allowed(url: httpx.URL, address: IPv4Address | IPv6Address) -> bool:
    own = httpx.URL(settings.VIDEO_API_BASE_URL)
    if settings.VIDEO_API_IS_SANDBOX and port_of(url) == port_of(own):
        # Among containers the sandbox has a private address; else it is on this machine.
        return url.host == own.host or address.is_loopback
    return url.scheme == "https" and public(address)


def public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one of the open internet, also when it wraps another one.

    Of IPv6, only what is given out to networks: Python calls much of the rest global, such as the
    old site-local addresses and those that once stood for IPv4 (`::127.0.0.1`).
    """
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address.teredo is not None:
            inner = address.teredo[1]
        elif address in NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return public(inner)
        if address not in GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast


def forwarded(wishes: Mapping[str, str]) -> dict[str, str]:
    """What of the browser's headers goes along; the bytes are asked for as they are."""
    asked = {name: wishes[name] for name in SENT if wishes.get(name)}
    if "range" in asked and not ONE_RANGE.fullmatch(asked["range"]):
        asked = {}
    return asked | {"accept-encoding": "identity", "user-agent": "reelroom"}


def judged_headers(response: httpx.Response) -> dict[str, str]:
    if response.status_code in GONE:
        raise MediaGone("the film is not at this address any more")
    encoded = response.headers.get("content-encoding", "identity") != "identity"
    if response.status_code not in ANSWERS or encoded:
        raise MediaAway("the film's host answers with something else")
    headers = {name: response.headers[name] for name in PASSED_ON if name in response.headers}
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > LARGEST:
        raise MediaAway("the film is too large to be passed on")
    return headers


async def bytes_of(response: httpx.Response, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    """The film's bytes, no more than `LARGEST` and for no longer than `LONGEST`."""
    left = LARGEST
    async with stack:
        try:
            async with asyncio.timeout(LONGEST):
                async for chunk in response.aiter_raw():
                    left -= len(chunk)
                    if left < 0:
                        return
                    yield chunk
        except (httpx.HTTPError, TimeoutError):
            return  # the browser sees a short body and asks for the rest
