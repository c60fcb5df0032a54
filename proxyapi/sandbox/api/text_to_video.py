"""Text-to-video: models, exact estimate, create, poll (spec: Text-to-video).

A clip is created with JSON; with a form, references may be files in place of addresses.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic import ConfigDict, Field, StringConstraints, field_validator, model_validator

from proxyapi.sandbox import billing
from proxyapi.sandbox.api import reference_files, resource_shapes, shapes
from proxyapi.sandbox.authorization import Caller, make_route_class, parse_row_id
from proxyapi.sandbox.clips import asset, models, order
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.resource_rows import Clip
from proxyapi.sandbox.spoken_words import count_spoken_words
from proxyapi.sandbox.world import World

WORDS = (5, 1500)
CHARACTERS = 150_000  # a hundred for each word
NESTED = "modifiers[{}]"

Model = Annotated[str, StringConstraints(max_length=100)]


def find_clip(world: World, key: str) -> Clip | None:
    return world.clips.get(parse_row_id(key))


router = APIRouter(
    prefix="/text-to-video",
    tags=["Text-to-video"],
    route_class=make_route_class(find=find_clip, feature="text-to-video"),
)


class NewClip(order.Modifiers):
    """Modifiers stand beside the prompt, or in `modifiers`; those beside it win."""

    model: Model
    prompt: Annotated[str, StringConstraints(max_length=CHARACTERS)] = Field(
        description="5 to 1500 words."
    )
    modifiers: order.Modifiers | None = None

    @field_validator("prompt", mode="after")
    @classmethod
    def _in_words(cls, value: str) -> str:
        least, most = WORDS
        if not least <= count_spoken_words(value) <= most:
            raise ValueError(f"The prompt must have between {least} and {most} words.")
        return value

    def chosen(self) -> order.Modifiers:
        inner = self.modifiers.model_dump(exclude_none=True) if self.modifiers else {}
        own = self.model_dump(exclude_none=True, include=set(order.Modifiers.model_fields))
        return order.Modifiers(**{**inner, **own})


class PricedClip(order.Modifiers):
    """The same in a query, where a number is text and `modifiers` are `modifiers[duration]`."""

    model_config = ConfigDict(strict=False)

    model: Model

    @model_validator(mode="before")
    @classmethod
    def _chosen(cls, given: dict[str, Any]) -> dict[str, Any]:
        inner = {name: given.get(NESTED.format(name)) for name in order.Modifiers.model_fields}
        return {**inner, **given}


@router.get("/models", response_model=shapes.Envelope[list[resource_shapes.ModelShape]])
async def list_models(call: Caller) -> Response:
    return success_body(models.offered_models(call))


@router.get("/estimate", response_model=shapes.Envelope[resource_shapes.ClipPrice])
async def price_clip(call: Caller, wanted: Annotated[PricedClip, Query()]) -> Response:
    priced = order.build_order(call, wanted.model, wanted)
    cost = billing.credits_due(call.world, call.account, asset.FEATURE, priced.credits(call.world))
    return success_body(
        {
            "model": wanted.model,
            "cost": cost,
            "available": billing.remaining_credits(call.world, call.account),
            "sufficient": call.account.balance >= cost,
            "credits_per_second": float(priced.rate),
            "modifiers": priced.modifiers,
        }
    )


class FormClip(NewClip):
    """The same in a form, where a number is text."""

    model_config = ConfigDict(strict=False)


async def read_new_clip(call: Caller) -> NewClip:
    body = await reference_files.read_body(call)
    return reference_files.validate(FormClip if body.is_form else NewClip, body)


@router.post(
    "",
    response_model=shapes.Charged[resource_shapes.ClipData],
    status_code=202,
    openapi_extra=reference_files.document_body(NewClip),
)
async def create_clip(call: Caller, wanted: Annotated[NewClip, Depends(read_new_clip)]) -> Response:
    ordered = order.build_order(call, wanted.model, wanted.chosen())
    order.require_references(ordered)
    clip, charge = asset.create_clip(call, ordered, wanted.prompt)
    shown = {"asset": asset.show_clip(call, clip)}
    return success_body(shown, "Clip ordered", status=202, meta=billing.credits_meta(call, charge))


@router.get("/{id}", response_model=shapes.Envelope[resource_shapes.ClipData])
async def show_clip(call: Caller) -> Response:
    return success_body({"asset": asset.show_clip(call, call.owned)})
