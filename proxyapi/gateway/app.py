"""The ASGI application under `/api/v2`: one route for each operation of the table, and our own,
whose names begin with an underscore.

It stands before Django, so a request costs no session, no middleware and, while it waits, no
thread.
"""

from __future__ import annotations

import logging
from functools import partial
from uuid import UUID

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proxyapi.calls import upstream_client
from proxyapi.charges import cancel_held_charge
from proxyapi.gateway import access, idempotency, quotes
from proxyapi.gateway.answers import (
    API_PATH,
    CHARGE_ID_HEADER,
    REQUEST_ID_HEADER,
    GatewayRefusal,
    own_answer,
)
from proxyapi.gateway.call import Call
from proxyapi.gateway.charging import charge, charge_answer
from proxyapi.gateway.document import show_document
from proxyapi.gateway.endings import ChargeEndings
from proxyapi.gateway.event_stream import EventStreamResponse, EventStreams, open_stream
from proxyapi.gateway.forwarding import Service
from proxyapi.gateway.polled_answers import find_polled_answer, forget_polled_answer, may_be_polled
from proxyapi.gateway.refusals import answer_of_refusal
from proxyapi.gateway.request_log import RequestLog, build_row
from proxyapi.gateway.requests import ServiceRequest, read_request
from proxyapi.gateway.site_routes import build_site_routes
from proxyapi.gateway.team_rules import team_rules
from proxyapi.gateway.threads import in_thread
from proxyapi.gateway.turns import Turns
from proxyapi.models import ApiKey, Charge, GatewayRequest
from proxyapi.operations import OPERATIONS, Operation
from proxyapi.refusals import Refusal
from proxyapi.upstream.reply import Answer

log = logging.getLogger(__name__)
UNEXPECTED = "Reelroom failed to answer this request. It is logged under its request id."
CANCELLED_BY_SCRIPT = "Cancelled by the script that made it. Nothing was charged."
HTTP_ERRORS = {
    400: ("GEN-WRONG-ARGS", "The request cannot be read."),
    404: ("GEN-NOT-FOUND", "This path does not exist."),
    405: ("METHOD-NOT-ALLOWED", "This path does not take this method."),
}


class Gateway:
    """What all requests of a process share: turns, the charges whose end is awaited, event streams,
    and the rows of the log that are to be written."""

    def __init__(self) -> None:
        self.service = Service(Turns())
        self.endings = ChargeEndings()
        self.streams = EventStreams()
        self.request_log = RequestLog()

    async def call_operation(self, request: Request, operation: Operation) -> Response:
        """Answer one call of the service's API."""
        call: Call | None = None
        try:
            begun = await in_thread(access.begin_operation, request, operation)
            call, refusal = begun
            if refusal is not None:
                raise refusal
            asked = await read_request(request, operation)
            await access.wait_for_key_limit(call)
            answer = await self.carry_out(call, asked, request)
        except (GatewayRefusal, Refusal) as refusal:
            answer = answer_of_refusal(refusal, call)
        return self.respond(request, answer, call, operation.name)

    async def carry_out(self, call: Call, asked: ServiceRequest, request: Request) -> Answer:
        """Send the request, once for each idempotency key."""
        idempotency_key = request.headers.get(idempotency.HEADER)
        if asked.operation.method == "GET":
            return await self.read(call, asked, request.headers.get("cache-control", ""))
        call.quote_id = request.headers.get(quotes.HEADER)
        send = partial(self.send, call, asked)
        return await idempotency.answer_once(call, idempotency_key, asked.fingerprint, send)

    async def read(self, call: Call, asked: ServiceRequest, cache_control: str) -> Answer:
        """Answer from the portal's own polls, unless the script wants the service asked."""
        is_fresh_wanted = "no-cache" in cache_control.lower()
        if may_be_polled(asked) and not is_fresh_wanted:
            known = await in_thread(find_polled_answer, call, asked)
            if known is not None:
                return known
        return await self.service.forward(call, asked)

    async def send(self, call: Call, asked: ServiceRequest, stored_id: int | None) -> Answer:
        await in_thread(forget_polled_answer, call, asked)
        if not asked.operation.charging:
            return await self.service.forward(call, asked)
        send = charge if call.quote_id is None else quotes.spend_quote
        return await send(self.service, self.endings, call, asked, stored_id)

    async def call_quotes(self, request: Request) -> Response:
        """POST /_quotes: the price of a charge; GET /_quotes/{id}: what a quote says now."""
        call: Call | None = None
        try:
            call = await access.begin_call(request)
            if request.method == "POST":
                answer = await quotes.make_quote(self.service, call, request)
            else:
                answer = await in_thread(quotes.show_quote, call.key, request.path_params["id"])
        except (GatewayRefusal, Refusal) as refusal:
            answer = answer_of_refusal(refusal, call)
        operation = "quotes.create" if request.method == "POST" else "quotes.get"
        return self.respond(request, answer, call, operation)

    async def show_charge(self, request: Request) -> Response:
        """GET /_charges/{id}: what is known of a charge; DELETE cancels one that was not sent."""
        call: Call | None = None
        is_cancelled = request.method == "DELETE"
        try:
            call = await access.begin_call(request)
            answer = await in_thread(
                charge_of_key, call.key, request.path_params["id"], is_cancelled
            )
        except (GatewayRefusal, Refusal) as refusal:
            answer = answer_of_refusal(refusal, call)
        operation = "charges.cancel" if is_cancelled else "charges.get"
        return self.respond(request, answer, call, operation)

    async def stream_events(self, request: Request) -> Response:
        """GET /_events: the events that the key's owner may see, as they happen. It is logged when
        it opens."""
        call: Call | None = None
        try:
            call = await access.begin_call(request)
            self.streams.check_count(call.key)
            stream = await in_thread(open_stream, call, request)
        except (GatewayRefusal, Refusal) as refusal:
            answer = answer_of_refusal(refusal, call)
            return self.respond(request, answer, call, "_events")
        opened = Answer(200, {}, b"")
        await self.request_log.write(row_of_request(request, call, "_events", opened))
        return EventStreamResponse(self.streams, stream)

    def respond(
        self, request: Request, answer: Answer, call: Call | None, operation: str
    ) -> Response:
        """The response; the row of its call is written after it was sent."""
        response = build_response(answer, call)
        if call is not None:
            row = row_of_request(request, call, operation, answer)
            response.background = BackgroundTask(self.request_log.write, row)
        return response


