"""Actions on whole storyboards: start one, duplicate it, delete it and undo that. None costs
anything."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import storyboard_model
from dashboard.shared.storyboards.scene_writing import default_duration
from proxyapi import stored_files
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import FILE_KEY
from proxyapi.models import Charge, Storyboard, StoryboardMode, StoryboardScene
from proxyapi.models.storyboard import FRAME_FIELDS
from proxyapi.refusals import NotReady

UNTITLED = "Untitled storyboard"
MAX_TITLE_CHARACTERS, TITLE_FROM_DESCRIPTION_CHARACTERS = 200, 60
COPIED_FIELDS = (
    "mode",
    "description",
    "style",
    "scene_count",
    "engine",
    "aspect_ratio",
    "resolution",
    "audio",
)
COPIED_SCENE_FIELDS = ("position", "prompt", "duration", "is_chained")
BUSY = (
    "Clips, scenes or the film of this storyboard are being made, or wait for an approval. It was "
    "not deleted. Delete it when they are there."
)


@dataclass(frozen=True, slots=True)
class StoryboardStart:
    """What the form of a new storyboard says. `storyboard_id` is of the form: sent twice, it makes
    one. `formats` are aspect_ratio, resolution and audio."""

    storyboard_id: UUID
    title: str
    mode: StoryboardMode
    description: str
    style: str
    scene_count: int
    engine: str
    formats: dict[str, str]


@transaction.atomic
def start_storyboard(*, by: Membership, start: StoryboardStart) -> Storyboard:
    """Create a storyboard, with one empty scene unless the service is to write the scenes. A
    storyboard that has no scenes yet is changed. Raises `TokenRefused`."""
    check_permission(by, Permission.RENDER)
    storyboard = Storyboard.objects.select_for_update().filter(pk=start.storyboard_id).first()
    fields: dict[str, Any] = {
        "title": start.title or title_from(start.description),
        "mode": start.mode,
        "description": start.description,
        "style": start.style,
        "scene_count": start.scene_count,
        "engine": start.engine,
        **start.formats,
    }
    if storyboard is None:
        token = require_member_token(by)
        storyboard = Storyboard.objects.create(
            pk=start.storyboard_id,
            tenant=by.team.tenant,
            account=token.account,
            token=token,
            member=by.user,
            **fields,
        )
        record_audit_event(by, AuditAction.DRAFT_START, storyboard.pk, kind="storyboard")
    elif storyboard.scenes.exists():
        return storyboard
    else:
        for name, value in {**fields, "edited_at": timezone.now()}.items():
            setattr(storyboard, name, value)
        storyboard.save(update_fields=[*fields, "edited_at"])
    if start.mode == StoryboardMode.MANUAL:
        seconds = default_duration(storyboard_model(storyboard))
        StoryboardScene.objects.create(
            storyboard=storyboard, position=1, duration=seconds, edited_by=by.user
        )
    publish_event(storyboard.tenant_id, EventType.STORYBOARD, storyboard.pk)
    return storyboard


def title_from(description: str) -> str:
    """Return the first words of the description."""
    words = " ".join(description.split())
    if len(words) <= TITLE_FROM_DESCRIPTION_CHARACTERS:
        return words or UNTITLED
    start = words[:TITLE_FROM_DESCRIPTION_CHARACTERS]
    return f"{start.rpartition(' ')[0] or start}…"


@transaction.atomic
def duplicate_storyboard(*, by: Membership, storyboard: Storyboard) -> Storyboard:
    """Copy the storyboard with its scenes, without clips. Raises `TokenRefused`."""
    check_permission(by, Permission.RENDER)
    token = require_member_token(by)
    taken = by.team.tenant.storyboards.values_list("title", flat=True)
    copy = Storyboard.objects.create(
        tenant=by.team.tenant,
        account=token.account,
        token=token,
        member=by.user,
        title=name_storyboard_copy(storyboard.title, {title.lower() for title in taken}),
        **{name: getattr(storyboard, name) for name in COPIED_FIELDS},
    )
    StoryboardScene.objects.bulk_create(
        StoryboardScene(
            storyboard=copy,
            edited_by=by.user,
            **{name: getattr(scene, name) for name in COPIED_SCENE_FIELDS},
            **{name: copy_frame(getattr(scene, name), storyboard, copy) for name in FRAME_FIELDS},
        )
        for scene in storyboard.scenes.all()
    )
    record_audit_event(
        by, AuditAction.DRAFT_START, copy.pk, kind="storyboard", source=str(storyboard.pk)
    )
    publish_event(copy.tenant_id, EventType.STORYBOARD, copy.pk)
    return copy


def copy_frame(frame: dict[str, Any], source: Storyboard, copy: Storyboard) -> dict[str, Any]:
    """Return the frame with its file stored again for the copy; nothing if the file is gone."""
    if not frame.get(FILE_KEY):
        return dict(frame)
    file = source.stored_files.filter(pk=frame[FILE_KEY]).first()
    if file is None:
        return {}
    content = stored_files.read_stored_file(file)
    stored = stored_files.store_file(
        copy, name=file.name, content_type=file.content_type, content=content
    )
    return {**frame, FILE_KEY: str(stored.pk)}


def name_storyboard_copy(title: str, taken: Collection[str]) -> str:
    """Return `Night train copy`, `Night train copy 2` and so on. `taken` are in lower case."""
    number = 1
    while True:
        suffix = " copy" if number == 1 else f" copy {number}"
        name = f"{title[: MAX_TITLE_CHARACTERS - len(suffix)].rstrip()}{suffix}"
        if name.lower() not in taken:
            return name
        number += 1


@transaction.atomic
def delete_storyboard(*, by: Membership, storyboard: Storyboard) -> None:
    """Hide a storyboard from all lists but that of the deleted ones; its films stay in the library.
    Raises `NotReady` while a charge of it is open."""
    check_permission(by, Permission.RENDER)
    storyboard = Storyboard.objects.select_for_update().get(pk=storyboard.pk)
    if Charge.objects.open().filter(job__storyboard_copy__storyboard=storyboard).exists():
        raise NotReady(BUSY)
    Storyboard.objects.filter(pk=storyboard.pk).update(hidden_at=timezone.now())
    record_audit_event(by, AuditAction.DRAFT_DELETE, storyboard.pk, kind="storyboard")
    publish_event(storyboard.tenant_id, EventType.STORYBOARD, storyboard.pk)


@transaction.atomic
def restore_storyboard(*, by: Membership, storyboard: Storyboard) -> None:
    """Undo a deletion; a storyboard that is not deleted stays unchanged."""
    check_permission(by, Permission.RENDER)
    hidden = Storyboard.objects.filter(pk=storyboard.pk, hidden_at__isnull=False)
    if hidden.update(hidden_at=None):
        record_audit_event(by, AuditAction.DRAFT_RESTORE, storyboard.pk, kind="storyboard")
        publish_event(storyboard.tenant_id, EventType.STORYBOARD, storyboard.pk)
