"""What is uploaded or pasted becomes a table, or a sentence that names the line or the cell."""

from __future__ import annotations

import pytest

from dashboard.batches import table_file
from dashboard.batches.row_checks import find_columns
from dashboard.batches.table_file import cell_name, read_table, read_table_file
from proxyapi.refusals import Refusal


def refusal(data: bytes) -> str:
    with pytest.raises(Refusal) as refused:
        read_table_file(data)
    return refused.value.sentence


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter):
    text = delimiter.join(("title", "topic")) + "\n" + delimiter.join(("Fog", "Why, and how; so"))
    text = text.replace("Why, and how; so", '"Why, and how; so"')
    assert read_table(text).rows == {1: ["Fog", "Why, and how; so"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_is_found(encoding):
    table = read_table_file("title\nÉtangs gelés\n".encode(encoding))
    assert table == (["title"], {1: ["Étangs gelés"]})


def test_mixed_encodings_are_refused_by_their_line():
    data = "title\nÉtangs\n".encode() + "Gelés\n".encode("cp1252")
    assert refusal(data).startswith("Line 3 is not in the same encoding")


def test_of_100_000_rows_no_more_are_read_than_say_so(monkeypatch):
    read_records, read = table_file.read_records, []

    def count_records(text, delimiter):
        for record in read_records(text, delimiter):
            read.append(record)
            yield record

    monkeypatch.setattr(table_file, "read_records", count_records)
    assert "more than 500 rows" in refusal(b"title\n" + b"Fog\n" * 100_000)
    assert len(read) == 502


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The first line is empty"),
        (b"\n\n", "The first line is empty"),
        (b"title,topic\n,\n", "There are no rows"),
        (b"PK\x03\x04rest", "not a CSV, TSV or XLSX file"),
        (b"title\n\x00\x00", "not a CSV, TSV or XLSX file"),
        (b"\x81\x8d\x8f", "not a CSV, TSV or XLSX file"),
        (b'title\n"Fog\nmore', "Line 3 cannot be read"),
        (b"title\n" + b"x" * 40_000, "A2 is longer than 30,000 characters"),
        (b"title\n" + b"x" * 200_000, "Line 2 cannot be read"),
        (b",".join([b"x"] * 41) + b"\na", "more than 40 columns"),
        (b"x" * (5 * 1024**2 + 1), "larger than 5 MB"),
    ],
)
def test_what_cannot_be_read_is_said(data, sentence):
    assert sentence in refusal(data)


def test_rows_are_numbered_as_a_spreadsheet_does():
    table = read_table('title,topic\nFog,"two\nlines"\n\nIce,\n')
    assert table.rows == {1: ["Fog", "two\nlines"], 3: ["Ice"]}
    assert [cell_name(0, 1), cell_name(25, 3), cell_name(26, 3)] == ["A2", "Z4", "AA4"]


def test_columns_are_found_by_name_and_each_field_once():
    headers = ["Title", "voice", "Aspect_Ratio", "Seconds", "title", "note", "Image engine"]
    expected = ["title", "voice_id", "aspect_ratio", "duration", "", "", "image_engine_id"]
    assert find_columns(headers) == expected
