"""Streamed downloads: CSV that is safe to open in a spreadsheet, and the response that sends it or
says why there is no file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

UTF8_BOM = "\ufeff"  # without it Excel reads UTF-8 as the machine's legacy code page
# Where a spreadsheet begins a formula: at the start of a cell, also behind blanks and as a
# full-width sign, and behind what separates cells where the comma is the decimal point.
FORMULA_START_RE = re.compile(
    "(^|[;\t\r\n])(?=[\\s\u200b-\u200f\u2060\ufeff]*[=+@\uff1d\uff0b\uff0d\uff20\u2212\ufe63-]|\t|\r)"
)


class PlainNumber(str):
    """The text of a number, which stays as it is."""

    __slots__ = ()


def render_csv(rows: Iterable[Iterable[Any]]) -> str:
    """Return the rows as text; no cell of them is a formula."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows(map(csv_cell, row) for row in rows)
    return buffer.getvalue()


def csv_cell(value: Any) -> Any:
    """Return the value as it is written: of a text, each place where a spreadsheet would begin a
    formula has an apostrophe before it."""
    if not isinstance(value, str) or isinstance(value, PlainNumber):
        return value
    return FORMULA_START_RE.sub(r"\1'", value)


def stream_file(
    lines: AsyncIterator[str], filename: str, content_type: str
) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["X-Accel-Buffering"] = "no"
    # GZipMiddleware compresses each chunk of a stream separately, and browsers read only the first.
    response["Content-Encoding"] = "identity"
    return response


def refuse_file(request: HttpRequest, problem: str) -> HttpResponse:
    """Render 400 instead of a file with other rows than were asked for."""
    context = {"title": "No file was made", "sentence": problem}
    return render(request, "400.html", context, status=400)


async def empty_stream() -> AsyncIterator[str]:
    """The body of a response to HEAD."""
    for _ in ():
        yield ""
