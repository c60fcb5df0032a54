"""A web page as far as a video needs it: title, text, pictures, colour."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from proxyapi.sandbox.scraping.fetch import FetchedPage

MAX_PICTURES = 12
_MOST_TEXT = 60_000  # characters
_SHORTEST_TEXT = 20
_ASIDE = "script, style, noscript, template, nav, header, footer, aside, form, svg, iframe"
# The parser's time grows with the square of the depth; no article is a tenth as deep as this.
_DEEPEST = 5_000
_TAG = re.compile(rb"<(/?)(?!(?:area|base|br|col|hr|img|input|link|meta|source|wbr)\b)[a-zA-Z]")
_COLOUR = re.compile(r"#?([0-9a-fA-F]{6})")


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture of a page. `url` is where it stands; `text` says what it shows."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class WebPage:
    url: str
    title: str
    site: str
    language: str
    colour: str  # six hexadecimal digits, or empty
    paragraphs: tuple[str, ...]
    pictures: tuple[PagePicture, ...]
    built_in: bool = False


def parse_page(fetched: FetchedPage, site: str) -> WebPage | None:
    """None for what is no page: another kind of file, or nothing to read on it."""
    if fetched.kind not in ("text/html", "application/xhtml+xml"):
        return None
    if _is_too_deep(fetched.data):
        return None
    tree = LexborHTMLParser(_decoded(fetched))
    root = tree.root
    if root is None:
        return None
    language = (root.attributes.get("lang") or "en").lower()[:2]
    colour = _COLOUR.fullmatch(_meta(tree, "theme-color"))
    title = _meta(tree, "og:title") or _text(tree.css_first("h1")) or _text(tree.css_first("title"))
    pictures = tuple(_pictures(tree, fetched.url))
    for node in tree.css(_ASIDE):
        node.decompose()
    paragraphs = tuple(_paragraphs(tree))
    if not title or (sum(map(len, paragraphs)) < _SHORTEST_TEXT and not pictures):
        return None
    return WebPage(
        url=fetched.url,
        title=title[:255],
        site=site,
        language=language,
        colour=colour[1].lower() if colour else "",
        paragraphs=paragraphs,
        pictures=pictures,
    )


def _is_too_deep(data: bytes) -> bool:
    """Whether elements stand deeper in each other than is ever read; unclosed ones count too."""
    depth = 0
    for tag in _TAG.finditer(data):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _DEEPEST:
            return True
    return False


def _decoded(fetched: FetchedPage) -> str:
    try:
        return fetched.data.decode(fetched.charset or "utf-8", errors="replace")
    except LookupError:  # a charset that nobody knows
        return fetched.data.decode(errors="replace")


def _meta(tree: LexborHTMLParser, name: str) -> str:
    for node in tree.css("meta"):
        if name in (node.attributes.get("name"), node.attributes.get("property")):
            return _clean(node.attributes.get("content") or "")
    return ""


def _paragraphs(tree: LexborHTMLParser) -> list[str]:
    """The article's paragraphs, else the body's, in their order."""
    place = tree.css_first("article") or tree.css_first("main") or tree.body
    found: list[str] = []
    for node in place.css("p, li, blockquote") if place else ():
        text = _text(node)
        if len(text) >= _SHORTEST_TEXT and text not in found[-3:]:
            found.append(text)
        if sum(map(len, found)) > _MOST_TEXT:
            break
    whole = _text(place)[:_MOST_TEXT]
    return found or ([whole] if whole else [])


def _pictures(tree: LexborHTMLParser, base: str) -> list[PagePicture]:
    found: dict[str, PagePicture] = {}
    shared = _meta(tree, "og:image")
    nodes = [(node.attributes.get("src"), node.attributes.get("alt")) for node in tree.css("img")]
    for source, text in [*((shared, "") for _ in [0] if shared), *nodes]:
        try:
            url = urljoin(base, (source or "").strip())
        except ValueError:
            continue
        if source and url.startswith(("http://", "https://")):
            found.setdefault(url, PagePicture(url, _clean(text or "")[:300]))
    return list(found.values())[:MAX_PICTURES]


def _text(node: LexborNode | None) -> str:
    return _clean(node.text(separator=" ")) if node is not None else ""


def _clean(text: str) -> str:
    return " ".join(text.replace("\x00", " ").split())
