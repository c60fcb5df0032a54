"""The price of a script's charge before it is sent: the cost map, or the free read that has it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

from proxyapi import pricing
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.gateway.threads import in_thread
from proxyapi.kinds.faceless_draft import parse_estimate_credits
from proxyapi.models import Account, Job
from proxyapi.operations import (
    FACELESS_RENDER_OPERATIONS,
    JobKind,
    Operation,
    PriceRule,
    get_operation,
)
from proxyapi.upstream import response_parsing

Fetch = Callable[[ServiceRequest], Awaitable[Any]]  # returns `data` of the service's answer
PROMPT_FIELD, BUY_SLOT_FIELD = "prompt", "purchase_addon"


async def find_price(
    request: ServiceRequest, account: Account, job: Job | None, fetch: Fetch
) -> Decimal | None:
    """Credits of the request; None where nobody knows the price before (spec: not shown). Raises
    what `fetch` raises."""
    price = request.operation.price
    if price.rule is PriceRule.LAST_RENDER and job is not None:
        last = await in_thread(pricing.last_paid_render, job)
        if last is not None and last.cost is not None:
            return last.cost
    if price.rule is PriceRule.ESTIMATE or price.rule is PriceRule.LAST_RENDER:
        name = price.estimate_operation or estimate_of_last_render()
        data = await fetch(estimate_request(request, get_operation(name)))
        return read_estimate(request, data)
    return await in_thread(pricing.fixed_price, account, request.operation.name)


def estimate_of_last_render() -> str:
    """The estimate of a render that is done again, but was not done here before."""
    return get_operation(FACELESS_RENDER_OPERATIONS[0]).price.estimate_operation


def estimate_request(request: ServiceRequest, operation: Operation) -> ServiceRequest:
    """The free read of the price, for the same resource or the same settings."""
    (id,) = list(request.path.values())[:1] or [""]
    path = dict.fromkeys(operation.path_parameters, id)
    settings = {} if request.operation.kind is not JobKind.CLIP else request.fields or {}
    query = {
        name: [str(value)]
        for name, value in settings.items()
        if name != PROMPT_FIELD and isinstance(value, str | int | float)
    }
    return ServiceRequest(operation, path, query, None)


def read_estimate(request: ServiceRequest, data: Any) -> Decimal | None:
    if request.operation.kind is JobKind.CLONE:
        slots = response_parsing.as_mapping(data)
        buys = bool((request.fields or {}).get(BUY_SLOT_FIELD)) and not slots.get("available")
        cost = response_parsing.parse_credit_amount(slots.get("cost")) if buys else Decimal(0)
        return cost if cost is not None and cost >= 0 else None
    return parse_estimate_credits(data)
