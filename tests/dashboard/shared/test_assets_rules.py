"""Rules for static files and templates: colours in one place, nothing inline, nothing external."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from tests.cases import each_case

ROOT = Path(settings.BASE_DIR)
SHEETS = sorted((ROOT / "static/css").rglob("*.css"))
SCRIPTS = sorted((ROOT / "static/js").rglob("*.js"))
# Mail programs know no style sheets: tests/dashboard/sign_in/test_mails.py has their rules.
MAILS = ROOT / "templates/account/email"
TEMPLATES = sorted(p for p in (ROOT / "templates").rglob("*.html") if p.parent != MAILS)
PAGES = sorted((ROOT / "dashboard").rglob("*.py"))
WORD = r"-?[A-Za-z_][\w-]*"
# A value in quotes, which may hold quotes inside of template tags.
QUOTED = re.compile(r'"((?:\{%.*?%\}|\{\{.*?\}\}|[^"\n])*)"|[\'`]([^\'`\n]*)[\'`]')
BLOCK = re.compile(r"\{% (?:block (?:wide|layout_class)|partialdef (?:look|shape)) %\}(.*?)\{% end")
COLOUR = re.compile(
    r"#[0-9a-f]{3,8}\b(?!\))|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\("
    r"|(?<![\w-])(?:black|white|gr[ae]y|red|green|blue|orange|purple|yellow|pink)(?![\w-])",
    re.IGNORECASE,
)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def rules(sheet: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", sheet.read_text(encoding="utf-8"), flags=re.DOTALL)


@each_case("sheet", [s for s in SHEETS if s.name != "tokens.css"])
def test_a_colour_is_written_in_the_tokens_and_nowhere_else(sheet: Path) -> None:
    without_references = re.sub(r"url\(#[\w-]+\)", "", rules(sheet))
    assert COLOUR.findall(without_references) == []


@each_case("sheet", SHEETS)
def test_a_style_sheet_asks_nobody_else(sheet: Path) -> None:
    assert not re.search(r"@import|https?:|url\((?!#)", rules(sheet))


@each_case("sheet", SHEETS)
def test_a_style_sheet_lies_in_a_layer(sheet: Path) -> None:
    assert rules(sheet).lstrip().startswith("@layer")
    assert rules(sheet).count("{") == rules(sheet).count("}")


@each_case("template", TEMPLATES)
def test_a_template_holds_no_style_and_no_script(template: Path) -> None:
    text = re.sub(
        r"{% comment %}.*?{% endcomment %}", "", template.read_text(encoding="utf-8"), flags=re.S
    )
    assert not re.search(r"\sstyle=|<style|<script(?![^>]*\ssrc=)|\son[a-z]+=", text)
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)


@each_case("script", SCRIPTS)
def test_a_behaviour_fits_on_a_page_and_says_what_it_does(script: Path) -> None:
    lines = script.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 50
    assert lines[0].startswith("// ")


def classes_of(sheet: Path) -> set[str]:
    """Those that its selectors name."""
    return set(re.findall(rf"\.({WORD})", re.sub(r"\{[^{}]*\}", "{}", rules(sheet))))


def written_by(text: str) -> set[str]:
    """Classes in a template or a script; `dot--{{ tone }}` is in it as `dot--`."""
    text = re.sub(r"\{% comment %\}.*?\{% endcomment %\}", "", text, flags=re.S)
    values = ["".join(found) for found in QUOTED.findall(text)] + BLOCK.findall(text)
    return set(re.findall(WORD, " ".join(values)))


def test_a_class_of_a_style_sheet_is_used() -> None:
    """By a template or a script, or with a word that Python chooses: `dot--` and `outside`."""
    used = {word for file in (*TEMPLATES, *SCRIPTS) for word in written_by(file.read_text())}
    chosen = used | {word for file in PAGES for word in written_by(file.read_text())}
    unused = {
        f"{sheet.name} .{found}"
        for sheet in SHEETS
        for found in classes_of(sheet) - chosen
        if not ((parts := found.rpartition("--"))[0] + "--" in used and parts[2] in chosen)
    }
    assert unused == set()
