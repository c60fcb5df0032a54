"""Characters: genres, photo, previews, training, poll (spec: Characters)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, File, Response, UploadFile
from pydantic import Field, StringConstraints

from proxyapi.sandbox import money, uploads
from proxyapi.sandbox.api import made_shapes, shapes
from proxyapi.sandbox.characters import previews, record, training
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.gate import Caller, gated

router = APIRouter(
    prefix="/characters",
    tags=["Characters"],
    route_class=gated(find=record.find, feature="characters", key="string"),
)

Shown = shapes.Envelope[made_shapes.CharacterShape]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class Look(Body):
    genre_id: int = Field(description="One of GET /characters/genres.")


class Training(Body):
    preview_id: int
    name: Name
    age: int | None = Field(default=None, ge=1, le=120)
    gender: Literal["male", "female", "neutral"] | None = None


@router.get("/genres", response_model=shapes.Envelope[list[made_shapes.NamedShape]])
async def list_genres(call: Caller) -> Response:
    return success([{"id": it.id, "name": it.name, "slug": it.slug} for it in record.GENRES])


@router.post("", response_model=Shown, status_code=201)
async def create_character(call: Caller, image: Annotated[UploadFile, File()]) -> Response:
    settings = call.world.settings
    photo, kind = await uploads.image(image, "image", settings.character_image_bytes)
    character = record.create(call, photo, kind)
    shown = record.show(call, character)
    return success(shown, "Character created", status=settings.create_status)


@router.post("/{id}/preview", response_model=made_shapes.Previewed)
async def preview_character(call: Caller, look: Look) -> Response:
    charge = previews.draw(call, call.owned, look.genre_id)
    meta = money.meta(call, charge) if charge is not None else None
    return success(record.show(call, call.owned), "Previews drawn", meta=meta)


@router.post(
    "/{id}/train", response_model=shapes.Charged[made_shapes.CharacterShape], status_code=202
)
async def train_character(call: Caller, wanted: Training) -> Response:
    gender = wanted.gender or "unknown"
    facts = training.Facts(wanted.preview_id, wanted.name, wanted.age, gender)
    charge = training.train(call, call.owned, facts)
    shown = record.show(call, call.owned)
    return success(shown, "Training started", status=202, meta=money.meta(call, charge))


@router.get("/{id}", response_model=Shown)
async def show_character(call: Caller) -> Response:
    return success(record.show(call, call.owned))
