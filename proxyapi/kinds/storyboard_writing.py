"""Scenes that the service wrote: they replace those of the storyboard, once for each charge.

The charge's answer has them, or the record that is read back after a lost answer. If neither shows
them, the draft notes the charge, and the next record that does is used. Later records change
nothing: the storyboard is the team's.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.kinds import storyboard_record
from proxyapi.kinds.storyboard_copy import copy_content
from proxyapi.models import (
    Charge,
    Draft,
    Job,
    Storyboard,
    StoryboardCopy,
    StoryboardScene,
    lock_draft,
)

UNREAD_WRITING_KEY = "unread_writing"  # in what was sent: the charge whose scenes were not read


def has_written_scenes(record: dict[str, Any]) -> bool:
    rows = storyboard_record.scene_records(record) or ()
    return any(storyboard_record.scene_prompt(row) for row in rows)


def adopt_written_scenes(
    job: Job, charge: Charge, record: dict[str, Any], edited_since: datetime | None = None
) -> bool:
    """Replace the storyboard's scenes by those of the record; return whether the record has any.

    The caller has locked the job. A storyboard that was sent in another copy meanwhile keeps its
    scenes, and so does one that was edited after `edited_since`.
    """
    draft = lock_draft(job)
    if draft is None:
        return True
    if not has_written_scenes(record):
        draft.sent_settings = {**draft.sent_settings, UNREAD_WRITING_KEY: str(charge.pk)}
        draft.save(update_fields=["sent_settings"])
        return False
    storyboard = lock_storyboard(job)
    if storyboard is not None and not was_edited(storyboard, edited_since):
        replace_scenes(storyboard, job, draft, record)
    else:
        draft.sent_settings.pop(UNREAD_WRITING_KEY, None)
        draft.save(update_fields=["sent_settings"])
    return True


def adopt_unread_scenes(job: Job, record: dict[str, Any]) -> None:
    """Use the record for a charge whose scenes were not read yet, if it shows them."""
    if UNREAD_WRITING_KEY not in job_sent_settings(job) or not has_written_scenes(record):
        return
    with transaction.atomic():
        Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
        charges = job.charges.filter(pk__in=[job_sent_settings(job).get(UNREAD_WRITING_KEY)])
        if charge := charges.first():
            adopt_written_scenes(job, charge, record, charge.applied_at)


def was_edited(storyboard: Storyboard, since: datetime | None) -> bool:
    return since is not None and storyboard.scenes.filter(edited_at__gt=since).exists()


def job_sent_settings(job: Job) -> dict[str, Any]:
    sent: dict[str, Any] = (
        Draft.objects.filter(pk=job.pk).values_list("sent_settings", flat=True).first() or {}
    )
    return sent


def lock_storyboard(job: Job) -> Storyboard | None:
    """Lock the storyboard that the scenes were written for; None if a newer copy was made of it."""
    copy = StoryboardCopy.objects.filter(job=job).first()
    if copy is None:
        return None
    newer = StoryboardCopy.objects.filter(
        storyboard=copy.storyboard_id, job__created_at__gt=job.created_at
    )
    if newer.exists():
        return None
    return Storyboard.objects.select_for_update().get(pk=copy.storyboard_id)


def replace_scenes(storyboard: Storyboard, job: Job, draft: Draft, record: dict[str, Any]) -> None:
    """Write the scenes, marked as sent; the copy is the current one of the storyboard then."""
    rows = [
        row
        for row in storyboard_record.scene_records(record) or ()
        if storyboard_record.scene_prompt(row)
    ]
    now, sent = timezone.now(), draft.sent_settings
    scenes = [
        StoryboardScene(
            storyboard=storyboard,
            position=place,
            prompt=storyboard_record.scene_prompt(row),
            duration=storyboard_record.scene_duration(row) or storyboard_record.DEFAULT_DURATION_S,
            is_chained=storyboard_record.is_chained(row),
            first_frame=storyboard_record.frame_reference(row, "first_frame"),
            last_frame=storyboard_record.frame_reference(row, "last_frame"),
            edited_by_id=job.member_id,
            edited_at=now,
        )
        for place, row in enumerate(rows, start=1)
    ]
    storyboard.scenes.all().delete()
    StoryboardScene.objects.bulk_create(scenes)
    storyboard.copy, storyboard.edited_at = job, now
    storyboard.save(update_fields=["copy", "edited_at"])
    content = copy_content(storyboard, scenes, draft.settings.get("clip_engine_id"), sent)
    entries = [
        {**entry, "remote_id": row["id"]}
        for entry, row in zip(content["scenes"], rows, strict=True)
    ]
    draft.settings = content
    draft.sent_settings = {**sent, "scenes": entries}
    draft.sent_settings.pop(UNREAD_WRITING_KEY, None)
    draft.estimate, draft.edited_at = None, now
    draft.save()
    publish_event(job.tenant_id, EventType.STORYBOARD, storyboard.pk)
