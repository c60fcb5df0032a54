"""GET /faceless/options (spec: Faceless option groups)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from proxyapi.sandbox import catalogue
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.errors import Invalid
from proxyapi.sandbox.gate import Caller, gated

router = APIRouter(prefix="/faceless", tags=["Faceless videos"], route_class=gated())


@router.get("/options", response_model=shapes.Envelope[shapes.OptionsShape])
async def list_options(
    call: Caller,
    only: Annotated[list[str] | None, Query(description="CSV")] = None,
    only_array: Annotated[list[str] | None, Query(alias="only[]")] = None,
) -> Response:
    layers = {"mandatory": catalogue.mandatory(), "optional": catalogue.optional()}
    if only is not None or only_array is not None:
        asked = [*",".join(only or []).split(","), *(only_array or [])]
        wanted = {group.strip() for group in asked if group.strip()}
        known = {group for layer in layers.values() for group in layer}
        if wanted - known and call.world.settings.unknown_only == "refused":
            raise Invalid({"only": ["The selected only is invalid."]})
        layers = {
            name: {group: items for group, items in layer.items() if group in wanted}
            for name, layer in layers.items()
        }
    return success(layers)
