"""Voice clones: slots, create from samples, poll (spec: Voice clones)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, Response, UploadFile
from pydantic import StringConstraints

from proxyapi.sandbox import money, plans, uploads
from proxyapi.sandbox.api import made_shapes, shapes
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.errors import Invalid
from proxyapi.sandbox.gate import Call, Caller, gated, number
from proxyapi.sandbox.holdings import Clone
from proxyapi.sandbox.voice_clones import clone, slots
from proxyapi.sandbox.world import World

_TRUE, _FALSE = ("true", "on", "yes"), ("false", "off", "no")


def find(world: World, key: str) -> Clone | None:
    return world.clones.get(number(key))


router = APIRouter(
    prefix="/voice-clones",
    tags=["Voice clones"],
    route_class=gated(find=find, feature="voice-clones"),
)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Flag = Annotated[str, StringConstraints(max_length=10)]


@router.get("/slots", response_model=shapes.Envelope[made_shapes.SlotsShape])
async def show_slots(call: Caller) -> Response:
    return success(slots.show(call))


@router.post("", response_model=made_shapes.CloneMade, status_code=201)
async def create_clone(
    call: Caller,
    terms: Annotated[Flag, Form(description="1 or true: the terms are accepted.")],
    name: Annotated[Name, Form()],
    gender: Annotated[Literal["male", "female", "neutral"], Form()],
    samples: Annotated[list[UploadFile], File(alias="samples[]", description="1 to 3")],
    purchase_addon: Annotated[Flag | None, Form(description="Buys a slot if all are used.")] = None,
) -> Response:
    if not _flag(call, "terms", terms):
        raise Invalid({"terms": ["The terms must be accepted."]})
    buy = purchase_addon is not None and _flag(call, "purchase_addon", purchase_addon)
    if len(samples) > uploads.MOST_SAMPLES:
        raise Invalid({"samples": [f"There must not be more than {uploads.MOST_SAMPLES} samples."]})
    most = call.world.settings.sample_bytes
    heard = [await uploads.sound(it, f"samples.{n}", most) for n, it in enumerate(samples)]
    size = sum(map(len, heard))
    plans.require_storage(call, size)
    charge = slots.take(call, buy=buy)
    plans.store(call, size)
    made = clone.create(call, name, gender, heard)
    meta = money.meta(call, charge) if charge is not None else None
    status = call.world.settings.create_status
    return success(clone.show(call, made), "Voice clone created", status=status, meta=meta)


@router.get("/{id}", response_model=shapes.Envelope[made_shapes.CloneShape])
async def show_clone(call: Caller) -> Response:
    return success(clone.show(call, call.owned))


def _flag(call: Call, field: str, text: str) -> bool:
    """A boolean as forms write it; raises Invalid for anything else."""
    said = text.strip().lower()
    words = call.world.settings.form_booleans == "words_and_digits"
    if said == "1" or (words and said in _TRUE):
        return True
    if said in ("0", "") or (words and said in _FALSE):
        return False
    raise Invalid({field: [f"The {field.replace('_', ' ')} field must be true or false."]})
