"""What a copy of a storyboard was sent with: its scenes, its engine, and the share of each scene in
a charge for the clips of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from dashboard.shared.clip_models import (
    account_clip_models,
    clip_model_name,
    estimate_from_list,
    find_clip_model,
)
from dashboard.shared.video_options import account_options
from proxyapi.kinds import scenes_by_id
from proxyapi.models import Job


def copy_content_of(copy: Job) -> Mapping[str, Any]:
    """Return what the service has of a copy, or is to have; empty for a job that was not made
    here."""
    draft = copy.draft_or_none
    return (draft.sent_settings or draft.settings) if draft else {}


def sent_scenes_of(copy: Job) -> dict[str, dict[str, Any]]:
    """Return the scenes of a copy by their id here."""
    return scenes_by_id(copy_content_of(copy))


def copy_engine_slug(copy: Job) -> str:
    """Return the slug of the clip engine; empty if the account does not list it any more."""
    engine_id = copy_content_of(copy).get("clip_engine_id")
    row = account_options(copy.account).find_option("clip_engine_id", engine_id) or {}
    return str(row.get("slug") or "")


def copy_engine_name(copy: Job) -> str:
    slug = copy_engine_slug(copy)
    return clip_model_name(copy.account, slug) if slug else ""


def clip_shares(copy: Job, ids: Iterable[str]) -> dict[str, Decimal]:
    """Return the list price of the clip of each scene; its seconds if the engine is not listed any
    more."""
    content, scenes = copy_content_of(copy), sent_scenes_of(copy)
    model = find_clip_model(account_clip_models(copy.account), copy_engine_slug(copy))
    chosen = {name: content.get(name) for name in ("resolution", "audio")}
    shares = {}
    for id in ids:
        seconds = scenes.get(id, {}).get("duration")
        length = seconds if isinstance(seconds, int) and seconds > 0 else 1
        price = estimate_from_list(model, {**chosen, "duration": length}) if model else None
        shares[id] = price or Decimal(length)
    return shares
