"""What a person reads on a page."""

from __future__ import annotations

from html import unescape

from django.utils.html import strip_tags


def page_text(content: bytes) -> str:
    """Return the words of the page, with one space between them, whatever its markup is."""
    return " ".join(unescape(strip_tags(content.decode())).split())
