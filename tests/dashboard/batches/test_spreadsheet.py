"""A spreadsheet becomes a table, or a sentence that names the cell; nothing is allocated for it."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from dashboard.batches import spreadsheet
from dashboard.batches.spreadsheet import read_spreadsheet
from dashboard.models import Batch
from proxyapi.refusals import Refusal
from tests.dashboard.batches.spreadsheets import formula, number, row, text, workbook

HEADERS = row(1, text("A1", 0), text("B1", 1))
TEXTS = ("title", "topic", "Fog", "Why &amp; how")
FOG = HEADERS + row(2, text("A2", 2), text("B2", 3))
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def refusal(data: bytes) -> str:
    with pytest.raises(Refusal) as refused:
        read_spreadsheet(data)
    return refused.value.sentence


def test_a_spreadsheet_of_libreoffice_is_read():
    """It writes the last line of a sheet that was formatted as a whole, with an empty cell."""
    cells = [
        *(number("C2", 60), number("D2", 7.5), number("E2", 46000, 1), number("F2", 46000.25, 1)),
        *(formula("G2", "<v>stored</v>"), formula("I2", "<v></v>")),
        '<c r="H2" s="0" t="b"><v>1</v></c>',
    ]
    last = row(1048576, '<c r="A1048576" s="1"/>')
    rows = HEADERS + row(
        3, text("A3", 2), text("B3", 3), *(c.replace('2"', '3"', 1) for c in cells)
    )
    table, note = read_spreadsheet(workbook({"Lakes": rows + last}, TEXTS))
    values = ["60", "7.5", "2025-12-09", "2025-12-09 06:00:00", "stored", "TRUE"]
    assert table == (["title", "topic"], {2: ["Fog", "Why & how", *values]})
    assert note == ""


def test_the_first_visible_sheet_with_a_filled_cell_is_read_and_said():
    sheets = {"Empty": row(1, '<c r="A1" s="1"/>'), "Old": HEADERS, "Lakes": FOG, "Notes": HEADERS}
    table, note = read_spreadsheet(workbook(sheets, TEXTS, hidden=["Old"]))
    assert table.rows == {1: ["Fog", "Why & how"]}
    assert note == "Read from the sheet “Lakes”. Other sheets were left out."


def test_of_100_000_rows_no_more_are_read_than_say_so(monkeypatch):
    leave, cells = spreadsheet.SheetScan.leave, []

    def count_cells(self, name):
        cells.append(name)
        leave(self, name)

    monkeypatch.setattr(spreadsheet.SheetScan, "leave", count_cells)
    monkeypatch.setattr(spreadsheet, "CalamineWorkbook", None)
    rows = "".join(row(line, text(f"A{line}", 0)) for line in range(1, 100_001))
    assert "more than 500 rows" in refusal(workbook({"Lakes": rows}, TEXTS))
    assert cells.count("c") == 502


def zip_bomb(stated_size: int | None = None) -> bytes:
    data = workbook({"Lakes": FOG}, TEXTS, parts={"xl/media/image.png": b"\0" * 40_000_000})
    if stated_size is None:
        return data
    size = (40_000_000).to_bytes(4, "little")
    assert data.count(size) == 2
    return data.replace(size, stated_size.to_bytes(4, "little"))


def test_a_zip_bomb_is_refused_by_the_size_it_states(monkeypatch):
    monkeypatch.setattr(spreadsheet, "unpack", None)
    assert "larger than 30 MB when it is unpacked" in refusal(zip_bomb())


def test_a_part_that_is_not_needed_is_not_unpacked():
    table, _ = read_spreadsheet(zip_bomb(stated_size=100))
    assert len(table.rows) == 1


def test_a_part_that_states_a_wrong_size_is_refused():
    data = workbook({"Lakes": FOG}, TEXTS)
    size = zipfile.ZipFile(io.BytesIO(data)).getinfo("xl/sharedStrings.xml").file_size
    wrong = data.replace(size.to_bytes(4, "little"), (size - 9).to_bytes(4, "little"))
    assert "damaged" in refusal(wrong)


BOMB_OF_ENTITIES = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (workbook({"A": ""}), "The spreadsheet is empty."),
        (workbook({"A": HEADERS}, TEXTS), "There are no rows"),
        (workbook({"A": row(2, text("A2", 0))}, TEXTS), "The first line is empty"),
        (OLE + b"\0" * 40 + "EncryptedPackage".encode("utf-16-le"), "protected with a password"),
        (OLE + b"\0" * 400, "the format of Excel 97 to 2003"),
        (workbook({"A": FOG}, TEXTS)[:-200], "damaged"),
        (workbook({"A": FOG}), "damaged"),  # no shared texts
        (workbook({"A": HEADERS + row(2, text("$A$2", 2))}, TEXTS), "damaged"),
        (workbook({"A": FOG + formula("A3", "", "n")}, TEXTS), "A3 has a formula without a stored"),
        (workbook({"A": FOG + formula("A3", "<v/>", "n")}, TEXTS), "A3 has a formula without"),
        (workbook({"A": FOG + formula("A3", "<v>#N/A</v>", "e")}, TEXTS), "A3 has an error"),
        (workbook({"A": FOG + text("AO3", 2)}, TEXTS), "AO3 is filled. A table has up to 40"),
        (workbook({"A": FOG + text("a1048576", 2)}, TEXTS), "more than 500 rows"),
        (workbook({"A": FOG}, [*TEXTS[:3], "x" * 30_001]), "B2 is longer than 30,000"),
        (workbook({"A": FOG}, [*TEXTS[:3], "x" * 20_000_000]), "B2 is longer than 30,000"),
        (workbook({"A": FOG}, [*TEXTS[:3], "x" * 40_000_000]), "larger than 30 MB"),
        (
            workbook({"A": FOG}, TEXTS, after='<mergeCells><mergeCell ref="A2:A4"/></mergeCells>'),
            "A2 to A4 are merged. Unmerge them",
        ),
        (
            workbook({"A": HEADERS + "".join(row(n, *[text(f"A{n}", 2)] * 1, text(f"B{n}", 2))
                                             for n in range(2, 300))},
                     [*TEXTS[:2], "x" * 29_000]),
            "longer than 5 MB together",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(data, sentence):
    assert sentence in refusal(data)


def test_another_archive_is_no_spreadsheet():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("content.xml", "<a/>")
    assert refusal(buffer.getvalue()).startswith("This is not an XLSX spreadsheet.")


@pytest.mark.parametrize("path", ["xl/workbook.xml", "xl/sharedStrings.xml"])
def test_a_document_type_is_refused(path):
    good = zipfile.ZipFile(io.BytesIO(workbook({"A": FOG}, TEXTS)))
    parts = {name: good.read(name).decode() for name in good.namelist()}
    head, _, body = parts[path].partition("\n")
    parts[path] = f"{head}{BOMB_OF_ENTITIES}{body}"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, xml in parts.items():
            archive.writestr(name, xml)
    assert "damaged" in refusal(buffer.getvalue())


def test_it_is_uploaded_as_a_csv_file_is_and_the_page_says_what_was_read(history, priya, client_of):
    texts = ("title", "topic", "Fog", "Why", "Title")
    rows = HEADERS.replace("</row>", text("C1", 4) + "</row>")
    rows += row(2, text("A2", 2), text("B2", 3), text("C2", 2))
    data = workbook({"Lakes": rows, "Notes": ""}, texts)
    file = SimpleUploadedFile("lakes.xlsx", data, "application/octet-stream")
    answer = client_of(priya).post("/batches/new/", {"file": file}, follow=True)
    batch = Batch.objects.get()
    assert (batch.name, batch.columns) == ("lakes", ["title", "topic", ""])
    page = answer.content.decode()
    assert "Read from the sheet “Lakes”." in page
    assert "Several columns are named “title”. The first one is used" in page
    assert "1 of 1 rows" in page
