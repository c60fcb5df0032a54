"""Quotes: the price of a charge before it is asked for, and the request that spends it.

`POST /_quotes` names a request; nothing is held for it. The same request with `Reelroom-Quote` is
then charged at most once, and not above that price. Whatever else is sent with a quote is refused,
with a new one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from django.utils import timezone
from starlette.requests import Request
from starlette.routing import compile_path

from proxyapi import pricing
from proxyapi.gateway.access import check_call, wait_for_key_limit
from proxyapi.gateway.answers import GatewayRefusal, amount_or_none, own_answer
from proxyapi.gateway.call import Call
from proxyapi.gateway.charging import admit, answer_of_admitted, describe_charge, find_current_price
from proxyapi.gateway.endings import ChargeEndings
from proxyapi.gateway.forwarding import Service, answer_of_error
from proxyapi.gateway.requests import ServiceRequest, read_object, read_request
from proxyapi.gateway.team_rules import AdmittedCharge, team_rules
from proxyapi.gateway.threads import in_thread
from proxyapi.models import ApiKey, Charge, KeyScope, Quote
from proxyapi.operations import OPERATIONS, Operation
from proxyapi.pruning import delete_in_batches
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Answer

HEADER = "reelroom-quote"
LIFETIME = timedelta(minutes=15)
# Of this process: who waits finds the charge, and asks the service for no price.
QUOTE_LOCKS: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()
KEPT = timedelta(hours=48)  # after its end, so that it still leads to its charge
QUOTE_ID_RE = re.compile(r"quote_([0-9a-f]{32})")
CHARGING_PATHS = [(compile_path(row.path)[0], row) for row in OPERATIONS.values() if row.charging]
FIELDS = {"method", "path", "body", "files"}
QUOTED = "The price of this request. Nothing is held or charged."
NOT_READABLE = "Send an object with “method” and “path”, and with “body” and “files” if it has any."
NOTHING_TO_QUOTE = "This path and method charge nothing, or do not exist."
QUOTE_MISSING = "This quote does not exist. Nothing was sent."
OTHER_REQUEST = "This quote is for another request. Nothing was sent. “error.quote” is for yours."
EXPIRED = "This quote has expired. Nothing was sent. “error.quote” is a new one."
PRICE_ROSE = "The price is above this quote now. Nothing was sent. “error.quote” is a new one."


async def make_quote(service: Service, call: Call, request: Request) -> Answer:
    """POST /_quotes. Checks the request in its body as if it were charged, and keeps its price.
    Raises `GatewayRefusal` and `Refusal`."""
    wanted = await read_object(request) or {}
    operation, inner = read_wanted(wanted)
    await in_thread(check_call, call, operation)
    asked = await read_request(inner, operation)
    digest = digest_of(asked, wanted.get("files", ()))
    await wait_for_key_limit(call)
    try:
        price = await find_current_price(service, call, asked)
    except errors.UpstreamError as error:
        return answer_of_error(error)
    quote = await in_thread(create_quote, call, operation, digest, price)
    described = await in_thread(describe_quote, call.key, quote, None)
    return own_answer(201, {"message": QUOTED, "status": 201, "data": described})


def read_wanted(wanted: dict[str, Any]) -> tuple[Operation, Request]:
    """The operation and the request that a quote is wanted for. Raises `GatewayRefusal`."""
    method, path, files = wanted.get("method"), wanted.get("path"), wanted.get("files", [])
    is_typed = isinstance(files, list) and wanted.keys() <= FIELDS
    if not (isinstance(method, str) and isinstance(path, str) and is_typed):
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", NOT_READABLE)
    path, _, query = path.partition("?")
    for pattern, row in CHARGING_PATHS:
        match = pattern.fullmatch(path)
        if match and row.method == method.upper():
            break
    else:
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", NOTHING_TO_QUOTE)
    body = b"" if wanted.get("body") is None else json.dumps(wanted["body"]).encode()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    scope = {
        "type": "http",
        "raw_path": path.encode(errors="replace"),
        "query_string": query.encode(errors="replace"),
        "headers": [(b"content-type", b"application/json")],
        "path_params": match.groupdict(),
    }
    return row, Request(scope, receive)


def digest_of(asked: ServiceRequest, files: Sequence[Any] = ()) -> str:
    """What a quote is bound to: operation, path, query, body, and field and hash of each file."""
    sent = [
        {"field": file.field, "sha256": hashlib.sha256(file.content).hexdigest()}
        for file in asked.uploads
    ]
    parts = [asked.operation.name, dict(asked.path), dict(asked.query), asked.fields or {}]
    content = json.dumps([*parts, [*sent, *files]], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def create_quote(
    call: Call, operation: Operation, digest: str, price: Decimal | None, **order: Any
) -> Quote:
    """Keep the price of a request; `order` are the fields of a quote of an agent."""
    account = call.token.account
    may_be_free = operation.price.may_be_free or pricing.free_uses(account, operation.price) > 0
    return Quote.objects.create(
        key=call.key,
        account=account,
        operation=operation.name,
        digest=digest,
        price=price,
        hold=pricing.hold_for_operation(operation.name, price or Decimal(0)),
        is_exact=price is not None and operation.price.exact and not may_be_free,
        expires_at=timezone.now() + LIFETIME,
        **order,
    )


def describe_quote(key: ApiKey, quote: Quote, charge: Charge | None) -> dict[str, Any]:
    """What a quote says now; amounts are credits, times UTC. What is left is told while it is
    open, and the balance only to keys that may read it. Raises `Refusal`."""
    state = "spent" if charge else "expired" if quote.is_expired else "open"
    preview = team_rules().preview(key, quote.hold) if state == "open" else None
    balance = quote.account.available_balance() if key.has_scope(KeyScope.CREDITS) else None
    return {
        "quote": f"quote_{quote.pk.hex}",
        "operation": quote.operation,
        "state": state,
        "price": amount_or_none(quote.price),
        "upper_bound": None if quote.price is None else amount_or_none(quote.hold),
        "exact": quote.is_exact,
        "approval_required": preview and preview.approval_required,
        "credits_left": amount_or_none(preview and preview.credits_left),
        "balance_left": amount_or_none(
            balance - quote.hold if preview and balance is not None else None
        ),
        "expires_at": quote.expires_at,
        "charge": describe_charge(charge, team_rules().approval_url(charge)) if charge else None,
    }


def show_quote(key: ApiKey, text: str) -> Answer:
    """GET /_quotes/{id}. Raises `GatewayRefusal` for a quote that is not this key's."""
    quote = find_quote(key, text)
    if quote is None:
        raise GatewayRefusal(404, "GEN-NOT-FOUND", "This quote does not exist.")
    described = describe_quote(key, quote, quote.charges.first())
    message = f"The quote is {described['state']}."
    return own_answer(200, {"message": message, "status": 200, "data": described})


