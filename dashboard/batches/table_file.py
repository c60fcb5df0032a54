"""Read a table from a CSV or TSV file, or from pasted text, within limits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from proxyapi.refusals import Refusal

MAX_FILE_BYTES = 5 * 1024**2
MAX_ROWS = 500
MAX_LINES = 32_000  # with empty ones
MAX_COLUMNS = 40
MAX_CELL_CHARACTERS = 30_000
DELIMITERS = ",;\t|"
LIMITS_TEXT = (
    f"Up to {MAX_ROWS} rows and 5 MB: CSV, TSV or XLSX. The first line has the column names."
)
TOO_LARGE = "The file is larger than 5 MB. Split it."
TOO_MANY_ROWS = f"The file has more than {MAX_ROWS} rows. Split it into several batches."
TOO_MANY_COLUMNS = f"The first line has more than {MAX_COLUMNS} columns."
NO_ROWS = "There are no rows below the line of column names."
NO_HEADERS = "The first line is empty. It must have the column names, such as title and topic."
NO_TEXT = "This is not a CSV, TSV or XLSX file. Save the table as one of them, CSV in UTF-8."
MIXED_ENCODINGS = (
    "Line {line} is not in the same encoding as the lines before it. Save the file as UTF-8."
)
CELL_TOO_LONG = f"{{cell}} is longer than {MAX_CELL_CHARACTERS:,} characters."
UNREADABLE = "Line {line} cannot be read: a quotation mark is opened and not closed, or misplaced."


class Table(NamedTuple):
    """`rows` has the cells of each row by its number: the line below the headers is 1. Empty lines
    have a number and are left out."""

    headers: list[str]
    rows: dict[int, list[str]]


def cell_name(column: int, number: int) -> str:
    """Return the name that a spreadsheet gives to a cell, such as C18 for column 2 of row 17."""
    letters, left = "", column + 1
    while left:
        left, digit = divmod(left - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return f"{letters}{number + 1}"


def read_table_file(data: bytes) -> Table:
    """Raises `Refusal` with a sentence for what cannot be read."""
    if len(data) > MAX_FILE_BYTES:
        raise Refusal(TOO_LARGE)
    return read_table(decode_text(data))


def decode_text(data: bytes) -> str:
    """UTF-8 or UTF-16 with a mark, else UTF-8, else the code page of Windows for western Europe,
    which spreadsheets write there."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not data.decode("utf-8", "ignore").isascii():
            line = data[: error.start].count(b"\n") + 1
            raise Refusal(MIXED_ENCODINGS.format(line=line)) from error
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise Refusal(NO_TEXT) from error


def read_table(text: str) -> Table:
    """The delimiter is the one that divides the first line most often. Raises `Refusal`."""
    if "\0" in text or text.startswith("PK\x03\x04"):
        raise Refusal(NO_TEXT)
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if lines and lines[0].lower().startswith("sep="):
        lines.pop(0)
    if not lines or not lines[0].strip():
        raise Refusal(NO_HEADERS)
    first = lines[0][:10_000]
    delimiter = max(DELIMITERS, key=lambda sign: len(next(csv.reader([first], delimiter=sign))))
    return build_table(read_records("".join(lines), delimiter))


def build_table(lines: Iterable[list[str]]) -> Table:
    """Return the table of these lines, the first of which has the headers. Raises `Refusal`."""
    records = iter(lines)
    headers = [header.strip() for header in next(records)]
    while headers and not headers[-1]:
        headers.pop()
    if not headers:
        raise Refusal(NO_HEADERS)
    if len(headers) > MAX_COLUMNS:
        raise Refusal(TOO_MANY_COLUMNS)
    rows = dict(number_rows(records))
    if not rows:
        raise Refusal(NO_ROWS)
    return Table(headers, rows)


def read_records(text: str, delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise Refusal(UNREADABLE.format(line=reader.line_num)) from error


def number_rows(records: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows with their numbers, and stop at the first one that is too much."""
    count = 0
    for number, record in enumerate(records, start=1):
        if not any(map(str.strip, record)):
            continue
        count += 1
        if count > MAX_ROWS or number > MAX_LINES:
            raise Refusal(TOO_MANY_ROWS)
        for column, cell in enumerate(record):
            if len(cell) > MAX_CELL_CHARACTERS:
                raise Refusal(CELL_TOO_LONG.format(cell=cell_name(column, number)))
        while record and not record[-1].strip():
            record.pop()
        yield number, record
