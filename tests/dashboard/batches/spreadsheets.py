"""Spreadsheets as LibreOffice Calc writes them, part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OOXML = "http://schemas.openxmlformats.org"
LINK = f"{OOXML}/officeDocument/2006/relationships"
NAMESPACES = f'xmlns="{OOXML}/spreadsheetml/2006/main" xmlns:r="{LINK}"'
STYLES = (
    '<numFmts count="2"><numFmt numFmtId="164" formatCode="General"/>'
    '<numFmt numFmtId="165" formatCode="dd/mm/yy\\ hh:mm"/></numFmts>'
    '<fonts count="1"><font><sz val="10"/><name val="Arial"/><family val="2"/></font></fonts>'
    '<fills count="1"><fill><patternFill patternType="none"/></fill></fills>'
    '<borders count="1"><border diagonalUp="false" diagonalDown="false"/></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="164" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>'
)


def row(line: int, *cells: str) -> str:
    start = f'<row r="{line}" customFormat="false" ht="12.8" hidden="false" outlineLevel="0">'
    return f"{start}{''.join(cells)}</row>"


def text(place: str, number: int) -> str:
    """A cell with a shared text."""
    return f'<c r="{place}" s="0" t="s"><v>{number}</v></c>'


def number(place: str, value: float, style: int = 0) -> str:
    return f'<c r="{place}" s="{style}" t="n"><v>{value}</v></c>'


def formula(place: str, value: str, kind: str = "str") -> str:
    return f'<c r="{place}" s="0" t="{kind}"><f aca="false">A1</f>{value}</c>'


def workbook(
    sheets: Mapping[str, str],
    texts: Sequence[str] = (),
    *,
    hidden: Sequence[str] = (),
    parts: Mapping[str, bytes] | None = None,
    after: str = "",
) -> bytes:
    """A file with these rows by the name of their sheet; `after` stands after the rows of each."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at}" state="{"hidden" if name in hidden else "visible"}" '
        f'r:id="rId{at}"/>'
        for at, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{LINK}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at, _ in enumerate(sheets, 1)
    )
    shared = "".join(f'<si><t xml:space="preserve">{one}</t></si>' for one in texts)
    links += f'<Relationship Id="t" Type="{LINK}/sharedStrings" Target="sharedStrings.xml"/>'
    links += f'<Relationship Id="s" Type="{LINK}/styles" Target="styles.xml"/>'
    package = f'xmlns="{OOXML}/package/2006/relationships"'
    content = {
        "_rels/.rels": f'<Relationships {package}><Relationship Id="rId1" '
        f'Type="{LINK}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f"<Relationships {package}>{links}</Relationships>",
        "xl/workbook.xml": f'<workbook {NAMESPACES}><fileVersion appName="Calc"/>'
        f'<workbookPr date1904="false"/><sheets>{listed}</sheets></workbook>',
        "xl/styles.xml": f"<styleSheet {NAMESPACES}>{STYLES}</styleSheet>",
        "xl/sharedStrings.xml": f"<sst {NAMESPACES}>{shared}</sst>",
        "[Content_Types].xml": f'<Types xmlns="{OOXML}/package/2006/content-types"/>',
        **{
            f"xl/worksheets/sheet{at}.xml": f"<worksheet {NAMESPACES}><sheetPr "
            f'filterMode="false"/><sheetData>{rows}</sheetData>{after}</worksheet>'
            for at, rows in enumerate(sheets.values(), 1)
        },
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, xml in content.items():
            archive.writestr(path, HEAD + xml)
        for path, data in (parts or {}).items():
            archive.writestr(path, data)
    return buffer.getvalue()