def find_quote(key: ApiKey, text: str) -> Quote | None:
    id = QUOTE_ID_RE.fullmatch(text)
    rows = Quote.objects.select_related("key", "account")
    return rows.filter(pk=id[1], key=key).first() if id else None


async def spend_quote(
    service: Service,
    endings: ChargeEndings,
    call: Call,
    asked: ServiceRequest,
    stored_id: int | None = None,
) -> Answer:
    """As `charging.charge`, at most once with the quote of the call and not above its price."""
    quote = await in_thread(find_quote, call.key, call.quote_id or "")
    if quote is None:
        raise GatewayRefusal(422, "QUOTE-UNKNOWN", QUOTE_MISSING)
    digest = await in_thread(digest_of, asked)
    async with QUOTE_LOCKS.setdefault(quote.pk, asyncio.Lock()):
        charge = await in_thread(quote.charges.first) if quote.digest == digest else None
        if charge is not None:
            admitted = AdmittedCharge(charge, is_new=False)
        else:
            try:
                price = await find_current_price(service, call, asked)
            except errors.UpstreamError as error:
                return answer_of_error(error)
            await in_thread(check_quote, call, quote, asked.operation, digest, price)
            admitted = await in_thread(admit, call, asked, price, stored_id, quote)
    return await answer_of_admitted(endings, call, admitted, quote)


def check_quote(
    call: Call, quote: Quote, operation: Operation, digest: str, price: Decimal | None
) -> None:
    """Raise `GatewayRefusal`, with a new quote, unless the request of this digest may spend it."""
    if quote.digest != digest or quote.account_id != call.token.account_id:
        refusal = 422, "QUOTE-OF-OTHER-REQUEST", OTHER_REQUEST
    elif quote.is_expired:
        refusal = 422, "QUOTE-EXPIRED", EXPIRED
    elif pricing.hold_for_operation(operation.name, price or Decimal(0)) > quote.hold:
        refusal = 409, "QUOTE-PRICE-ROSE", PRICE_ROSE
    else:
        return
    order = {} if quote.digest != digest else {"order": quote.order, "request": quote.request}
    new = create_quote(call, operation, digest, price, **order)
    raise GatewayRefusal(*refusal, details={"quote": describe_quote(call.key, new, None)})


def prune_quotes() -> int:
    """Delete quotes two days after their end; return how many."""
    return delete_in_batches(Quote.objects.filter(expires_at__lt=timezone.now() - KEPT))
