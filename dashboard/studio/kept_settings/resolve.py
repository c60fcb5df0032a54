"""Kept options on an account: the values to send there, and those that it does not offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.models import Preset
from dashboard.shared.video_options import OPTION_FIELDS, FacelessOptions, account_options
from dashboard.studio.flows import FLOWS
from dashboard.studio.kept_settings.groups import BRAND_KIT_FIELDS, SETTING_GROUPS
from dashboard.studio.kept_settings.kept_option import KeptOption, find_kept_option, kept_options
from proxyapi.models import Account


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """`settings`: values in the upstream's field names. `left_out`: names of the kept options that
    the account does not offer, by field."""

    settings: dict[str, Any]
    left_out: dict[str, str]


def resolve_options(
    kept: Mapping[str, KeptOption], account: Account, options: FacelessOptions, type_: str
) -> ResolvedSettings:
    """Return what the options are on this account, of those that the video type has."""
    settings: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for field, option in kept.items():
        if field not in OPTION_FIELDS or field not in FLOWS[type_].settings:
            continue
        item = find_kept_option(field, option, account, options)
        if item is None:
            left_out[field] = option.name
        else:
            settings[field] = item[OPTION_FIELDS[field][1]]
    return ResolvedSettings(settings, left_out)


def resolve_preset(preset: Preset, account: Account, type_: str) -> ResolvedSettings:
    """Return a preset's settings on this account. A value that belongs to an option, such as the
    resolution of an engine, is left out with it."""
    options = account_options(account)
    resolved = resolve_options(kept_options(preset.options), account, options, type_)
    values = {
        name: preset.values[name]
        for group in SETTING_GROUPS
        for name in group.values
        if name in preset.values
        and name in FLOWS[type_].settings
        and not resolved.left_out.keys() & set(group.options)
    }
    return ResolvedSettings({**resolved.settings, **values}, resolved.left_out)


def resolve_brand_kit(stored: Mapping[str, Any], account: Account, type_: str) -> ResolvedSettings:
    """Return the values that a brand kit's options have on this account."""
    kept = {
        name: option for name, option in kept_options(stored).items() if name in BRAND_KIT_FIELDS
    }
    return resolve_options(kept, account, account_options(account), type_)