def charge_of_key(key: ApiKey, charge_id: UUID, is_cancelled: bool) -> Answer:
    rows = Charge.objects.select_related("job", "account", "token")
    charge = rows.filter(pk=charge_id, tenant=key.tenant_id).first()
    if charge is None or (charge.api_key_id != key.pk and charge.member_id != key.owner_id):
        raise GatewayRefusal(404, "GEN-NOT-FOUND", "This charge does not exist.")
    if is_cancelled and not cancel(key, charge):
        message = "It was sent, or has ended. Nothing was cancelled."
        raise GatewayRefusal(409, "NOT-CANCELLED", message)
    charge.reload()
    return charge_answer(charge, charge.reason, team_rules().approval_url(charge), status=200)


def cancel(key: ApiKey, charge: Charge) -> bool:
    return team_rules().withdraw(key, charge) or cancel_held_charge(charge, CANCELLED_BY_SCRIPT)


def row_of_request(request: Request, call: Call, operation: str, answer: Answer) -> GatewayRequest:
    path = request.url.path.removeprefix(API_PATH)
    return build_row(call, operation, path, request.headers.get("user-agent", ""), answer)


def build_response(answer: Answer, call: Call | None = None) -> Response:
    """The response, with the ids of its call and charge."""
    headers = {**answer.headers, "cache-control": "no-store", "x-content-type-options": "nosniff"}
    if call is not None:
        headers[REQUEST_ID_HEADER] = str(call.id)
        if call.charge is not None:
            headers[CHARGE_ID_HEADER] = str(call.charge.pk)
    return Response(answer.body, answer.status, headers)


def create_app(gateway: Gateway | None = None) -> Starlette:
    """The gateway, with the operations of the table and nothing else."""
    gateway = gateway or Gateway()
    routes = [
        Route(
            f"{API_PATH}{row.path}",
            partial(gateway.call_operation, operation=row),
            methods=[upstream_client().get_endpoint(row.name).method],
        )
        for row in OPERATIONS.values()
    ]
    own = Route(f"{API_PATH}/_charges/{{id:uuid}}", gateway.show_charge, methods=["GET", "DELETE"])
    quoting = [
        Route(f"{API_PATH}/_quotes", gateway.call_quotes, methods=["POST"]),
        Route(f"{API_PATH}/_quotes/{{id}}", gateway.call_quotes, methods=["GET"]),
    ]
    events = Route(f"{API_PATH}/_events", gateway.stream_events, methods=["GET"])
    document = Route(f"{API_PATH}/openapi.json", show_document, methods=["GET"])
    app = Starlette(
        routes=[*routes, own, *quoting, *build_site_routes(gateway.respond), events, document],
        exception_handlers={HTTPException: answer_http_error, Exception: answer_crash},
    )
    app.router.redirect_slashes = False
    return app


async def answer_http_error(request: Request, error: Exception) -> Response:
    """A path or method that no operation has, in the spec's shape."""
    status, headers = 404, None
    if isinstance(error, HTTPException):
        status, headers = error.status_code, error.headers
    code, message = HTTP_ERRORS.get(status, HTTP_ERRORS[404])
    body = {"message": message, "status": status, "error": {"code": code}}
    return build_response(own_answer(status, body, headers))


async def answer_crash(request: Request, error: Exception) -> Response:
    """Never a traceback. A charge that was written goes on, and is found by its id."""
    log.error("a request of the gateway failed", exc_info=error)
    body = {"message": UNEXPECTED, "status": 500, "error": {"code": "GEN-API-ERROR"}}
    return build_response(own_answer(500, body))
