"""Ideas: discover (15 credits, synchronous) and the free list (spec: Ideas)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import StringConstraints

from proxyapi.sandbox import billing
from proxyapi.sandbox.api import paging, resource_shapes
from proxyapi.sandbox.authorization import ApiCall, Caller, make_route_class
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import Forbidden, ValidationError
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.ideas import search

router = APIRouter(prefix="/ideas", tags=["Ideas"], route_class=make_route_class(feature="ideas"))

IdeaSort = Literal["-volume", "volume", "title", "-title", "created_at", "-created_at"]


class IdeaSearchBody(Body):
    keyword: Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=100)]
    network: Annotated[str, StringConstraints(max_length=60)]


@router.post("/discover", response_model=resource_shapes.IdeasFoundShape)
async def discover_ideas(call: Caller, wish: IdeaSearchBody) -> Response:
    _require_network(call, wish.network)
    found = search.discover_ideas(call, wish.keyword, wish.network)
    if found.charge is not None:
        return success_body(
            found.ideas, "Ideas found", meta=billing.credits_meta(call, found.charge)
        )
    left = billing.remaining_credits(call.world, call.account)
    meta = {"credits": {"cost": 0, "remaining": left}}
    return success_body(found.ideas, "No ideas were found", meta=meta)


@router.get("", response_model=resource_shapes.IdeasPage)
async def list_ideas(
    call: Caller,
    keyword: Annotated[str | None, Query(max_length=100)] = None,
    network: Annotated[str | None, Query(max_length=60)] = None,
    sort: IdeaSort = "-volume",
    per_page: Annotated[int, Query(ge=1, le=50)] = 12,
    page: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    if network is not None:
        _require_network(call, network)
    rows = search.list_found_ideas(call, keyword, network, sort)
    if keyword and not rows and call.world.settings.dialect == "service-v1":
        raise Forbidden()  # nobody searched for it yet
    shown = rows[(page - 1) * per_page : page * per_page]
    meta, links = paging.describe_page(call.request, page, per_page, len(rows), len(shown))
    return success_body(shown, meta=meta, links=links)


def _require_network(call: ApiCall, network: str) -> None:
    if network not in call.world.settings.idea_networks:
        raise ValidationError({"network": ["The selected network is invalid."]})
