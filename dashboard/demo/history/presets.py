"""Presets that members of the demo saved from their videos, and the videos made with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from dashboard.models import DraftOrigin, Membership, Preset
from dashboard.studio.kept_settings.groups import SETTING_GROUPS
from dashboard.studio.presets.actions.presets import save_preset
from proxyapi.models import Job, JobState

NAMES_BY_TYPE = {"ai-visuals": "Drawn stories", "b-roll": "Footage explainers"}
SAVE_DELAY = timedelta(minutes=20)  # from the end of the render


def save_presets(jobs: Sequence[Job], members: Mapping[str, Membership]) -> None:
    """Save one from the oldest completed video of each of these types, by its member."""
    groups = [group.name for group in SETTING_GROUPS]
    for type_, name in NAMES_BY_TYPE.items():
        made = (job for job in jobs if job.chosen_settings.get("type") == type_)
        job = next(job for job in made if job.state == JobState.COMPLETED)
        by = members[job.member.first_name]
        preset = save_preset(by=by, job=job, name=name, groups=groups)
        saved_at = (job.finished_at or job.created_at) + SAVE_DELAY
        used_by = [later for later in jobs if is_made_like(later, job)]
        uses = [DraftOrigin(job=later, preset=preset) for later in used_by]
        DraftOrigin.objects.bulk_create(uses)
        Preset.objects.filter(pk=preset.pk).update(
            created_at=saved_at,
            used_count=len(uses),
            last_used_at=max((later.created_at for later in used_by), default=None),
        )


def is_made_like(later: Job, job: Job) -> bool:
    """True for a later video of the same type and voice; its other settings were changed."""
    same = all(
        later.chosen_settings.get(name) == job.chosen_settings.get(name)
        for name in ("type", "voice_id")
    )
    return same and later.created_at > (job.finished_at or job.created_at) + SAVE_DELAY
