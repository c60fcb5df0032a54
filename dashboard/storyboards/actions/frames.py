"""Set or remove the first and last frame of a scene. A picture is kept, encrypted, with the
storyboard, since each copy of it at the service needs the picture again."""

from __future__ import annotations

from django.db import transaction

from dashboard.models import Membership
from dashboard.shared.uploads.media_files import MediaFile
from dashboard.storyboards.actions.editing import edit_columns, lock_editable, publish_edit
from proxyapi import stored_files
from proxyapi.kinds import FILE_KEY
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.refusals import NotReady

FRAME_NAMES = ("first_frame", "last_frame")
SET_BY_CHAIN = "The chain sets the first frame of this scene. Switch the chain off first."
SCENE_GONE = "This scene was deleted meanwhile. Nothing was saved."


@transaction.atomic
def set_scene_frame(
    *,
    by: Membership,
    storyboard: Storyboard,
    scene: StoryboardScene,
    name: str,
    picture: MediaFile | None,
    origin: str = "",
) -> None:
    """Keep a picture as this frame, or remove it (None). `origin` says where it is from; without
    it, it is the member's file. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    if picture is not None and name == "first_frame" and scene.is_chained:
        raise NotReady(SET_BY_CHAIN)
    reference: dict[str, str] = {}
    if picture is not None:
        file = stored_files.store_file(
            storyboard,
            name=f"{name}-{scene.pk}.{picture.extension}",
            content_type=picture.content_type,
            content=picture.content,
        )
        reference = {FILE_KEY: str(file.pk), "name": origin[:100] or "Your file"}
    columns = {name: reference, **edit_columns(by)}
    if not StoryboardScene.objects.filter(pk=scene.pk).update(**columns):
        raise NotReady(SCENE_GONE)
    publish_edit(storyboard)
