"""Fetching from loopback, in a thread: capped in time and size, never redirected off it."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from contextlib import closing, suppress
from typing import NamedTuple
from urllib.parse import urljoin

from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.scraping import addresses
from proxyapi.sandbox.scraping.addresses import PageAddress

FETCH_TIMEOUT_S = 8.0  # for one page or picture, redirects included
MAX_FETCH_BYTES = 4_000_000
MAX_REDIRECTS = 3
_HEADERS = {"User-Agent": "sandbox-scraper/2", "Accept": "*/*", "Accept-Encoding": "identity"}
_REDIRECTS = (301, 302, 303, 307, 308)


class FetchedPage(NamedTuple):
    url: str
    kind: str  # the media type in lower case, without parameters
    charset: str | None
    data: bytes


def fetch_page(address: PageAddress, *, most: int = MAX_FETCH_BYTES) -> FetchedPage | None:
    """What stands at a loopback address; None if there is nothing, too much, or no answer."""
    until = time.monotonic() + FETCH_TIMEOUT_S
    for _ in range(MAX_REDIRECTS + 1):
        if not address.loopback:
            return None
        got = _exchange(address, until, most)
        if not isinstance(got, str):
            return got
        try:
            address = addresses.parse_page_url(urljoin(address.url, got))
        except (ValidationError, ValueError):
            return None
    return None


def _exchange(address: PageAddress, until: float, most: int) -> FetchedPage | str | None:
    """One exchange: what was got, or where it leads to."""
    left = until - time.monotonic()
    connection = http.client.HTTPConnection(address.host, address.port, timeout=max(0.1, left))
    # A server that sends a byte now and then would hold the thread: end it from outside.
    alarm = threading.Timer(max(0.1, left), _hang_up, [connection])
    alarm.daemon = True
    alarm.start()
    try:
        with closing(connection):
            connection.request("GET", address.path, headers=_HEADERS)
            answer = connection.getresponse()
            if answer.status in _REDIRECTS:
                return answer.getheader("Location") or None
            data = answer.read(most + 1)
            if answer.status != 200 or len(data) > most or time.monotonic() > until:
                return None
            kind = answer.headers.get_content_type().lower()
            return FetchedPage(address.url, kind, answer.headers.get_content_charset(), data)
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        alarm.cancel()


def _hang_up(connection: http.client.HTTPConnection) -> None:
    raw: socket.socket | None = connection.sock
    if raw is not None:
        with suppress(OSError):
            raw.shutdown(socket.SHUT_RDWR)
