"""Filters and tags of the portal's templates. The formatters are those of `shared.formatting`."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any
from zlib import crc32

from django import template
from django.http import HttpRequest
from django.template import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from heroicons.templatetags import heroicons

from dashboard.shared.filter_chips import ChipOption, FilterChip
from dashboard.shared.formatting import (
    clock,
    credit_rate,
    credits,
    day,
    duration,
    milliseconds,
    money,
    percent,
    seconds,
    share_of,
    unit_price,
)
from dashboard.static_files.bundles import files_to_link

register = template.Library()
FORMATTERS = (
    *(clock, credit_rate, credits, day, duration, milliseconds, money, percent, seconds),
    share_of,
)
for formatter in (*FORMATTERS, unit_price):
    register.filter(formatter)

TINT_COUNT = 6
CREDITS_UNIT_HTML = mark_safe('<abbr title="credits">cr</abbr>')
STYLE_SHEET = '<link rel="stylesheet" href="{}">'
SELECTED_ATTR = mark_safe(" selected")
# The symbols in templates/components/glyphs.html.
GLYPH_STATES = frozenset(
    {"draft", "waiting", "running", "late", "completed", "failed"}
    | {"unknown", "paused", "good", "outside", "likely", "info"}
)


@register.simple_tag
def bundle(name: str) -> SafeString:
    """Link the style sheets or the scripts of a bundle (dashboard/static_files/bundles.py)."""
    link = '<script src="{}" defer></script>' if name.endswith(".js") else STYLE_SHEET
    return format_html_join("\n", link, ((static(file),) for file in files_to_link(name)))


@register.simple_tag
def glyph(state: str, class_: str = "", *, bare: bool = False) -> SafeString:
    """Render the glyph of a state; its label is rendered beside it. `bare` inherits the text
    colour."""
    if state not in GLYPH_STATES:
        raise template.TemplateSyntaxError(f"there is no glyph for {state!r}")
    return format_html(
        '<svg class="glyph{}"{} viewBox="0 0 16 16" aria-hidden="true"><use href="#g-{}"/></svg>',
        f" {class_}" if class_ else "",
        "" if bare else format_html(' data-state="{}"', state),
        state,
    )


@register.simple_tag
def heroicon_outline(name: str, *, size: int = 24, **attrs: str) -> str:
    """Render an icon of heroicons, whose own tag copies and prints its XML each time."""
    return render_icon(name, size, tuple(attrs.items()))


@lru_cache(maxsize=512)
def render_icon(name: str, size: int, attrs: tuple[tuple[str, str], ...]) -> str:
    return heroicons.heroicon_outline(name, size=size, **dict(attrs))


# Amounts -----------------------------------------------------------------------------------------


AMOUNT_FORMATS = {
    "exact": "{value}",
    "about": "≈ {value}",
    "held": "{value}",
    "unknown": "{low} or {value}",
    "in": "+{value}",
    "out": "\N{MINUS SIGN}{value}",
}
# Built once: a table has hundreds of amounts.
AMOUNT_DATA_ATTRS = {
    name: format_html(' data-is="{}"', name) if name != "exact" else "" for name in AMOUNT_FORMATS
}
AMOUNT_SUFFIX_HTML = format_html(" {}", CREDITS_UNIT_HTML)


@register.simple_tag
def amount(
    value: Decimal | float | str | None,
    is_: str = "exact",
    low: Decimal | int = 0,
    class_: str = "",
    *,
    unit: bool = True,
) -> SafeString:
    """Render credits in the form that shows how certain they are: exact, about, held, unknown ("low
    or value"), in, out, free. Without a value it renders nothing. `unit=False` leaves out the unit,
    for a table with the unit in its head."""
    if is_ == "free":
        return mark_safe('<data class="amount" data-is="free" value="0">free</data>')
    if value is None or value == "":
        return mark_safe("")
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    text = credits(number)
    shown = text.lstrip("\N{MINUS SIGN}") if is_ in ("in", "out") else text
    return format_html(
        '<data class="amount{}"{} value="{}">{}{}</data>',
        f" {class_}" if class_ else "",
        AMOUNT_DATA_ATTRS[is_],
        "" if is_ == "unknown" else text.replace(",", "").replace("\N{MINUS SIGN}", "-"),
        AMOUNT_FORMATS[is_].format(value=shown, low=credits(low) if is_ == "unknown" else ""),
        AMOUNT_SUFFIX_HTML if unit else "",
    )


# Choices -----------------------------------------------------------------------------------------
@register.simple_tag
def widget_options(groups: Iterable[tuple[str | None, list[dict[str, Any]], int]]) -> SafeString:
    """Render the `optgroups` of a form's select. Django's own include two templates for each
    option, and time zones are 500."""
    options = (option for _, group, _ in groups for option in group)
    return render_options((one["value"], one["selected"], one["label"]) for one in options)


@register.simple_tag
def options(chip: FilterChip) -> SafeString:
    """Render the options of a filter's select."""
    return render_chip_options(chip.options)


@lru_cache(maxsize=64)
def render_chip_options(options: tuple[ChipOption, ...]) -> SafeString:
    """Cached: a large team has hundreds of options, twice on a page and on each following page."""
    return render_options((one.value, one.chosen, one.label) for one in options)


def render_options(rows: Iterable[tuple[object, bool, object]]) -> SafeString:
    return format_html_join(
        "",
        '<option value="{}"{}>{}</option>',
        ((value, SELECTED_ATTR if chosen else "", label) for value, chosen, label in rows),
    )


@register.simple_tag
def tint(url: str) -> SafeString:
    """Render which tint the ground of a picture has while it loads: the same for the same picture.
    Nothing without a picture."""
    number = crc32(url.partition("?")[0].encode()) % TINT_COUNT
    return format_html(' data-tint="{}"', number) if url else mark_safe("")


# People and places -------------------------------------------------------------------------------
@register.filter
def toast_state(level_tag: str) -> str:
    """Return the state of a message: a success closes by itself, all others stay."""
    return {"success": "good", "warning": "late", "error": "failed"}.get(level_tag, "info")


@register.simple_tag(takes_context=True)
def here(context: Context, name: str, also: str = "") -> SafeString:
    """Mark the navigation entry of the current page, or of a page below it."""
    request = context.get("request")
    match = request.resolver_match if isinstance(request, HttpRequest) else None
    if match is None or match.url_name not in {name, *also.split()}:
        return mark_safe("")
    return mark_safe(' aria-current="page"')
