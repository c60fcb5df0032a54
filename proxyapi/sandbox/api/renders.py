"""Estimate, render, retry and export of a faceless video (spec: render preconditions)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from proxyapi.sandbox import money
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.faceless import find
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.faceless import cost, exports, record, rendering
from proxyapi.sandbox.faceless.changes import Style
from proxyapi.sandbox.gate import Call, Caller, gated
from proxyapi.sandbox.records import Charge

router = APIRouter(prefix="/faceless", tags=["Faceless videos"], route_class=gated(find=find))

Started = shapes.Charged[shapes.FacelessShape]


@router.get("/{faceless}/estimate", response_model=shapes.Envelope[shapes.EstimateShape])
async def estimate_render(call: Caller) -> Response:
    estimated = cost.estimated_credits(call.world, call.owned)
    estimated = money.due(call.world, call.account, rendering.FEATURE, estimated)
    available = money.remaining(call.world, call.account)
    return success(
        {
            "cost": estimated,
            "available": available,
            "sufficient": call.account.balance >= estimated,
            "duration": round(cost.film_seconds(call.owned)),
        }
    )


@router.post("/{faceless}/render", response_model=Started, status_code=202)
async def start_render(call: Caller) -> Response:
    return _started(call, rendering.render(call, call.owned), "Render started")


@router.post("/{faceless}/retry", response_model=Started, status_code=202)
async def retry_render(call: Caller) -> Response:
    return _started(call, rendering.retry(call, call.owned), "Render started again")


@router.post("/{faceless}/export", response_model=Started, status_code=202)
async def start_export(call: Caller, style: Style | None = None) -> Response:
    return _started(call, exports.export(call, call.owned, style or Style()), "Export started")


def _started(call: Call, charge: Charge, message: str) -> Response:
    shown = record.show(call, call.owned)
    return success(shown, message, status=202, meta=money.meta(call, charge))
