"""What can be kept of a draft or of a video: its settings by slug, in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.models import DraftOrigin
from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.studio.flows import flow_of
from dashboard.studio.kept_settings.groups import (
    BRAND_KIT_FIELDS,
    CAPTIONS_GROUP,
    FORMAT_FIELD,
    SCRIPT_GROUP,
    SCRIPT_REQUEST_FIELDS,
    SETTING_GROUPS,
    VOICE_FIELD,
    SettingGroup,
)
from dashboard.studio.kept_settings.kept_option import KeptOption, keep_option
from proxyapi.models import Job


@dataclass(frozen=True, slots=True)
class KeepableGroup:
    """The settings of a group that a draft has. `follows_kit`: those of the brand kit are kept as a
    reference, so `options` has only what was changed by hand."""

    group: SettingGroup
    options: dict[str, KeptOption] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    follows_kit: bool = False

    def __bool__(self) -> bool:
        return bool(self.options or self.values or self.follows_kit)


@dataclass(frozen=True, slots=True)
class KeepableSettings:
    """`format` is None if the draft has none yet. `gone`: fields whose value the service no longer
    offers, so that its slug is not known."""

    type: str
    format: KeptOption | None
    groups: tuple[KeepableGroup, ...]
    gone: tuple[str, ...]


def capture_settings(job: Job, script_request: Mapping[str, Any]) -> KeepableSettings:
    """Return what can be kept of a job with a draft. `script_request`: the last request for a
    written script, of which only the settings are kept. One query for a voice."""
    options, chosen = account_options(job.account), job.chosen_settings
    origin = draft_origin(job)
    of_kit = fields_from_kit(origin, chosen)
    groups = [
        capture_group(group, job, options, of_kit)
        for group in SETTING_GROUPS
        if group is not SCRIPT_GROUP
    ]
    words = script_request or (origin.script_request if origin else {})
    kept_request = {
        name: words[name] for name in SCRIPT_REQUEST_FIELDS if words.get(name) not in (None, "")
    }
    groups.append(KeepableGroup(SCRIPT_GROUP, values=kept_request))
    offered = flow_of(job).settings
    return KeepableSettings(
        type=str(chosen.get("type") or flow_of(job).type),
        format=capture_option(FORMAT_FIELD, job, options),
        groups=tuple(group for group in groups if group),
        gone=tuple(
            name
            for name in offered
            if chosen.get(name) and not options.find_option(name, chosen[name])
        ),
    )


def capture_group(
    group: SettingGroup, job: Job, options: FacelessOptions, of_kit: set[str]
) -> KeepableGroup:
    captured = {
        name: option
        for name in group.options
        if name not in of_kit and (option := capture_option(name, job, options))
    }
    chosen = job.chosen_settings
    values = {name: chosen[name] for name in group.values if chosen.get(name) not in (None, "")}
    is_kept = bool(captured) or not group.options
    return KeepableGroup(
        group,
        captured,
        values if is_kept else {},
        follows_kit=group is CAPTIONS_GROUP and bool(of_kit),
    )


def capture_option(name: str, job: Job, options: FacelessOptions) -> KeptOption | None:
    """Return the draft's choice as it is kept; None without one that the service offers."""
    value = job.chosen_settings.get(name)
    if value in (None, "") or name not in flow_of(job).settings:
        return None
    item = options.find_option(name, value)
    if item is None:
        return None
    return keep_option(item, job.account if name == VOICE_FIELD else None)


def fields_from_kit(origin: DraftOrigin | None, chosen: Mapping[str, Any]) -> set[str]:
    """Return the fields that have the value of the brand kit; a field changed by hand has not."""
    if origin is None or not origin.uses_brand_kit:
        return set()
    values = origin.kit_values
    return {
        name for name in BRAND_KIT_FIELDS if name in values and chosen.get(name) == values[name]
    }


def draft_origin(job: Job) -> DraftOrigin | None:
    origin: DraftOrigin | None = getattr(job, "draft_origin", None)
    return origin
