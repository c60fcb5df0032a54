"""What a new draft starts with, under what its member chose: a preset, the brand kit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F
from django.utils import timezone

from dashboard.models import BrandKit, DraftOrigin, Membership, Preset
from dashboard.studio.flows import DEFAULT_FLOW, FLOWS
from dashboard.studio.kept_settings.groups import FORMAT_FIELD, SETTING_GROUPS
from dashboard.studio.kept_settings.resolve import (
    ResolvedSettings,
    resolve_brand_kit,
    resolve_preset,
)
from proxyapi.models import Account, Idea, Job

NOTHING = ResolvedSettings({}, {})


@dataclass(frozen=True, slots=True)
class DraftStart:
    """What a draft starts with. `kit_values`: the settings that the brand kit set, in place of the
    `replaced_values`."""

    settings: dict[str, Any]
    script_request: dict[str, Any] = field(default_factory=dict)
    preset: Preset | None = None
    idea: Idea | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    uses_brand_kit: bool = False
    kit_values: dict[str, Any] = field(default_factory=dict)
    replaced_values: dict[str, Any] = field(default_factory=dict)

    def save_origin(self, job: Job) -> None:
        """Store where the settings of a new draft come from, and count the use of the preset."""
        if not (self.preset or self.idea or self.uses_brand_kit or self.script_request):
            return
        if self.preset is not None:
            used = {"used_count": F("used_count") + 1, "last_used_at": timezone.now()}
            Preset.objects.filter(pk=self.preset.pk).update(**used)
        DraftOrigin.objects.create(
            job=job,
            preset=self.preset,
            idea=self.idea,
            script_request=self.script_request,
            left_out=self.left_out,
            uses_brand_kit=self.uses_brand_kit,
            kit_values=self.kit_values,
            replaced_values=self.replaced_values,
        )


def build_draft_start(
    by: Membership,
    account: Account,
    chosen: Mapping[str, Any],
    preset: Preset | None,
    fallback: Mapping[str, Any],
    kit: BrandKit | None,
) -> DraftStart:
    """Return what a new draft starts with: `chosen`, then the preset, then the brand kit, then
    `fallback`. `kit` is the team's brand kit. At most one query.

    `preset` defaults to the member's default preset; one of another type than the chosen one gives
    the settings that both types have, except for the format. A setting that a preset or the kit has
    but the account does not offer is left out, also if there is a fallback.
    """
    preset = preset or by.default_preset
    type_ = starting_type(chosen, preset)
    of_preset = resolve_preset(preset, account, type_) if preset else NOTHING
    settings = dict(of_preset.settings)
    if preset and preset.type != type_:
        settings.pop(FORMAT_FIELD, None)
    follows_kit = bool(preset and preset.uses_brand_kit)
    uses_kit = kit is not None and (kit.applies_to_new_drafts or follows_kit)
    of_kit = resolve_brand_kit(kit.options, account, type_) if kit and uses_kit else NOTHING
    taken = {*settings, *chosen}
    kit_values = {name: value for name, value in of_kit.settings.items() if name not in taken}
    left_out = {**of_kit.left_out, **of_preset.left_out}
    lowest = remaining_fallback(fallback, {*settings, *left_out})
    return DraftStart(
        settings={**lowest, **settings, **kit_values, **chosen, "type": type_},
        script_request=dict(preset.script_request) if preset else {},
        preset=preset,
        left_out={name: gone for name, gone in left_out.items() if name not in chosen},
        uses_brand_kit=uses_kit,
        kit_values=kit_values,
        replaced_values={name: lowest.get(name) for name in kit_values},
    )


def remaining_fallback(fallback: Mapping[str, Any], decided: Collection[str]) -> dict[str, Any]:
    """Return the fallback without the settings of this list, and without values that belong to one
    of them, such as the resolution of another engine."""
    bound = {
        value
        for group in SETTING_GROUPS
        for value in group.values
        if not set(group.options).isdisjoint(decided)
    }
    return {
        name: value for name, value in fallback.items() if name not in decided and name not in bound
    }


def starting_type(chosen: Mapping[str, Any], preset: Preset | None) -> str:
    """Return the chosen type, else that of the preset, else the studio's default."""
    type_ = str(chosen.get("type") or (preset.type if preset else ""))
    return type_ if type_ in FLOWS else DEFAULT_FLOW.type
