"""Reading a page for a call: policy, pool, then the built-in article or a fetch."""

from __future__ import annotations

import asyncio

from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.scraping import addresses, articles, fetch, page, pool
from proxyapi.sandbox.scraping.addresses import PageAddress
from proxyapi.sandbox.scraping.page import WebPage

PICTURE_BYTES = 5_000_000
PICTURES_TIMEOUT_S = 20.0  # for all pictures of a page
_SIGNS = (  # what files of each kind begin with
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)


def permitted_address(call: ApiCall, url: str) -> PageAddress:
    """The address, if it is one that is read; raises Invalid on `url`."""
    address = addresses.parse_page_url(url)
    if address.loopback and call.world.settings.loopback_pages == "refused":
        raise addresses.page_unreachable()
    return address


async def read_page(call: ApiCall, address: PageAddress) -> WebPage:
    """The page at a permitted address; draws on the pool. Raises 429 or 422.

    The world may have changed when this returns.
    """
    pool.draw_from_pool(call.world)
    if not address.loopback:
        found = articles.find_article(address)
        if found is None:
            raise addresses.page_unreachable()
        return found
    fetched = await asyncio.to_thread(fetch.fetch_page, address)
    if fetched is None:
        raise addresses.page_unreachable()
    parsed = await asyncio.to_thread(page.parse_page, fetched, address.host)
    if parsed is None:
        raise addresses.address_refused("The page could not be parsed.")
    return parsed


async def fetch_media(url: str) -> tuple[bytes, str] | None:
    """A picture or film on loopback and its extension; None if there is none to be had."""
    try:
        address = addresses.parse_page_url(url)
    except ValidationError:
        return None
    if not address.loopback:
        return None
    fetched = await asyncio.to_thread(fetch.fetch_page, address, most=PICTURE_BYTES)
    kind = sniff_extension(fetched.data) if fetched is not None else None
    return (fetched.data, kind) if fetched is not None and kind is not None else None


async def fetch_pictures(found: WebPage) -> list[tuple[bytes, str] | None]:
    """The pictures of a fetched page, each None that could not be had in time."""
    tasks = [asyncio.create_task(_picture(shown.url)) for shown in found.pictures]
    if not tasks:
        return []
    await asyncio.wait(tasks, timeout=PICTURES_TIMEOUT_S)
    for task in tasks:
        task.cancel()
    return [task.result() if task.done() and not task.cancelled() else None for task in tasks]


async def _picture(url: str) -> tuple[bytes, str] | None:
    found = await fetch_media(url)
    return found if found is not None and found[1] in IMAGES else None


IMAGES = ("png", "jpg", "gif", "webp")


def sniff_extension(data: bytes) -> str | None:
    """What a file is by its first bytes: png, jpg, gif, webp or mp4."""
    for sign, kind in _SIGNS:
        if data.startswith(sign):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return "mp4" if data[4:8] == b"ftyp" else None
