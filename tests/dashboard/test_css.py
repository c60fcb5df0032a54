"""The look's promises about files: colours in one place, nothing inline, nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
SHEETS = sorted((ROOT / "static/css").rglob("*.css"))
SCRIPTS = sorted((ROOT / "static/js").rglob("*.js"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
# Parts of the look whose pages are still to come: the ledger, storyboards.
COLOUR = re.compile(
    r"#[0-9a-f]{3,8}\b(?!\))|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\("
    r"|(?<![\w-])(?:black|white|gr[ae]y|red|green|blue|orange|purple|yellow|pink)(?![\w-])",
    re.IGNORECASE,
)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def rules(sheet: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("sheet", [s for s in SHEETS if s.name != "tokens.css"], ids=name)
def test_a_colour_is_written_in_the_tokens_and_nowhere_else(sheet: Path) -> None:
    without_references = re.sub(r"url\(#[\w-]+\)", "", rules(sheet))
    assert COLOUR.findall(without_references) == []


@pytest.mark.parametrize("sheet", SHEETS, ids=name)
def test_a_style_sheet_asks_nobody_else(sheet: Path) -> None:
    assert not re.search(r"@import|https?:|url\((?!#)", rules(sheet))


@pytest.mark.parametrize("sheet", SHEETS, ids=name)
def test_a_style_sheet_lies_in_a_layer(sheet: Path) -> None:
    assert rules(sheet).lstrip().startswith("@layer")
    assert rules(sheet).count("{") == rules(sheet).count("}")


@pytest.mark.parametrize("template", TEMPLATES, ids=name)
def test_a_template_holds_no_style_and_no_script(template: Path) -> None:
    text = re.sub(
        r"{% comment %}.*?{% endcomment %}", "", template.read_text(encoding="utf-8"), flags=re.S
    )
    assert not re.search(r"\sstyle=|<style|<script(?![^>]*\ssrc=)|\son[a-z]+=", text)
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_a_behaviour_fits_on_a_page_and_says_what_it_does(script: Path) -> None:
    lines = script.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 50
    assert lines[0].startswith("// ")
