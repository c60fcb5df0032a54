"""Bodies of create, PATCH and export, and what they may set.

A PATCH is partial: only the fields that are sent change, null clears one, unknown ones are
ignored. An unknown voice_id is kept, for the render refuses it; every other id and slug must
be one of the catalogue.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.types import StringConstraints

from proxyapi.sandbox import catalogue, dialect
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.characters import record
from proxyapi.sandbox.errors import Forbidden, ValidationError
from proxyapi.sandbox.records import Video, VideoType

Title = Annotated[str, StringConstraints(max_length=255)]
Topic = Annotated[str, StringConstraints(max_length=500)]
Script = Annotated[str, StringConstraints(max_length=30_000)]

COLUMNS = ("type", "title", "topic", "script")
_ACCEPTED = catalogue.accepted_values()


class Body(BaseModel):
    model_config = ConfigDict(strict=True)


class FacelessDraft(Body):
    type: VideoType
    title: Title | None = None
    topic: Topic | None = None


class ExportStyle(Body):
    """What an export may restyle."""

    captions: Any = None  # of `dialect.read_captions`
    font: str | None = None
    caption_effect: str | None = None
    caption_position: str | None = None
    transition: str | None = None
    overlay: str | None = None
    watermark_position: str | None = None
    animation: str | None = None
    sfx: str | None = None
    volume: str | None = None
    aspect_ratio: str | None = None

    @field_validator("*", mode="after")
    @classmethod
    def _in_catalogue(cls, value: Any, info: ValidationInfo) -> Any:
        name = info.field_name or ""
        if value is not None and name in _ACCEPTED and value not in _ACCEPTED[name]:
            raise ValueError(f"The selected {name.replace('_', ' ')} is invalid.")
        return value

    def chosen(self) -> dict[str, Any]:
        """The fields that were sent."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class FacelessChanges(ExportStyle):
    type: VideoType | None = None
    title: Title | None = None
    topic: Topic | None = None
    script: Script | None = None
    voice_id: int | None = Field(default=None, ge=1)
    genre_id: int | None = None
    image_engine_id: int | None = None
    clip_engine_id: int | None = None
    background_id: int | None = None
    character_id: str | None = None
    resolution: str | None = Field(default=None, description="ai-clips: a clip engine's.")
    audio: str | None = Field(default=None, description="ai-clips: on or off.")
    assets: list[int] | None = Field(
        default=None,
        description="url-based: ids of the pictures in the order of the video; others are unused.",
    )

    @field_validator("type", mode="after")
    @classmethod
    def _type_is_kept(cls, value: VideoType | None) -> VideoType:
        if value is None:
            raise ValueError("The selected type is invalid.")
        return value

    def apply(self, call: ApiCall, video: Video) -> Self:
        world = call.world
        refuse_busy_video(call, video)
        chosen = dialect.read_captions(world.settings.dialect, self.chosen())
        kind = chosen.get("type", video.type)
        if kind != video.type and "url-based" in (kind, video.type):
            raise ValidationError({"type": ["The type of a url-based video is fixed at creation."]})
        if kind != video.type and video.status is not None:
            raise ValidationError(
                {"type": ["The type cannot be changed once a video was rendered."]}
            )
        _require_character(call, chosen.get("character_id"))
        _arrange_assets(call, video, chosen.pop("assets", None))
        for name, value in chosen.items():
            if name in COLUMNS:
                setattr(video, name, value)
            else:
                video.settings[name] = value
        video.updated_at = world.now
        world.videos.put(video)
        return self


def _arrange_assets(call: ApiCall, video: Video, wanted: list[int] | None) -> None:
    """Put these pictures of a page first, in this order, and use no others; 422 for one that the
    video lacks."""
    takes_order = video.type == "url-based" and call.world.settings.asset_order == "taken"
    if wanted is None or not takes_order:
        return
    place = {id: index for index, id in enumerate(wanted)}
    if len(place) < len(wanted) or not place.keys() <= {it.id for it in video.assets}:
        raise ValidationError({"assets": ["The selected assets are invalid."]})
    for asset in video.assets:
        asset.used = asset.id in place
    video.assets.sort(key=lambda it: place.get(it.id, len(place)))


def _require_character(call: ApiCall, uuid: str | None) -> None:
    """422 for a character that is neither the catalogue's nor a trained one of the account."""
    own = (it.uuid for it in record.trained_characters(call.world, call.account.id))
    if uuid is not None and uuid not in (*catalogue.character_uuids(), *own):
        raise ValidationError({"character_id": ["The selected character id is invalid."]})


def refuse_busy_video(call: ApiCall, video: Video) -> None:
    """403 for a video in the making, if the setting says so."""
    busy = video.status in ("rendering", "syncing")
    if busy and call.world.settings.patch_while_busy == "refused":
        raise Forbidden("The video is processing currently. Try again once finished.")


def create_draft(call: ApiCall, draft: FacelessDraft) -> Video:
    world = call.world
    return world.videos.put(
        Video(
            id=world.plausible_id("faceless", 41_200),
            video_id=world.plausible_id("video", 1_380_000),
            account_id=call.account.id,
            type=draft.type,
            title=draft.title,
            topic=draft.topic,
            created_at=world.now,
            updated_at=world.now,
        )
    )
