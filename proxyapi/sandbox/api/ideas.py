"""Ideas: discover (15 credits, synchronous) and the free list (spec: Ideas)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import StringConstraints

from proxyapi.sandbox import money
from proxyapi.sandbox.api import made_shapes, paging
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.errors import Invalid
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.gate import Call, Caller, gated
from proxyapi.sandbox.ideas import searching

router = APIRouter(prefix="/ideas", tags=["Ideas"], route_class=gated(feature="ideas"))

Sort = Literal["-volume", "volume", "title", "-title", "created_at", "-created_at"]


class Wish(Body):
    keyword: Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=100)]
    network: Annotated[str, StringConstraints(max_length=60)]


@router.post("/discover", response_model=made_shapes.Found)
async def discover_ideas(call: Caller, wish: Wish) -> Response:
    _require_network(call, wish.network)
    found = searching.discover(call, wish.keyword, wish.network)
    if found.charge is not None:
        return success(found.ideas, "Ideas found", meta=money.meta(call, found.charge))
    left = money.remaining(call.world, call.account)
    meta = {"credits": {"cost": 0, "remaining": left}}
    return success(found.ideas, "No ideas were found", meta=meta)


@router.get("", response_model=made_shapes.IdeasPage)
async def list_ideas(
    call: Caller,
    keyword: Annotated[str | None, Query(max_length=100)] = None,
    network: Annotated[str | None, Query(max_length=60)] = None,
    sort: Sort = "-volume",
    per_page: Annotated[int, Query(ge=1, le=50)] = 12,
    page: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    if network is not None:
        _require_network(call, network)
    rows = searching.listed(call, keyword, network, sort)
    shown = rows[(page - 1) * per_page : page * per_page]
    meta, links = paging.describe(call.request, page, per_page, len(rows), len(shown))
    return success(shown, meta=meta, links=links)


def _require_network(call: Call, network: str) -> None:
    if network not in call.world.settings.idea_networks:
        raise Invalid({"network": ["The selected network is invalid."]})
