"""GET /faceless/options (spec: Faceless option groups)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from proxyapi.sandbox import catalogue
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.authorization import ApiCall, Caller, make_route_class
from proxyapi.sandbox.characters import record
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.voice_clones import narrators

_ARRAY = re.compile(r"only\[\d*\]")  # only[]=a&only[]=b, or only[0]=a&only[1]=b

router = APIRouter(prefix="/faceless", tags=["Faceless videos"], route_class=make_route_class())


@router.get("/options", response_model=shapes.Envelope[shapes.OptionsShape])
async def list_options(
    call: Caller,
    only: Annotated[list[str] | None, Query(description="CSV")] = None,
    only_array: Annotated[list[str] | None, Query(alias="only[]")] = None,  # only described
) -> Response:
    layers, sent = _layers(call), call.request.query_params.multi_items()
    listed = [value for name, value in sent if _ARRAY.fullmatch(name)]
    if only is not None or listed:
        asked = [*",".join(only or []).split(","), *listed]
        wanted = {group.strip() for group in asked if group.strip()}
        known = {group for layer in layers.values() for group in layer}
        if wanted - known and call.world.settings.unknown_only == "refused":
            raise ValidationError({"only": ["The selected only is invalid."]})
        layers = {
            name: {group: items for group, items in layer.items() if group in wanted}
            for name, layer in layers.items()
        }
    return success_body(layers)


def _layers(call: ApiCall) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The catalogue, with the account's own clones and characters."""
    mandatory, optional = catalogue.mandatory_options(), catalogue.optional_options()
    voices = narrators.list_voices(call.world, call.account.id)
    mandatory["voices"] = [voice._asdict() for voice in voices]
    own = record.trained_characters(call.world, call.account.id)
    optional["characters"] += [record.as_option(character) for character in own]
    return {"mandatory": mandatory, "optional": optional}
