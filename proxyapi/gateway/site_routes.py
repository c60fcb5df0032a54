"""Routes that the site answers, and no service: `GET /_usage`, `/_ledger`, `/_budgets`, `/_audit`
(the scope `reports`), `POST /_imports` (the scope `create`), and `/_batches`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4, uuid5

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proxyapi.gateway import access, idempotency
from proxyapi.gateway.answers import API_PATH, GatewayRefusal, own_answer
from proxyapi.gateway.call import Call
from proxyapi.gateway.forwarding import rate_limited
from proxyapi.gateway.refusals import answer_of_refusal
from proxyapi.gateway.requests import read_object, read_query
from proxyapi.gateway.site import REPORTS, site
from proxyapi.gateway.threads import in_thread
from proxyapi.job_import import ImportMustWait, ImportNotFound, parse_upstream_id
from proxyapi.models import VIDEO_KINDS, Job, JobKind, KeyScope
from proxyapi.refusals import Refusal
from proxyapi.upstream.reply import Answer

Handler = Callable[[Call, Request], Awaitable[Answer]]
Respond = Callable[[Request, Answer, Call | None, str], Response]
IMPORT_FIELDS = {"kind", "id"}
BAD_IMPORT = (
    f"Send kind, which is one of {', '.join(VIDEO_KINDS)}, and id, as the service shows it. "
    "Nothing was imported."
)
BATCH_SCOPES = {
    "start": KeyScope.RENDER,
    "pause": KeyScope.CREATE,
    "resume": KeyScope.RENDER,
    "cancel": KeyScope.CREATE,
}
REPEATED = "The parameter “{name}” may be sent once."


def build_site_routes(respond: Respond) -> list[Route]:
    """The routes; `respond` makes the response of an answer and logs its call."""
    routes = [
        build_route(respond, f"_{name}", "GET", KeyScope.REPORTS, partial(read_report, name))
        for name in REPORTS
    ]
    one = "_batches/{id:uuid}"
    acts = [
        build_route(respond, f"{one}/{name}", "POST", scope, partial(change_batch, name))
        for name, scope in BATCH_SCOPES.items()
    ]
    return [
        *routes,
        build_route(respond, "_imports", "POST", KeyScope.CREATE, import_job),
        build_route(respond, "_batches", "POST", KeyScope.CREATE, make_batch),
        build_route(respond, "_batches", "GET", KeyScope.READ, list_batches),
        build_route(respond, one, "GET", KeyScope.READ, show_batch),
        *acts,
    ]


def build_route(
    respond: Respond, name: str, method: str, scope: KeyScope, handler: Handler
) -> Route:
    """The log has the name without its parameters."""

    async def endpoint(request: Request) -> Response:
        call: Call | None = None
        try:
            call = await access.begin_call(request)
            access.check_key(call.key, scope, changes=method != "GET")
            await access.wait_for_key_limit(call)
            answer = await handler(call, request)
        except (GatewayRefusal, Refusal) as refusal:
            answer = answer_of_refusal(refusal, call)
        return respond(request, answer, call, name.replace("/{id:uuid}", ""))

    return Route(f"{API_PATH}/{name}", endpoint, methods=[method])


async def read_report(name: str, call: Call, request: Request) -> Answer:
    page = await in_thread(site().read_report, call.key, name, read_single_query(request))
    return ok(page._asdict())


def read_single_query(request: Request) -> dict[str, str]:
    """Raises `GatewayRefusal` for a parameter that is sent twice."""
    query = read_query(request)
    for param, values in query.items():
        if len(values) > 1:
            raise GatewayRefusal(400, "GEN-WRONG-ARGS", REPEATED.format(name=param[:40]))
    return {param: values[0] for param, values in query.items()}


def ok(data: dict[str, Any], status: int = 200) -> Answer:
    return own_answer(status, {"message": "OK", "status": status, "data": data})


async def make_batch(call: Call, request: Request) -> Answer:
    """POST /_batches. With an idempotency key its id follows from that: what a killed process has
    stored and started is found, and not started twice."""
    fields = await read_object(request) or {}
    if fields.get("start"):
        access.check_key(call.key, KeyScope.RENDER, changes=True)
    idempotency_key = request.headers.get(idempotency.HEADER)
    id = uuid4() if idempotency_key is None else uuid5(call.key.pk, idempotency_key)

    async def send(_: int | None) -> Answer:
        status, facts = await in_thread(site().make_batch, call.key, fields, id)
        return ok(facts, status)

    content = json.dumps(["_batches", fields], sort_keys=True).encode()
    fingerprint = hashlib.sha256(content).hexdigest()
    return await idempotency.answer_once(call, idempotency_key, fingerprint, send)


async def list_batches(call: Call, request: Request) -> Answer:
    page = await in_thread(site().list_batches, call.key, read_single_query(request))
    return ok(page._asdict())


async def show_batch(call: Call, request: Request) -> Answer:
    return ok(await in_thread(site().show_batch, call.key, request.path_params["id"]))


async def change_batch(action: str, call: Call, request: Request) -> Answer:
    fields, id = await read_object(request) or {}, request.path_params["id"]
    status, facts = await in_thread(site().change_batch, call.key, id, action, fields)
    return ok(facts, status)


async def import_job(call: Call, request: Request) -> Answer:
    kind, upstream_id = parse_import(await read_object(request) or {})
    try:
        call.job, is_new = await wait_for_import(call, kind, upstream_id)
    except ImportNotFound as refusal:
        raise GatewayRefusal(404, "GEN-NOT-FOUND", refusal.sentence) from None
    return ok(describe_job(call.job), 201 if is_new else 200)


async def wait_for_import(call: Call, kind: JobKind, upstream_id: str) -> tuple[Job, bool]:
    """Import when it is its turn. Raises `GatewayRefusal` (429) if that is not within the time that
    the script waits, else what `Site.import_job` raises."""
    while True:
        try:
            return await in_thread(site().import_job, call.key, kind, upstream_id)
        except ImportMustWait as refusal:
            if time.monotonic() + refusal.wait_s > call.until:
                raise rate_limited(refusal.wait_s, refusal.sentence) from None
            await asyncio.sleep(min(max(refusal.wait_s, 0.05), access.MAX_SLEEP_S))


def parse_import(fields: dict[str, Any]) -> tuple[JobKind, str]:
    kind, upstream_id = fields.get("kind"), fields.get("id")
    is_id = isinstance(upstream_id, str | int) and not isinstance(upstream_id, bool)
    if set(fields) != IMPORT_FIELDS or kind not in VIDEO_KINDS or not is_id:
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", BAD_IMPORT)
    try:
        return JobKind(kind), parse_upstream_id(str(upstream_id))
    except Refusal as refusal:
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", refusal.sentence) from None


def describe_job(job: Job) -> dict[str, Any]:
    """What a script may know of a job of the library; times are UTC."""
    return {
        "job": str(job.pk),
        "kind": job.kind,
        "id": job.remote_id,
        "title": job.title,
        "state": job.state,
        "created_at": job.created_at,
        "finished_at": job.finished_at,
    }
