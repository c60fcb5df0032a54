"""Characters: genres, photo, previews, training, poll (spec: Characters)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, File, Response, UploadFile
from pydantic import Field, StringConstraints

from proxyapi.sandbox import billing, uploads
from proxyapi.sandbox.api import resource_shapes, shapes
from proxyapi.sandbox.authorization import Caller, make_route_class
from proxyapi.sandbox.characters import previews, record, training
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.faceless.changes import Body

router = APIRouter(
    prefix="/characters",
    tags=["Characters"],
    route_class=make_route_class(find=record.find_character, feature="characters", key="string"),
)

CharacterEnvelope = shapes.Envelope[resource_shapes.CharacterShape]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class PreviewBody(Body):
    genre_id: int = Field(description="One of GET /characters/genres.")


class TrainingBody(Body):
    preview_id: int
    name: Name
    age: int | None = Field(default=None, ge=1, le=120)
    gender: Literal["male", "female", "neutral"] | None = None


@router.get("/genres", response_model=shapes.Envelope[list[resource_shapes.NamedShape]])
async def list_genres(call: Caller) -> Response:
    return success_body([{"id": it.id, "name": it.name, "slug": it.slug} for it in record.GENRES])


@router.post("", response_model=CharacterEnvelope, status_code=201)
async def create_character(call: Caller, image: Annotated[UploadFile, File()]) -> Response:
    settings = call.world.settings
    photo, kind = await uploads.read_image(image, "image", settings.character_image_bytes)
    character = record.create_character(call, photo, kind)
    shown = record.show_character(call, character)
    return success_body(shown, "Character created", status=settings.create_status)


@router.post("/{id}/preview", response_model=resource_shapes.PreviewsShape)
async def preview_character(call: Caller, look: PreviewBody) -> Response:
    charge = previews.create_previews(call, call.owned, look.genre_id)
    meta = billing.credits_meta(call, charge) if charge is not None else None
    return success_body(record.show_character(call, call.owned), "Previews drawn", meta=meta)


@router.post(
    "/{id}/train", response_model=shapes.Charged[resource_shapes.CharacterShape], status_code=202
)
async def train_character(call: Caller, wanted: TrainingBody) -> Response:
    gender = wanted.gender or "unknown"
    facts = training.TrainingFacts(wanted.preview_id, wanted.name, wanted.age, gender)
    charge = training.train_character(call, call.owned, facts)
    shown = record.show_character(call, call.owned)
    return success_body(
        shown, "Training started", status=202, meta=billing.credits_meta(call, charge)
    )


@router.get("/{id}", response_model=CharacterEnvelope)
async def show_character(call: Caller) -> Response:
    return success_body(record.show_character(call, call.owned))
