"""Reading a page for a call: policy, pool, then the built-in article or a fetch."""

from __future__ import annotations

import asyncio

from proxyapi.sandbox.errors import Invalid
from proxyapi.sandbox.gate import Call
from proxyapi.sandbox.scraping import addresses, articles, fetching, page, pool
from proxyapi.sandbox.scraping.addresses import Address
from proxyapi.sandbox.scraping.page import Page

PICTURE_BYTES = 5_000_000
PICTURES_SECONDS = 20.0  # for all pictures of a page
_SIGNS = (  # what files of each kind begin with
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)


def permitted(call: Call, url: str) -> Address:
    """The address, if it is one that is read; raises Invalid on `url`."""
    address = addresses.parse(url)
    if address.loopback and call.world.settings.loopback_pages == "refused":
        raise addresses.unreachable()
    return address


async def read(call: Call, address: Address) -> Page:
    """The page at a permitted address; draws on the pool. Raises 429 or 422.

    The world may have changed when this returns.
    """
    pool.draw(call.world)
    if not address.loopback:
        found = articles.find(address)
        if found is None:
            raise addresses.unreachable()
        return found
    fetched = await asyncio.to_thread(fetching.fetch, address)
    if fetched is None:
        raise addresses.unreachable()
    parsed = await asyncio.to_thread(page.parse, fetched, address.host)
    if parsed is None:
        raise addresses.refused("The page could not be parsed.")
    return parsed


async def media(url: str) -> tuple[bytes, str] | None:
    """A picture or film on loopback and its extension; None if there is none to be had."""
    try:
        address = addresses.parse(url)
    except Invalid:
        return None
    if not address.loopback:
        return None
    fetched = await asyncio.to_thread(fetching.fetch, address, most=PICTURE_BYTES)
    kind = extension(fetched.data) if fetched is not None else None
    return (fetched.data, kind) if fetched is not None and kind is not None else None


async def pictures(found: Page) -> list[tuple[bytes, str] | None]:
    """The pictures of a fetched page, each None that could not be had in time."""
    tasks = [asyncio.create_task(_picture(shown.url)) for shown in found.pictures]
    if not tasks:
        return []
    await asyncio.wait(tasks, timeout=PICTURES_SECONDS)
    for task in tasks:
        task.cancel()
    return [task.result() if task.done() and not task.cancelled() else None for task in tasks]


async def _picture(url: str) -> tuple[bytes, str] | None:
    found = await media(url)
    return found if found is not None and found[1] in IMAGES else None


IMAGES = ("png", "jpg", "gif", "webp")


def extension(data: bytes) -> str | None:
    """What a file is by its first bytes: png, jpg, gif, webp or mp4."""
    for sign, kind in _SIGNS:
        if data.startswith(sign):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return "mp4" if data[4:8] == b"ftyp" else None
