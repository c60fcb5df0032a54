"""Clips of a storyboard's scenes, as parts of its job, and what proves that clips were ordered.

A scene has one clip. What it had before is kept as an earlier clip: the record does not show it any
more, but it was paid for.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi.kinds import job_parts, storyboard_record
from proxyapi.kinds.storyboard_copy import SCENE_CLIPS_OPERATION, scenes_by_id
from proxyapi.models import Charge, ChargeState, Job, JobPart
from proxyapi.models.job_part import EARLIER_CLIPS, MEDIA_VERSION_LENGTH, SCENE_CLIPS, PartState

Record = dict[str, Any]
UNSENT_STATES = (ChargeState.DRAFT, ChargeState.HELD, ChargeState.REFUSED)


@transaction.atomic
def store_clips(job: Job, record: Record, requested_at: datetime | None = None) -> None:
    """Store the clips of a record. One that another replaced is kept as an earlier clip, and a new
    one is linked with the charge that ordered it."""
    clips = storyboard_record.clip_rows(record)
    if not clips:
        return
    Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
    before = {part.remote_id: part for part in job.parts.filter(list_name=SCENE_CLIPS)}
    job_parts.store_parts(job, clips, (SCENE_CLIPS,), requested_at)
    after = {part.remote_id: part for part in job.parts.filter(list_name=SCENE_CLIPS)}
    replaced = [part for id, part in before.items() if is_other_clip(part, after.get(id))]
    keep_earlier_clips(replaced)
    new = [part for id, part in after.items() if is_other_clip(before.get(id), part)]
    link_orders(job, new)


def is_other_clip(before: JobPart | None, after: JobPart | None) -> bool:
    """Whether `after` is another clip than `before`; a clip that goes on is the same one."""
    if before is None or after is None:
        return before is not after
    if before.state == PartState.RUNNING:
        return False
    is_same_file = before.media_version == after.media_version
    return before.state != after.state or (before.media_url != "" and not is_same_file)


def keep_earlier_clips(parts: Iterable[JobPart]) -> None:
    for part in parts:
        if part.state == PartState.RUNNING:
            continue  # it had no file
        finished = part.finished_at or timezone.now()
        JobPart.objects.get_or_create(
            job_id=part.job_id,
            list_name=EARLIER_CLIPS,
            remote_id=f"{part.remote_id[:40]} {finished:%Y%m%d%H%M%S%f}",
            defaults={
                **{name: getattr(part, name) for name in job_parts.CONTENT_FIELDS},
                "details": {**part.details, "scene": part.remote_id},
                "charge_id": part.charge_id,
                "created_at": part.created_at,
                "finished_at": part.finished_at,
                "read_at": part.read_at,
            },
        )


def link_orders(job: Job, parts: list[JobPart]) -> None:
    """Link clips with the newest charge that was sent for their scenes."""
    if not parts:
        return
    orders = job.charges.filter(operation=SCENE_CLIPS_OPERATION, sent_at__isnull=False)
    orders = orders.exclude(state__in=UNSENT_STATES).order_by("-sent_at")
    ordered = [(order, ordered_scene_ids(order)) for order in orders]
    for part in parts:
        found = (order for order, ids in ordered if ids is None or part.remote_id in ids)
        part.charge = next(found, None)
        JobPart.objects.filter(pk=part.pk).update(charge=part.charge)


def ordered_scene_ids(charge: Charge) -> set[str] | None:
    """The service's ids of the scenes whose clips the charge orders; None if it names none."""
    scenes = charge.body.get("scenes")
    if not scenes or charge.job is None:
        return None
    draft = charge.job.draft_or_none
    sent = scenes_by_id(draft.sent_settings) if draft else {}
    return {str(sent.get(scene, {}).get("remote_id", scene)) for scene in scenes}


def clip_states(record: Record, ids: set[str] | None = None) -> dict[str, list[str]] | None:
    """State and file of each scene's clip, by the scene's id, of these scenes or of all; None if
    the record shows no scenes."""
    scenes = storyboard_record.scene_records(record)
    if scenes is None:
        return None
    shown = {str(scene["id"]): storyboard_record.clip_of_scene(scene) for scene in scenes}
    return {
        id: ["", ""] if clip is None else [storyboard_record.clip_status(clip), file_version(clip)]
        for id, clip in shown.items()
        if ids is None or id in ids
    }


def file_version(clip: Any) -> str:
    url = job_parts.first_text(clip, job_parts.URL_KEYS)
    return JobPart(media_url=url).media_version[:MEDIA_VERSION_LENGTH] if url else ""


def shows_new_clip(before: Any, after: dict[str, list[str]] | None) -> bool:
    """Whether a clip was ordered since: one is there that was not, or a finished one is another
    one now. A clip that only went on proves nothing."""
    if not isinstance(before, dict) or after is None:
        return False
    return any(is_new_order(before[id], after[id]) for id in before.keys() & after.keys())


def is_new_order(before: list[str], after: list[str]) -> bool:
    (state_before, file_before), (state, file) = before, after
    if not state or state_before == "running":
        return False
    return state != state_before or bool(file_before and file_before != file)
