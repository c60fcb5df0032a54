"""Read a table from an XLSX spreadsheet, within limits.

The reader, calamine, allocates the whole area between the first and the last filled cell, and each
use of a shared text again. So the parts of the file are unpacked within limits and its sheet is
scanned first; calamine gets an archive of what was scanned.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from typing import Any, NoReturn
from xml.parsers import expat

from python_calamine import CalamineError, CalamineWorkbook

from dashboard.batches.table_file import (
    CELL_TOO_LONG,
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_FILE_BYTES,
    MAX_LINES,
    MAX_ROWS,
    TOO_MANY_ROWS,
    Table,
    build_table,
    cell_name,
)
from proxyapi.refusals import Refusal

MAX_UNPACKED_BYTES = 30 * 1024**2
ZIP_MARK, OLE_MARK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
ENCRYPTED_MARK = "EncryptedPackage".encode("utf-16-le")
WORKBOOK, LINKS, TEXTS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/sharedStrings.xml"
PARTS = (WORKBOOK, LINKS, TEXTS, "xl/styles.xml", "[Content_Types].xml", "_rels/.rels")
CELL_RE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})", re.IGNORECASE)
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, expat.ExpatError, CalamineError),
    *(EOFError, LookupError, ValueError, RuntimeError, OSError),
)
UNPACKED_TOO_LARGE = (
    "The spreadsheet is larger than 30 MB when it is unpacked. Save its table as CSV."
)
TEXTS_TOO_LARGE = "The texts of the sheet are longer than 5 MB together. Split it."
NO_SPREADSHEET = "This is not an XLSX spreadsheet. Save the table as XLSX or CSV."
DAMAGED = "The spreadsheet is damaged and cannot be read. Save it again, as XLSX or CSV."
PASSWORD = "The spreadsheet is protected with a password. Save a copy without one."  # noqa: S105
OLD_FORMAT = "This file has the format of Excel 97 to 2003. Save it as XLSX or CSV."
EMPTY = "The spreadsheet is empty."
MERGED = "{cells} are merged. Unmerge them: each row needs cells of its own."
NO_VALUE = (
    "{cell} has a formula without a stored value. Open the file in a spreadsheet program and save "
    "it, or enter the value."
)
ERROR_VALUE = "{cell} has an error instead of a value. Correct its formula."
TOO_MANY_COLUMNS = f"{{cell}} is filled. A table has up to {MAX_COLUMNS} columns."
SHEET_CHOSEN = "Read from the sheet “{name}”. Other sheets were left out."


def is_spreadsheet(data: bytes) -> bool:
    """Whether a file is a spreadsheet or another archive, whatever its name says."""
    return data.startswith((ZIP_MARK, OLE_MARK))


def read_spreadsheet(data: bytes) -> tuple[Table, str]:
    """Return the first visible sheet that has a filled cell, and what is to be said of the others.
    Dates become ISO texts, formulas their stored values. Raises `Refusal`."""
    if data.startswith(OLE_MARK):
        raise Refusal(PASSWORD if ENCRYPTED_MARK in data else OLD_FORMAT)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            name, count, parts = choose_sheet(archive)
        with CalamineWorkbook.from_filelike(pack(parts)) as workbook:
            rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except UNREADABLE as error:
        raise Refusal(DAMAGED) from error
    table = build_table([cell_text(value) for value in row] for row in rows)
    return table, SHEET_CHOSEN.format(name=name) if count > 1 else ""


def choose_sheet(archive: zipfile.ZipFile) -> tuple[str, int, dict[str, bytes]]:
    """Return the name of the sheet that is read, how many there are, and the parts to read it."""
    names = set(archive.namelist())
    if WORKBOOK not in names:
        raise Refusal(NO_SPREADSHEET)
    if sum(part.file_size for part in archive.infolist()) > MAX_UNPACKED_BYTES:
        raise Refusal(UNPACKED_TOO_LARGE)
    parts = {path: unpack(archive, path) for path in PARTS if path in names}
    lengths = text_lengths(parts[TEXTS]) if TEXTS in parts else []
    sheets = list_sheets(parts)
    for name, path in sheets.items():
        scan = SheetScan(lengths)
        xml = unpack(archive, path)
        walk(xml, scan.enter, scan.add_text, scan.leave)
        if scan.rows:
            return name, len(sheets), {**parts, path: xml}
    raise Refusal(EMPTY)


def unpack(archive: zipfile.ZipFile, path: str) -> bytes:
    """The size that the archive states may be wrong, so no more than the limit is unpacked."""
    with archive.open(path) as part:
        data = part.read(MAX_UNPACKED_BYTES + 1)
    if len(data) > MAX_UNPACKED_BYTES:
        raise Refusal(UNPACKED_TOO_LARGE)
    return data


def pack(parts: Mapping[str, bytes]) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in parts.items():
            archive.writestr(path, data)
    buffer.seek(0)
    return buffer


def walk(
    xml: bytes,
    enter: Callable[[str, dict[str, str]], None],
    add_text: Callable[[str], None] | None = None,
    leave: Callable[[str], None] = lambda _: None,
) -> None:
    """Call these for each element, without its namespace, and for texts. A document type, with
    which a small file becomes a large one, is refused."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, values: enter(name.rpartition(" ")[2], values)
    parser.EndElementHandler = lambda name: leave(name.rpartition(" ")[2])
    parser.CharacterDataHandler = add_text
    parser.StartDoctypeDeclHandler = refuse_document_type
    parser.Parse(xml, True)


