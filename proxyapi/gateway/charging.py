"""A charging request: admitted like a charge of a page, sent once by a worker, answered with the
service's bytes.

The connection decides nothing: the charge is written before it is sent, and goes on when the client
is gone. What is not known is said (202 with the charge's id), never answered as a failure.
"""

from __future__ import annotations

import time
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import uuid4

from django.db import transaction

from proxyapi import pricing, rate_limiter, redis_client
from proxyapi.charges import ChargeIntent, cancel_held_charge
from proxyapi.gateway.answers import (
    API_PATH,
    CHARGE_ID_HEADER,
    GatewayRefusal,
    mark_replayed,
    own_answer,
    passed_on,
)
from proxyapi.gateway.call import Call
from proxyapi.gateway.endings import ChargeEndings
from proxyapi.gateway.forwarding import Service, answer_of_error, rate_limited
from proxyapi.gateway.jobs import find_job, job_of_request
from proxyapi.gateway.prices import find_price
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.gateway.team_rules import AdmittedCharge, team_rules
from proxyapi.gateway.threads import in_thread
from proxyapi.models import Charge, ChargeState, Job, Quote, StoredAnswer
from proxyapi.models.charge import HOLDING_STATES, IN_PROGRESS_STATES
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Answer

# After its turn: the worker takes it, reads what proves it, and records the answer.
GRACE_S = 20.0
NOT_SENT_IN_TIME = "Its turn did not come within the time that the script waits."
UNKNOWN = "It was sent, and the answer was lost. Whether it was charged is being checked."
IN_PROGRESS = "It is in progress."
APPROVAL_REQUIRED = "A person has to approve it. Nothing was sent."
QUOTE_IN_USE = "The first request with this quote is still running. Nothing was sent twice."
RETRY_AFTER_S = "2"
STATES = {ChargeState.DRAFT: "approval_required", ChargeState.WRITTEN_OFF: "written_off"}


async def charge(
    service: Service,
    endings: ChargeEndings,
    call: Call,
    request: ServiceRequest,
    stored_id: int | None = None,
) -> Answer:
    """Charge for one request and return its answer. `stored_id` is the row of its idempotency
    key. Raises `GatewayRefusal` and `Refusal`; then nothing was sent."""
    try:
        price = await find_current_price(service, call, request)
    except errors.UpstreamError as error:
        return answer_of_error(error)
    admitted = await in_thread(admit, call, request, price, stored_id)
    return await answer_of_admitted(endings, call, admitted)


async def find_current_price(
    service: Service, call: Call, request: ServiceRequest
) -> Decimal | None:
    """As `find_price`. Raises `errors.UpstreamError` and `GatewayRefusal`."""
    known = await in_thread(find_known_job, call, request)
    fetch = partial(service.fetch_data, call)
    return await find_price(request, call.token.account, known, fetch)


async def answer_of_admitted(
    endings: ChargeEndings, call: Call, admitted: AdmittedCharge, quote: Quote | None = None
) -> Answer:
    """The answer of a charge. Raises `GatewayRefusal` if nothing was sent; then its quote may be
    spent again."""
    call.charge, call.job = admitted.charge, admitted.charge.job
    if not admitted.is_new:
        call.is_replayed = True
        if (answer := await in_thread(repeat_answer, admitted.charge)) is not None:
            return answer
        headers = {"retry-after": RETRY_AFTER_S, CHARGE_ID_HEADER: str(admitted.charge.pk)}
        raise GatewayRefusal(409, "QUOTE-IN-USE", QUOTE_IN_USE, headers=headers)
    if admitted.approval_url:
        return charge_answer(admitted.charge, APPROVAL_REQUIRED, admitted.approval_url)
    try:
        return await wait_for_answer(endings, call, admitted.charge)
    except GatewayRefusal:
        if quote is not None:
            await in_thread(quote.release)
        raise


def find_known_job(call: Call, request: ServiceRequest) -> Job | None:
    operation = request.operation
    if operation.kind is None or operation.creates:
        return None
    return find_job(call.token, operation, next(iter(request.path.values())))


