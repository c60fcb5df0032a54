"""Stream a finished film from the upstream's media host; the browser never connects to it.

The URL comes from the upstream and is not trusted: only public https hosts are connected to, and
the sandbox while it is the upstream. A host name is resolved once, all its addresses are checked,
and the connection goes to a checked address, so that a later DNS answer changes nothing. No token,
no cookie and no redirect is forwarded; in both directions only the headers listed here are.

MediaError ├── UnsafeMediaAddress nothing was connected to ├── MediaGone the host answers, but no
longer has the film: the URL may have been renewed └── MediaUnavailable no film for another reason:
no answer, or an unexpected one
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

from proxyapi.upstream.tls import shared_ssl_context

FORWARDED_REQUEST_HEADERS = ("range", "if-range", "if-none-match", "if-modified-since")
FORWARDED_RESPONSE_HEADERS = (
    "content-length",
    "content-range",
    "accept-ranges",
    "etag",
    "last-modified",
)
# Content types that are forwarded, with their file extensions; otherwise the job's kind decides.
# No SVG: it can contain scripts.
MEDIA_EXTENSIONS = {
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/webp": "webp",
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/webm": "webm",
    "audio/flac": "flac",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/webm": "webm",
    "audio/x-wav": "wav",
}
SINGLE_RANGE = re.compile(r"bytes=\d*-\d*")  # several ranges would change the content type
ACCEPTED_STATUSES = frozenset({200, 206, 304, 416})
GONE_STATUSES = frozenset({401, 403, 404, 410})
MAX_MEDIA_BYTES = 2 * 1024**3
MAX_STREAM_S = 2 * 3600  # seconds; long enough for pauses, and bounds a very slow host
MEDIA_TIMEOUT = httpx.Timeout(60, connect=5)
NAT64 = IPv6Network("64:ff9b::/96")
GLOBAL_UNICAST = IPv6Network("2000::/3")


class MediaError(Exception):
    """The film cannot be shown now."""


class UnsafeMediaAddress(MediaError):
    pass


class MediaGone(MediaError):
    pass


class MediaUnavailable(MediaError):
    pass


@dataclass(frozen=True, slots=True)
class MediaStream:
    """A response in progress: status and headers to forward, and the bytes. `content_type` is one
    of `MEDIA_EXTENSIONS`, or empty."""

    status: int
    headers: dict[str, str]
    body: AsyncIterator[bytes]
    content_type: str = ""


async def open_media_stream(
    address: str, browser_headers: Mapping[str, str], *, head: bool = False
) -> MediaStream:
    """Connect and read the headers. `browser_headers` are the browser's; only few are forwarded.

    The body has to be read to its end or closed. Raises `MediaError`.
    """
    url = parse_media_url(address)
    pinned = url.copy_with(host=str(await resolve_media_host(url)), fragment=None)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                verify=shared_ssl_context(),
                timeout=MEDIA_TIMEOUT,
                follow_redirects=False,
                trust_env=False,
            )
        )
        request = client.build_request(
            "HEAD" if head else "GET",
            pinned,
            headers=build_request_headers(browser_headers) | {"host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": url.host},
        )
        try:
            response = await client.send(request, stream=True)
        except httpx.HTTPError as error:
            raise MediaUnavailable("the film's host does not answer") from error
        stack.push_async_callback(response.aclose)
        headers = check_response_headers(response)
        body = stream_bytes(response, stack.pop_all())
        return MediaStream(response.status_code, headers, body, known_media_type(response))


def parse_media_url(address: str) -> httpx.URL:
    """Parse the URL; raises `UnsafeMediaAddress` if its form already excludes it."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError) as error:
        raise UnsafeMediaAddress("the film's address cannot be read") from error
    if not url.host or url.userinfo or (url.scheme, url_port(url)) not in allowed_endpoints():
        raise UnsafeMediaAddress("the film's address is not one that is connected to")
    return url