def refuse_document_type(*_: Any) -> NoReturn:
    raise Refusal(DAMAGED)


def list_elements(xml: bytes, wanted: str) -> Iterator[dict[str, str]]:
    """Yield the attributes, without their namespaces, of the elements with this name."""
    found: list[dict[str, str]] = []
    walk(xml, lambda name, values: found.append(values) if name == wanted else None)
    for values in found:
        yield {key.rpartition(" ")[2]: value for key, value in values.items()}


def list_sheets(parts: Mapping[str, bytes]) -> dict[str, str]:
    """Return the paths of the visible sheets by their names, in the order of the workbook."""
    targets = {one["Id"]: one["Target"] for one in list_elements(parts[LINKS], "Relationship")}
    return {
        sheet["name"]: posixpath.join("xl", targets[sheet["id"]]).removeprefix("/")
        for sheet in list_elements(parts[WORKBOOK], "sheet")
        if sheet.get("state", "visible") == "visible"
    }


def text_lengths(xml: bytes) -> list[int]:
    """Return how many characters each shared text has."""
    lengths: list[int] = []

    def add_text(text: str) -> None:
        if lengths:
            lengths[-1] += len(text)

    walk(xml, lambda name, _: lengths.append(0) if name == "si" else None, add_text)
    return lengths


class SheetScan:
    """The filled cells of a sheet. Raises `Refusal` at the first that is too much or has no
    value, and `ValueError` for a cell whose place cannot be read."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = lengths
        self.rows: set[int] = set()
        self.line = self.column = self.total = 0
        self.kind = self.text = ""
        self.seen: set[str] = set()

    def enter(self, name: str, values: dict[str, str]) -> None:
        if name == "row":
            self.line, self.column = int(values.get("r", self.line + 1)), 0
        elif name == "c":
            self.column += 1
            if place := values.get("r"):
                self.column, self.line = read_place(place)
            self.kind, self.text, self.seen = values.get("t", ""), "", set()
        elif name == "mergeCell" and self.rows:
            raise Refusal(MERGED.format(cells=values["ref"].replace(":", " to ")))
        self.seen.add(name)

    def add_text(self, text: str) -> None:
        if not self.seen.isdisjoint(("v", "is")):
            self.text += text

    def leave(self, name: str) -> None:
        if name != "c" or self.seen.isdisjoint(("f", "v", "is")):
            return
        cell = cell_name(self.column - 1, self.line - 1)
        length = self.lengths[int(self.text)] if self.kind == "s" else len(self.text)
        self.rows.add(self.line)
        self.total += length
        for is_wrong, sentence in (
            (self.kind == "e", ERROR_VALUE),
            ("f" in self.seen and not self.text and self.kind != "str", NO_VALUE),
            (self.line > MAX_LINES or len(self.rows) > MAX_ROWS + 1, TOO_MANY_ROWS),
            (self.column > MAX_COLUMNS, TOO_MANY_COLUMNS),
            (length > MAX_CELL_CHARACTERS, CELL_TOO_LONG),
            (self.total > MAX_FILE_BYTES, TEXTS_TOO_LARGE),
        ):
            if is_wrong:
                raise Refusal(sentence.format(cell=cell))


def read_place(text: str) -> tuple[int, int]:
    """Return column and line, from 1, of a cell such as B3. Raises `ValueError`."""
    place = CELL_RE.fullmatch(text)
    if place is None:
        raise ValueError(text)
    column = 0
    for letter in place[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return column, int(place[2])


def cell_text(value: Any) -> str:
    """Return the text of a value: a date in ISO 8601, a whole number without a point."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        is_day = value.time() == time()
        return value.date().isoformat() if is_day else value.isoformat(" ", "seconds")
    return value.isoformat() if isinstance(value, date) else str(value)
