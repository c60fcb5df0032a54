"""Filters and tags of our own templates. The formatters are those of `shared.formatting`."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from django import template
from django.http import HttpRequest
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard.shared.filter_chips import ChipOption, FilterChip
from dashboard.shared.formatting import (
    clock,
    credits,
    day,
    duration,
    percent,
    seconds,
    share_of,
)
from dashboard.static_files.bundles import SCRIPT_BUNDLE, STYLE_BUNDLE, files_to_link

register = template.Library()
for formatter in (clock, credits, day, duration, percent, seconds, share_of):
    register.filter(formatter)

CREDITS_UNIT_HTML = mark_safe('<abbr title="credits">cr</abbr>')
SELECTED_ATTR = mark_safe(" selected")
# The symbols of templates/components/glyphs.html.
GLYPH_STATES = frozenset(
    {"draft", "waiting", "running", "late", "completed", "failed"}
    | {"unknown", "paused", "good", "outside", "likely", "info"}
)


@register.simple_tag
def sheets() -> list[str]:
    """The style sheets a page links."""
    return files_to_link(STYLE_BUNDLE)


@register.simple_tag
def scripts() -> list[str]:
    """The scripts that every page of a team links."""
    return files_to_link(SCRIPT_BUNDLE)


@register.simple_tag
def glyph(state: str, class_: str = "", *, bare: bool = False) -> SafeString:
    """A state's own shape; the word stands beside it. `bare` takes the colour around."""
    if state not in GLYPH_STATES:
        raise template.TemplateSyntaxError(f"there is no glyph for {state!r}")
    return format_html(
        '<svg class="glyph{}"{} viewBox="0 0 16 16" aria-hidden="true"><use href="#g-{}"/></svg>',
        f" {class_}" if class_ else "",
        "" if bare else format_html(' data-state="{}"', state),
        state,
    )


# Amounts -----------------------------------------------------------------------------------------


AMOUNT_FORMATS = {
    "exact": "{value}",
    "about": "≈ {value}",
    "held": "{value}",
    "unknown": "{low} or {value}",
    "in": "+{value}",
    "out": "\N{MINUS SIGN}{value}",
}
# Made once: a table has hundreds.
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
    """Credits in the form that says how sure they are: exact, about, held, unknown
    ("low or value"), in, out, free. Without a value there is nothing. A table whose head says the
    unit leaves it out (`unit=False`)."""
    if is_ == "free":
        return mark_safe('<data class="amount" data-is="free" value="0">free</data>')
    if value is None or value == "":
        return mark_safe("")
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    told = credits(number)
    shown = told.lstrip("\N{MINUS SIGN}") if is_ in ("in", "out") else told
    return format_html(
        '<data class="amount{}"{} value="{}">{}{}</data>',
        f" {class_}" if class_ else "",
        AMOUNT_DATA_ATTRS[is_],
        "" if is_ == "unknown" else told.replace(",", "").replace("\N{MINUS SIGN}", "-"),
        AMOUNT_FORMATS[is_].format(value=shown, low=credits(low) if is_ == "unknown" else ""),
        AMOUNT_SUFFIX_HTML if unit else "",
    )


# Choices -----------------------------------------------------------------------------------------
@register.simple_tag
def options(chip: FilterChip) -> SafeString:
    """The options of a filter's select."""
    return render_select_options(chip.options)


@lru_cache(maxsize=64)
def render_select_options(options: tuple[ChipOption, ...]) -> SafeString:
    """A team of hundreds has as many of them, twice on a page and the same on the next."""
    return format_html_join(
        "",
        '<option value="{}"{}>{}</option>',
        ((one.value, SELECTED_ATTR if one.chosen else "", one.label) for one in options),
    )


# People and places -------------------------------------------------------------------------------
@register.filter
def toast_state(level_tag: str) -> str:
    """The state a message is shown in: what was done leaves by itself, the rest stays."""
    return {"success": "good", "warning": "late", "error": "failed"}.get(level_tag, "info")


@register.simple_tag(takes_context=True)
def here(context: Context, name: str, also: str = "") -> SafeString:
    """Marks the entry of a navigation whose page, or a page beneath it, this is."""
    request = context.get("request")
    match = request.resolver_match if isinstance(request, HttpRequest) else None
    if match is None or match.url_name not in {name, *also.split()}:
        return mark_safe("")
    return mark_safe(' aria-current="page"')
