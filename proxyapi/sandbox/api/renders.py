"""Estimate, render, retry and export of a faceless video (spec: render preconditions)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from proxyapi.sandbox import billing
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.faceless import find_video
from proxyapi.sandbox.authorization import ApiCall, Caller, make_route_class
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.faceless import cost, exports, record, rendering
from proxyapi.sandbox.faceless.changes import ExportStyle
from proxyapi.sandbox.records import Charge

router = APIRouter(
    prefix="/faceless", tags=["Faceless videos"], route_class=make_route_class(find=find_video)
)

Started = shapes.Charged[shapes.FacelessShape]


@router.get("/{faceless}/estimate", response_model=shapes.Envelope[shapes.EstimateShape])
async def estimate_render(call: Caller) -> Response:
    estimated = cost.estimated_credits(call.world, call.owned)
    estimated = billing.credits_due(call.world, call.account, rendering.FEATURE, estimated)
    available = billing.remaining_credits(call.world, call.account)
    return success_body(
        {
            "cost": estimated,
            "available": available,
            "sufficient": call.account.balance >= estimated,
            "duration": round(cost.film_seconds(call.owned)),
        }
    )


@router.post("/{faceless}/render", response_model=Started, status_code=202)
async def start_render(call: Caller) -> Response:
    return _started(call, rendering.start_render(call, call.owned), "Render started")


@router.post("/{faceless}/retry", response_model=Started, status_code=202)
async def retry_render(call: Caller) -> Response:
    return _started(call, rendering.retry_render(call, call.owned), "Render started again")


@router.post("/{faceless}/export", response_model=Started, status_code=202)
async def start_export(call: Caller, style: ExportStyle | None = None) -> Response:
    return _started(
        call, exports.start_export(call, call.owned, style or ExportStyle()), "Export started"
    )


def _started(call: ApiCall, charge: Charge, message: str) -> Response:
    shown = record.show_video(call, call.owned)
    return success_body(shown, message, status=202, meta=billing.credits_meta(call, charge))
