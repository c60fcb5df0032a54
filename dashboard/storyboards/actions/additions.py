"""Add a scene with the prompt of a clip to a storyboard. The service has no call that puts a clip
into a storyboard, so the scene gets a clip of its own. Costs nothing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.clip_models import fit_settings
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import storyboard_model
from dashboard.storyboards.actions.editing import lock_editable
from dashboard.storyboards.actions.scenes import insert_scene
from dashboard.storyboards.readiness.clip_scene import (
    engine_for_clip,
    picture_of,
    scene_seconds_of,
    takes_first_frame,
)
from proxyapi.models import Job, Storyboard, StoryboardScene
from proxyapi.refusals import NotReady

NO_PROMPT_TEXT = "This clip has no prompt that could be added. Nothing was changed."
FORMAT_FIELDS = ("aspect_ratio", "resolution", "audio")


@transaction.atomic
def add_clip_to_storyboard(
    *,
    by: Membership,
    job: Job,
    storyboard: Storyboard | None,
    scene_id: UUID,
    starts_on_picture: bool,
) -> StoryboardScene:
    """Add a scene at the end of the storyboard, or of a new one, with the clip's prompt and the
    nearest duration; `scene_id` is the form's, which adds one scene however often it is sent.
    Raises `Refusal`."""
    check_permission(by, Permission.RENDER)
    prompt = str(job.chosen_settings.get("prompt") or "").strip()
    if not prompt:
        raise NotReady(NO_PROMPT_TEXT)
    known = StoryboardScene.objects.filter(pk=scene_id, storyboard__tenant=by.team.tenant_id)
    if (added := known.first()) is not None:
        return added
    if storyboard is None:
        storyboard = create_storyboard_for_clip(by, job)
    storyboard = lock_editable(by, storyboard)
    model = storyboard_model(storyboard)
    scene = StoryboardScene(
        pk=scene_id,
        storyboard=storyboard,
        prompt=prompt,
        duration=scene_seconds_of(job, model),
        first_frame=picture_of(job) if starts_on_picture and takes_first_frame(model) else {},
    )
    scenes = list(storyboard.scenes.all())
    insert_scene(by, storyboard, scenes, len(scenes), scene)
    return scene


def create_storyboard_for_clip(by: Membership, job: Job) -> Storyboard:
    """Create an empty storyboard in the clip's format, as far as the engine makes it. Raises
    `TokenRefused`."""
    token = require_member_token(by)
    model = engine_for_clip(token.account, job)
    formats: dict[str, Any] = fit_settings(model, job.chosen_settings).settings if model else {}
    storyboard = Storyboard.objects.create(
        tenant=by.team.tenant,
        account=token.account,
        token=token,
        member=by.user,
        title=job.title,
        engine=model.slug if model else "",
        **{name: str(formats.get(name) or "") for name in FORMAT_FIELDS},
    )
    record_audit_event(by, AuditAction.DRAFT_START, storyboard.pk, kind="storyboard")
    return storyboard
