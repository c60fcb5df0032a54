"""The list of presets: filtered rows, and what the service no longer offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone

from dashboard.models import Membership, Preset
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import clock
from dashboard.shared.lists import slice_list
from dashboard.shared.query_params import (
    PageFilters,
    choice_field,
    id_field,
    number_field,
    offset_field,
    search_field,
)
from dashboard.shared.roles import Permission
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from dashboard.studio.kept_settings.groups import setting_label
from dashboard.studio.kept_settings.kept_option import KeptOption, kept_options
from dashboard.studio.kept_settings.team_options import last_comparison_time
from dashboard.studio.presets.queries.cards import build_preset_card, with_pictures

PAGE_SIZE = 15
# The comparison runs every quarter of an hour.
COMPARISON_GRACE = timedelta(minutes=45)


@dataclass(frozen=True, slots=True)
class PresetFilters(PageFilters):
    """`renaming`: the preset whose name is a field."""

    PAGE: ClassVar[str] = "presets"
    CURSOR: ClassVar[str] = "offset"
    ID: ClassVar[str] = "preset"

    search: str = search_field()
    type: str = choice_field(FACELESS_TYPE_LABELS, "Type")
    member: int | None = number_field("Made by", unset="everyone")
    offset: int | None = offset_field()
    renaming: UUID | None = id_field(narrows=False)


def load_presets_page(reader: Membership, filters: PresetFilters) -> dict[str, Any]:
    """One query. A team has few presets, so they are filtered here. `query`: the filters as
    `?q=sea`, for the addresses of buttons, or ""."""
    presets = list(with_pictures(reader.team.presets.select_related("created_by")))
    found = [preset for preset in presets if is_match(preset, filters)]
    makers = {str(preset.created_by_id): preset.created_by.first_name for preset in presets}
    types = {preset.type: FACELESS_TYPE_LABELS.get(preset.type, preset.type) for preset in presets}
    page = slice_list(filters, found, PAGE_SIZE, type=types, member=makers)
    list_url = filters.url(offset=filters.offset, renaming=None)
    return {
        "list": page,
        "presets": [build_preset_row(preset, reader, filters) for preset in page.rows],
        "total": len(presets),
        "comparison": build_comparison(reader, presets),
        "list_url": list_url,
        "query": "".join(list_url.partition("?")[1:]),
        "may_edit": has_permission(reader, Permission.RENDER),
        "may_set_kit": has_permission(reader, Permission.SET_BRAND_KIT),
    }


def is_match(preset: Preset, filters: PresetFilters) -> bool:
    """True if every word of the search is in the name or in the name of a kept option."""
    names = (str(option.get("name", "")) for option in preset.options.values())
    text = f"{preset.name} {' '.join(names)}".lower()
    return (
        all(word in text for word in filters.search.lower().split())
        and filters.type in ("", preset.type)
        and filters.member in (None, preset.created_by_id)
    )


def build_preset_row(preset: Preset, reader: Membership, filters: PresetFilters) -> dict[str, Any]:
    """`gone`: the fields whose option the service no longer offers."""
    options, card = kept_options(preset.options), build_preset_card(preset)
    drifts = [build_drift(field, options[field].name, near) for field, near in missing(preset)]
    return {
        "preset": preset,
        "card": card,
        "genre": options["genre_id"].name if "genre_id" in options else "",
        "drifts": drifts,
        "gone": {drift["field"] for drift in drifts},
        "is_default": reader.default_preset_id == preset.pk,
        "renaming": filters.renaming == preset.pk,
        "rename_url": filters.url(offset=filters.offset, renaming=preset.pk),
    }


def missing(preset: Preset) -> list[tuple[str, Any]]:
    """Return the kept options of the last comparison that are gone, with the nearest one."""
    return [(field, near) for field, near in preset.missing.items() if field in preset.options]


def build_drift(field: str, name: str, near: Any) -> dict[str, Any]:
    return {
        "field": field,
        "label": setting_label(field),
        "name": name,
        "nearest": KeptOption.from_json(near) if near else None,
        "rule": str(near.get("rule", "")) if near else "",
    }


def build_comparison(reader: Membership, presets: Sequence[Preset]) -> dict[str, Any]:
    """When the presets were compared. `overdue`: the last comparison did not take place."""
    now, tenant = timezone.now(), reader.team.tenant
    compared_at = min((preset.compared_at for preset in presets), default=now)
    next_at = timezone.localtime(last_comparison_time(tenant, now) + timedelta(days=1))
    return {
        "drifted": sum(bool(preset.missing) for preset in presets),
        "compared": comparison_clock(compared_at),
        "next_at": next_at,
        "is_today": next_at.date() == timezone.localtime(now).date(),
        "overdue": compared_at < last_comparison_time(tenant, now - COMPARISON_GRACE),
    }


def comparison_clock(at: datetime) -> str:
    """Return a time with its day, if that is not today, such as `yesterday 06:00`."""
    yesterday = timezone.localtime() - timedelta(days=1)
    local = timezone.localtime(at)
    return f"yesterday {local:%H:%M}" if local.date() == yesterday.date() else clock(at)
