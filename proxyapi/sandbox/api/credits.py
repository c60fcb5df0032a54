"""GET /credits/costs and /credits/history (spec: Account). Work without a subscription."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from proxyapi.sandbox import dialect
from proxyapi.sandbox.api import paging, shapes
from proxyapi.sandbox.authorization import Caller, make_route_class
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.records import Entry

router = APIRouter(prefix="/credits", tags=["Account"], responses=shapes.UNVERIFIED)
router.route_class = make_route_class(paid=False, account_area=True)


@router.get("/costs", response_model=shapes.Envelope[dict[str, shapes.CostShape]])
async def list_costs(call: Caller) -> Response:
    chosen = call.world.settings
    shown = {
        dialect.cost_key(chosen.dialect, key): price.model_dump(exclude_none=True)
        for key, price in chosen.costs.items()
    }
    return success_body(shown)


@router.get("/history", response_model=shapes.ListEnvelope[shapes.EntryShape])
async def list_history(
    call: Caller,
    order: Literal["ASC", "DESC"] = "DESC",
    per_page: Annotated[int, Query(ge=1, le=50)] = 12,
    page: Annotated[int, Query(ge=1)] = 1,
    source: str | None = None,
) -> Response:
    known, booked = call.world.settings.dialect, call.world.ledgers[call.account.id]
    if source == "api":
        booked = [entry for entry in booked if entry.source == "api"]
    entries = dialect.order_entries(known, booked, call.visit)
    total, first = len(entries), (page - 1) * per_page
    if order == "ASC":
        rows = entries[first : first + per_page]
    else:
        rows = entries[max(0, total - first - per_page) : max(0, total - first)][::-1]
    meta, links = paging.describe_page(call.request, page, per_page, total, len(rows))
    shown = [dialect.show_entry(known, row, describe_entry(row)) for row in rows]
    return success_body(shown, meta=meta, links=links)


def describe_entry(entry: Entry) -> dict[str, Any]:
    return {
        "label": entry.label,
        "content_type": entry.content_type,
        "credit_spend": str(entry.credits),
        "transaction_type": entry.transaction_type,
        "created_at": format_iso(entry.created_at),
    }