@transaction.atomic
def admit(
    call: Call,
    request: ServiceRequest,
    price: Decimal | None,
    stored_id: int | None,
    quote: Quote | None = None,
) -> AdmittedCharge:
    """Write the charge, its job and the row of its answer in one transaction. A price that nobody
    knows is held as 0, as on the pages."""
    # Of several requests with one quote the first writes its charge, and the others find it.
    if quote is not None and (earlier := quote.find_charge_locked()) is not None:
        return AdmittedCharge(earlier, is_new=False)
    operation, fields, price = request.operation, request.fields or {}, price or Decimal(0)
    job = job_of_request(call.key, call.token, operation, request.path, fields)
    intent = ChargeIntent(
        job,
        operation.name,
        quote.pk if quote else uuid4(),
        pricing.hold_for_operation(operation.name, price),
        price,
        fields,
        None if job else call.token,
        # The first identifier is the job's; it is added when the charge is sent.
        path=dict(list(request.path.items())[1:]),
        uploads=request.uploads,
        api_key=call.key,
    )
    admitted = team_rules().charge(call.key, intent)
    if stored_id is None:
        StoredAnswer.objects.create(key=call.key, charge=admitted.charge)
    else:
        StoredAnswer.objects.filter(pk=stored_id).update(charge=admitted.charge)
    return admitted


async def wait_for_answer(endings: ChargeEndings, call: Call, charge: Charge) -> Answer:
    """Wait for the turn until `call.until`, and from then on as long as the service may take."""
    started = time.monotonic()
    try:
        if not await endings.wait(charge.pk, max(call.until - started, 0.0)):
            if await in_thread(cancel_held_charge, charge, NOT_SENT_IN_TIME):
                raise rate_limited(await in_thread(bucket_wait_s, call), NOT_SENT_IN_TIME)
            duration_s = get_operation(charge.operation).max_duration_s
            await endings.wait(charge.pk, duration_s + GRACE_S)
        return await in_thread(answer_of_charge, charge)
    finally:
        call.service_s += time.monotonic() - started
        call.service_requests += 1


def bucket_wait_s(call: Call) -> float:
    """Seconds until the token's rate limit has all requests again."""
    try:
        return rate_limiter.peek_bucket(redis_client.connect_redis(), call.token.bucket).resets_in_s
    except RateLimiterUnavailable:
        return 1.0


def answer_of_charge(charge: Charge) -> Answer:
    """What is known of a charge now: the service's answer, or where it stands. Raises
    `GatewayRefusal` for one that was refused before it was sent."""
    charge = Charge.objects.select_related("job", "answer").get(pk=charge.pk)
    stored = getattr(charge, "answer", None)
    if stored is not None and stored.status is not None:
        answer = passed_on(Answer(stored.status, stored.headers, bytes(stored.body)))
        headers = {**answer.headers, CHARGE_ID_HEADER: str(charge.pk)}
        return Answer(answer.status, headers, answer.body)
    if charge.state == ChargeState.DRAFT:
        return charge_answer(charge, APPROVAL_REQUIRED, team_rules().approval_url(charge))
    if charge.state == ChargeState.REFUSED and charge.sent_at is None:
        headers = {CHARGE_ID_HEADER: str(charge.pk)}
        raise GatewayRefusal(403, charge.code or "GEN-FORBIDDEN", charge.reason, headers=headers)
    return charge_answer(
        charge, IN_PROGRESS if charge.state in IN_PROGRESS_STATES else charge.reason or UNKNOWN
    )


def repeat_answer(charge: Charge) -> Answer | None:
    """The answer to a request that is repeated; None while its charge is in progress. Raises as
    `answer_of_charge`."""
    return None if charge.state in IN_PROGRESS_STATES else mark_replayed(answer_of_charge(charge))


def charge_answer(
    charge: Charge, message: str, approval_url: str = "", status: int = 202
) -> Answer:
    """Our own answer about a charge."""
    body = {"message": message, "status": status, "data": describe_charge(charge, approval_url)}
    return own_answer(status, body, {CHARGE_ID_HEADER: str(charge.pk)})


def describe_charge(charge: Charge, approval_url: str = "") -> dict[str, Any]:
    """What a script may know of its charge; amounts are credits, times UTC."""
    state = ChargeState(charge.state)
    described = {
        "charge": str(charge.pk),
        "operation": charge.operation,
        "state": STATES.get(state, state),
        "reason": charge.reason,
        "price": charge.quote,
        "held": charge.hold if charge.state in HOLDING_STATES else 0,
        "cost": charge.cost,
        "resource": charge.job.remote_id if charge.job else None,
        "created_at": charge.created_at,
        "sent_at": charge.sent_at,
        "settled_at": charge.settled_at,
        "refunded_at": charge.refunded_at,
        "url": f"{API_PATH}/_charges/{charge.pk}",
    }
    return {**described, "approval_url": approval_url} if approval_url else described
