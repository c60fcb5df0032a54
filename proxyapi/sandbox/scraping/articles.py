"""The built-in articles: pages under the example domains, one TOML file each in `pages/`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from proxyapi.sandbox.scraping.addresses import PageAddress
from proxyapi.sandbox.scraping.page import PagePicture, WebPage

_PAGES = Path(__file__).with_name("pages")


def find_article(address: PageAddress) -> WebPage | None:
    path = address.path.partition("?")[0].rstrip("/")
    return all_pages().get(address.host + path)


def find_article_picture(address: PageAddress) -> PagePicture | None:
    """The picture of an article by its own address."""
    wanted = address.host + address.path.partition("?")[0]
    shown = (it for found in all_pages().values() for it in found.pictures)
    return next((it for it in shown if it.url == f"https://{wanted}"), None)


@cache
def all_pages() -> dict[str, WebPage]:
    """Every article by its host and path."""
    found = [_read(tomllib.loads(path.read_text())) for path in sorted(_PAGES.glob("*.toml"))]
    return {page.url.removeprefix("https://"): page for page in found}


def _read(text: dict[str, Any]) -> WebPage:
    return WebPage(
        url=text["url"],
        title=text["title"],
        site=text["site"],
        language=text["language"],
        colour=text["colour"],
        paragraphs=tuple(text["paragraphs"]),
        pictures=tuple(PagePicture(it["url"], it["text"]) for it in text["pictures"]),
        built_in=True,
    )