def allowed_endpoints() -> set[tuple[str, int]]:
    """Scheme and port: public https, and those of the sandbox."""
    own = httpx.URL(settings.VIDEO_API_BASE_URL)
    sandbox = {(own.scheme, url_port(own))} if settings.VIDEO_API_IS_SANDBOX else set()
    return {("https", 443)} | sandbox


def url_port(url: httpx.URL) -> int:
    return url.port or {"https": 443, "http": 80}.get(url.scheme, 0)


async def resolve_media_host(url: httpx.URL) -> IPv4Address | IPv6Address:
    """The address to connect to. A single disallowed address among several refuses them all."""
    loop = asyncio.get_running_loop()
    try:
        entries = await loop.getaddrinfo(url.host, url_port(url), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise MediaUnavailable("the film's host has no address") from error
    addresses = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
    if not addresses or not all(is_allowed_media_address(url, address) for address in addresses):
        raise UnsafeMediaAddress("the film's host is not a public one")
    return addresses[0]


def is_allowed_media_address(url: httpx.URL, address: IPv4Address | IPv6Address) -> bool:
    own = httpx.URL(settings.VIDEO_API_BASE_URL)
    if settings.VIDEO_API_IS_SANDBOX and url_port(url) == url_port(own):
        # In containers the sandbox has a private address; otherwise it is on this machine.
        return url.host == own.host or address.is_loopback
    return url.scheme == "https" and is_public_address(address)


def is_public_address(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is public, also if it embeds another address.

    Of IPv6 only the ranges assigned to networks: Python also calls others global, such as the old
    site-local addresses and the deprecated embedded IPv4 addresses (`::127.0.0.1`).
    """
    if isinstance(address, IPv6Address):
        embedded = address.ipv4_mapped or address.sixtofour
        if address.teredo is not None:
            embedded = address.teredo[1]
        elif address in NAT64:
            embedded = IPv4Address(int(address) & 0xFFFFFFFF)
        if embedded is not None:
            return is_public_address(embedded)
        if address not in GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast


def build_request_headers(browser_headers: Mapping[str, str]) -> dict[str, str]:
    """The browser's headers to forward; the bytes are requested without encoding."""
    forwarded = {
        name: browser_headers[name]
        for name in FORWARDED_REQUEST_HEADERS
        if browser_headers.get(name)
    }
    if "range" in forwarded and not SINGLE_RANGE.fullmatch(forwarded["range"]):
        forwarded = {}
    return forwarded | {"accept-encoding": "identity", "user-agent": "reelroom"}


def check_response_headers(response: httpx.Response) -> dict[str, str]:
    if response.status_code in GONE_STATUSES:
        raise MediaGone("the film is not at this address any more")
    encoded = response.headers.get("content-encoding", "identity") != "identity"
    if response.status_code not in ACCEPTED_STATUSES or encoded:
        raise MediaUnavailable("the film's host answers with something else")
    headers = {
        name: response.headers[name]
        for name in FORWARDED_RESPONSE_HEADERS
        if name in response.headers
    }
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > MAX_MEDIA_BYTES:
        raise MediaUnavailable("the film is too large to be passed on")
    return headers


def known_media_type(response: httpx.Response) -> str:
    """The content type of the host; empty if it is not a known type of picture, video or audio."""
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type if media_type in MEDIA_EXTENSIONS else ""


async def stream_bytes(response: httpx.Response, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    """Yield the film's bytes, at most `MAX_MEDIA_BYTES` of them and for at most `MAX_STREAM_S`."""
    left = MAX_MEDIA_BYTES
    async with stack:
        try:
            async with asyncio.timeout(MAX_STREAM_S):
                async for chunk in response.aiter_raw():
                    left -= len(chunk)
                    if left < 0:
                        return
                    yield chunk
        except (httpx.HTTPError, TimeoutError):
            return  # the browser gets a short body and requests the rest
