"""Streamed downloads: CSV that is safe to open in a spreadsheet, and the response that sends it."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Iterable
from typing import Any

from django.http import StreamingHttpResponse

UTF8_BOM = "\ufeff"  # without it Excel reads UTF-8 as the machine's legacy code page
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")


def render_csv(rows: Iterable[Iterable[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()


def escape_formula(text: str | None) -> str:
    """Prefix a cell that a spreadsheet would read as a formula with an apostrophe."""
    return f"'{text}" if text and text.startswith(FORMULA_PREFIXES) else text or ""


def stream_file(
    lines: AsyncIterator[str], filename: str, content_type: str
) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["X-Accel-Buffering"] = "no"
    # GZipMiddleware compresses each chunk of a stream separately, and browsers read only the first.
    response["Content-Encoding"] = "identity"
    return response


async def empty_stream() -> AsyncIterator[str]:
    """The body of a response to HEAD."""
    for _ in ():
        yield ""
