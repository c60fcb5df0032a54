"""The list of presets: filtered rows, and what the service no longer offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from django.utils import timezone

from dashboard.models import Membership, Preset
from dashboard.shared.access import has_permission
from dashboard.shared.filter_chips import FilterChip, build_filter_chip
from dashboard.shared.formatting import clock, day
from dashboard.shared.query_params import (
    PageFilters,
    allowed_or_empty,
    parse_search_text,
    parse_small_int,
    parse_uuid,
)
from dashboard.shared.roles import Permission
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from dashboard.studio.kept_settings.groups import VOICE_FIELD, setting_label
from dashboard.studio.kept_settings.kept_option import KeptOption, kept_options
from dashboard.studio.kept_settings.team_options import last_comparison_time
from dashboard.studio.presets.queries.cards import PresetCard, build_preset_card, with_pictures

PAGE_SIZE = 15
# The comparison runs every quarter of an hour.
COMPARISON_GRACE = timedelta(minutes=45)


@dataclass(frozen=True, slots=True)
class PresetFilters(PageFilters):
    """`renaming`: the preset whose name is a field."""

    PAGE: ClassVar[str] = "presets"
    CURSOR: ClassVar[str] = "offset"

    search: str = ""
    type: str = ""
    member: str = ""
    offset: int | None = None
    renaming: UUID | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.type or self.member)


@dataclass(frozen=True, slots=True)
class DriftLine:
    """An option that the service no longer offers, and the nearest one, if there is one."""

    field: str
    label: str
    name: str
    nearest: KeptOption | None
    rule: str


@dataclass(frozen=True, slots=True)
class PresetRow:
    card: PresetCard
    genre: str
    maker_name: str
    maker_initials: str
    used_count: int
    last_used: str
    drifts: tuple[DriftLine, ...]
    is_default: bool
    renaming: bool
    rename_url: str

    @property
    def phone_prefix(self) -> str:
        """Return type and format before the voice, such as `AI visuals, 16:9, `."""
        parts = ", ".join(filter(None, (self.card.type_label, self.card.format)))
        return f"{parts}, " if self.card.voice else parts

    @property
    def is_voice_gone(self) -> bool:
        return self.is_gone(VOICE_FIELD)

    @property
    def is_genre_gone(self) -> bool:
        return self.is_gone("genre_id")

    @property
    def is_format_gone(self) -> bool:
        return self.is_gone("aspect_ratio")

    def is_gone(self, field: str) -> bool:
        return any(drift.field == field for drift in self.drifts)


@dataclass(frozen=True, slots=True)
class Comparison:
    """When the presets were compared. `overdue`: the last comparison did not take place."""

    drift_count: int
    total: int
    compared: str
    next_one: str
    overdue: bool

    @property
    def title(self) -> str:
        if not self.drift_count:
            return ""
        verb, plural = ("uses" if self.drift_count == 1 else "use"), "" if self.total == 1 else "s"
        return (
            f"{self.drift_count} of {self.total} preset{plural} {verb} something that the service "
            "no longer offers."
        )

    @property
    def sentence(self) -> str:
        if self.overdue:
            return f"Not compared since {self.compared}: the service’s options were not read."
        return f"Compared with the service at {self.compared}, next {self.next_one}."


@dataclass(frozen=True, slots=True)
class PresetsPage:
    rows: tuple[PresetRow, ...]
    total: int
    filters: PresetFilters
    chips: tuple[FilterChip, ...]
    comparison: Comparison
    next_url: str
    first_url: str
    may_edit: bool
    may_set_kit: bool

    @property
    def refresh_url(self) -> str:
        """Return the URL of the list as it is shown."""
        return self.filters.url(offset=self.filters.offset)

    @property
    def list_url(self) -> str:
        """Return the same without a name as a field."""
        return self.filters.url(offset=self.filters.offset, renaming=None)

    @property
    def query(self) -> str:
        """Return its filters as `?q=sea`, for the addresses of buttons, or ""."""
        _, mark, query = self.list_url.partition("?")
        return mark + query


def parse_preset_filters(query: Mapping[str, str]) -> PresetFilters:
    """Invalid values are ignored."""
    member = query.get("member", "")
    return PresetFilters(
        search=parse_search_text(query),
        type=allowed_or_empty(query.get("type", ""), FACELESS_TYPE_LABELS),
        member=member if parse_small_int(member) else "",
        offset=parse_small_int(query.get("offset", "")) or None,
        renaming=parse_uuid(query.get("renaming", "")),
    )


def load_presets_page(reader: Membership, filters: PresetFilters) -> PresetsPage:
    """One query. A team has few presets, so they are filtered here."""
    presets = list(with_pictures(reader.team.presets.select_related("created_by")))
    may_edit = has_permission(reader, Permission.RENDER)
    found = [preset for preset in presets if is_match(preset, filters)]
    start = filters.offset or 0
    rows = [
        build_preset_row(preset, reader, filters) for preset in found[start : start + PAGE_SIZE]
    ]
    has_more = len(found) > start + PAGE_SIZE
    return PresetsPage(
        rows=tuple(rows),
        total=len(presets),
        filters=filters,
        chips=build_preset_chips(presets, filters),
        comparison=build_comparison(reader, presets),
        next_url=filters.url(offset=start + PAGE_SIZE, renaming=None) if has_more else "",
        first_url=filters.url(renaming=None) if start else "",
        may_edit=may_edit,
        may_set_kit=has_permission(reader, Permission.SET_BRAND_KIT),
    )


def is_match(preset: Preset, filters: PresetFilters) -> bool:
    """True if every word of the search is in the name or in the name of a kept option."""
    names = (str(option.get("name", "")) for option in preset.options.values())
    text = f"{preset.name} {' '.join(names)}".lower()
    return (
        all(word in text for word in filters.search.lower().split())
        and filters.type in ("", preset.type)
        and filters.member in ("", str(preset.created_by_id))
    )


def build_preset_row(preset: Preset, reader: Membership, filters: PresetFilters) -> PresetRow:
    options, maker = kept_options(preset.options), preset.created_by
    return PresetRow(
        card=build_preset_card(preset),
        genre=options["genre_id"].name if "genre_id" in options else "",
        maker_name=maker.first_name,
        maker_initials=maker.initials,
        used_count=preset.used_count,
        last_used=f"Last used {day(preset.last_used_at)}"
        if preset.last_used_at
        else "Not used yet",
        drifts=build_drift_lines(preset),
        is_default=reader.default_preset_id == preset.pk,
        renaming=filters.renaming == preset.pk,
        rename_url=filters.url(offset=filters.offset, renaming=preset.pk),
    )


def build_drift_lines(preset: Preset) -> tuple[DriftLine, ...]:
    """Return the options of the last comparison that are gone."""
    options = kept_options(preset.options)
    return tuple(
        DriftLine(
            field=field,
            label=setting_label(field),
            name=options[field].name,
            nearest=KeptOption.from_json(near) if near else None,
            rule=str(near.get("rule", "")) if near else "",
        )
        for field, near in preset.missing.items()
        if field in options
    )


def build_preset_chips(presets: Sequence[Preset], filters: PresetFilters) -> tuple[FilterChip, ...]:
    makers = {str(preset.created_by_id): preset.created_by.first_name for preset in presets}
    types = {preset.type: FACELESS_TYPE_LABELS.get(preset.type, preset.type) for preset in presets}
    return (
        build_filter_chip("type", "Type", {"": "any", **types}, filters),
        build_filter_chip("member", "Made by", {"": "everyone", **makers}, filters),
    )


def build_comparison(reader: Membership, presets: Sequence[Preset]) -> Comparison:
    now, tenant = timezone.now(), reader.team.tenant
    compared_at = min((preset.compared_at for preset in presets), default=now)
    due_at = last_comparison_time(tenant, now)
    next_at = due_at + timedelta(days=1)
    is_today = timezone.localtime(next_at).date() == timezone.localtime(now).date()
    return Comparison(
        drift_count=sum(bool(preset.missing) for preset in presets),
        total=len(presets),
        compared=comparison_clock(compared_at),
        next_one=f"{'today' if is_today else 'tomorrow'} at {timezone.localtime(next_at):%H:%M}",
        overdue=compared_at < last_comparison_time(tenant, now - COMPARISON_GRACE),
    )


def comparison_clock(at: datetime) -> str:
    """Return a time with its day, if that is not today, such as `yesterday 06:00`."""
    yesterday = timezone.localtime() - timedelta(days=1)
    local = timezone.localtime(at)
    return f"yesterday {local:%H:%M}" if local.date() == yesterday.date() else clock(at)
