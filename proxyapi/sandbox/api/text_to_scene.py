"""Text-to-scene: create and poll a storyboard, fill it with scenes (spec: Text-to-scene)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints, model_validator

from proxyapi.sandbox import billing
from proxyapi.sandbox.api.scene_shapes import StoryboardCharged, StoryboardShown
from proxyapi.sandbox.authorization import Caller, make_route_class, parse_row_id
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.storyboards import editing, engine, record
from proxyapi.sandbox.storyboards.rows import Storyboard
from proxyapi.sandbox.world import World

MAX_SCENES_PER_CALL = 100

Prompt = Annotated[str, StringConstraints(min_length=1, max_length=5000, strip_whitespace=True)]


def find_storyboard(world: World, key: str) -> Storyboard | None:
    return world.storyboards.get(parse_row_id(key))


router = APIRouter(
    prefix="/text-to-scene",
    tags=["Text-to-scene"],
    route_class=make_route_class(find=find_storyboard, feature="text-to-scene"),
)


class NewStoryboard(Body):
    mode: Literal["wizard", "manual"]
    title: Annotated[str, StringConstraints(max_length=255)] | None = None
    settings: engine.Settings = Field(default_factory=engine.Settings)


class WizardBody(Body):
    prompt: Prompt
    scenes: int | None = Field(default=None, ge=1, le=20, description="How many.")


class NewScene(Body):
    raw_video_prompt: Prompt
    duration: int | None = Field(default=None, description="Seconds that the engine supports.")


class NewScenes(Body):
    """One scene, or several in `scenes`."""

    scenes: (
        Annotated[list[NewScene], Field(min_length=1, max_length=MAX_SCENES_PER_CALL)] | None
    ) = None
    raw_video_prompt: Prompt | None = None
    duration: int | None = None

    @model_validator(mode="after")
    def _some(self) -> NewScenes:
        if self.scenes is None and self.raw_video_prompt is None:
            raise ValueError("The scenes field is required.")
        return self

    def each(self) -> list[tuple[str, int | None]]:
        if self.scenes is not None:
            return [(it.raw_video_prompt, it.duration) for it in self.scenes]
        return [(self.raw_video_prompt or "", self.duration)]


@router.post("", response_model=StoryboardShown, status_code=201)
async def create_storyboard(call: Caller, wanted: NewStoryboard) -> Response:
    world = call.world
    board = Storyboard(
        id=0,
        account_id=call.account.id,
        mode=wanted.mode,
        title=wanted.title,
        settings=engine.complete_settings(call, wanted.settings),
        created_at=world.now,
        updated_at=world.now,
    )
    board.id = world.plausible_id("storyboard", 15_700)
    world.storyboards.put(board)
    status = world.settings.create_status
    return success_body(record.show_storyboard(call, board), "Storyboard created", status=status)


@router.get("/{id}", response_model=StoryboardShown)
async def show_storyboard(call: Caller) -> Response:
    return success_body(record.show_storyboard(call, call.owned))


@router.post("/{storyboard}/prompt", response_model=StoryboardCharged)
async def generate_scenes(call: Caller, wish: WizardBody) -> Response:
    charge = editing.write_scenes(call, call.owned, wish.prompt, wish.scenes)
    meta = billing.credits_meta(call, charge) if charge is not None else None
    return success_body(record.show_storyboard(call, call.owned), "Scenes generated", meta=meta)


@router.post("/{storyboard}/scenes", response_model=StoryboardShown, status_code=201)
async def add_scenes(call: Caller, wanted: NewScenes) -> Response:
    editing.add_scenes(call, call.owned, wanted.each(), alone=wanted.scenes is None)
    status = call.world.settings.create_status
    return success_body(record.show_storyboard(call, call.owned), "Scenes added", status=status)
