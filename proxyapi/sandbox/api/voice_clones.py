"""Voice clones: slots, create from samples, poll (spec: Voice clones)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, Response, UploadFile
from pydantic import StringConstraints

from proxyapi.sandbox import billing, plans, uploads
from proxyapi.sandbox.api import resource_shapes, shapes
from proxyapi.sandbox.authorization import ApiCall, Caller, make_route_class, parse_row_id
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.resource_rows import Clone
from proxyapi.sandbox.voice_clones import clone, slots
from proxyapi.sandbox.world import World

_TRUE, _FALSE = ("true", "on", "yes"), ("false", "off", "no")


def find_clone(world: World, key: str) -> Clone | None:
    return world.clones.get(parse_row_id(key))


router = APIRouter(
    prefix="/voice-clones",
    tags=["Voice clones"],
    route_class=make_route_class(find=find_clone, feature="voice-clones"),
)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Flag = Annotated[str, StringConstraints(max_length=10)]


@router.get("/slots", response_model=shapes.Envelope[resource_shapes.SlotsShape])
async def show_slots(call: Caller) -> Response:
    return success_body(slots.show_slots(call))


@router.post("", response_model=resource_shapes.CloneCreatedShape, status_code=201)
async def create_clone(
    call: Caller,
    terms: Annotated[Flag, Form(description="1 or true: the terms are accepted.")],
    name: Annotated[Name, Form()],
    gender: Annotated[Literal["male", "female", "neutral"], Form()],
    samples: Annotated[list[UploadFile], File(alias="samples[]", description="1 to 3")],
    purchase_addon: Annotated[Flag | None, Form(description="Buys a slot if all are used.")] = None,
) -> Response:
    if not _parse_bool(call, "terms", terms):
        raise ValidationError({"terms": ["The terms must be accepted."]})
    buy = purchase_addon is not None and _parse_bool(call, "purchase_addon", purchase_addon)
    if len(samples) > uploads.MAX_SAMPLES:
        raise ValidationError(
            {"samples": [f"There must not be more than {uploads.MAX_SAMPLES} samples."]}
        )
    most = call.world.settings.sample_bytes
    heard = [await uploads.read_sound(it, f"samples.{n}", most) for n, it in enumerate(samples)]
    size = sum(map(len, heard))
    plans.require_storage(call, size)
    charge = slots.take_slot(call, buy=buy)
    plans.count_upload(call, size)
    made = clone.create_clone(call, name, gender, heard)
    meta = billing.credits_meta(call, charge) if charge is not None else None
    status = call.world.settings.create_status
    return success_body(
        clone.show_clone(call, made), "Voice clone created", status=status, meta=meta
    )


@router.get("/{id}", response_model=shapes.Envelope[resource_shapes.CloneShape])
async def show_clone(call: Caller) -> Response:
    return success_body(clone.show_clone(call, call.owned))


def _parse_bool(call: ApiCall, field: str, text: str) -> bool:
    """A boolean as forms write it; raises Invalid for anything else."""
    said = text.strip().lower()
    words = call.world.settings.form_booleans == "words_and_digits"
    if said == "1" or (words and said in _TRUE):
        return True
    if said in ("0", "") or (words and said in _FALSE):
        return False
    raise ValidationError({field: [f"The {field.replace('_', ' ')} field must be true or false."]})
