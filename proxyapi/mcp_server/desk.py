"""What the tools do, for one call of an agent, with the gateway's quotes and charges."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID, uuid5
from weakref import WeakValueDictionary

from django.utils import timezone

from proxyapi.gateway import quotes
from proxyapi.gateway.access import UNKNOWN_KEY, check_call, check_key
from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.app import Gateway, charge_of_key
from proxyapi.gateway.call import Call
from proxyapi.gateway.charging import find_current_price
from proxyapi.gateway.forwarding import answer_of_error
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.gateway.site import BATCH_NOT_STARTED, site
from proxyapi.gateway.team_rules import team_rules
from proxyapi.gateway.threads import in_thread
from proxyapi.kinds.faceless_draft import READ_OPERATION, RENDER_OPERATION
from proxyapi.mcp_server import answers, rows
from proxyapi.mcp_server.orders import Order, render_of, with_id
from proxyapi.models import ApiKey, Charge, ChargeState, Job, JobState, KeyScope, Quote
from proxyapi.models.charge import CHARGED_STATES, IN_PROGRESS_STATES
from proxyapi.operations import get_operation
from proxyapi.refusals import AgentCreditsUsedUp
from proxyapi.tokens import CLIP_MODELS_OPERATION, OPTIONS_OPERATION
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Answer

MAKE_S = 45.0  # clients give up after a minute
MAX_WAIT_S, LOOK_EVERY_S, LOOK_AT_BATCH_EVERY_S = 50.0, 1.0, 5.0
BATCH_QUOTE_RE = re.compile(r"batch_([0-9a-f]{32})")
SERVICE_REFUSED = "The service refused it. Nothing was charged."
NO_PRICE = "Nobody knows the price of this before. Nothing was charged."
NO_ID = "The service’s answer shows no id of the draft. Nothing was charged. Call quote again."
QUOTE_REFUSALS = {"QUOTE-PRICE-ROSE": "price_changed", "QUOTE-EXPIRED": "quote_expired"}
STATES = {ChargeState.DRAFT: "approval_required", ChargeState.UNKNOWN: "unknown"}
STATES |= dict.fromkeys(IN_PROGRESS_STATES, "in_progress")
STATES |= {ChargeState.REFUSED: "not_charged", ChargeState.WRITTEN_OFF: "written_off"}
JOB_STATES = {JobState.RUNNING: "rendering"}
# Of this process: who asks for the same at once finds the draft of the first.
ORDER_LOCKS: WeakValueDictionary[tuple[UUID, str], asyncio.Lock] = WeakValueDictionary()


def refused_by_service(answer: Answer) -> GatewayRefusal:
    """The service's own refusal; its words are data."""
    try:
        body = json.loads(answer.body)
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    said = answers.short(str(body.get("message", "")))
    details = {"service_said": said, "service_fields": answers.short(str(body.get("errors", "")))}
    return GatewayRefusal(answer.status, "SERVICE-REFUSED", SERVICE_REFUSED, details=details)


class Desk:
    """One call of a tool. Methods return an answer, and raise `GatewayRefusal` and `Refusal`."""

    def __init__(self, gateway: Gateway, call: Call) -> None:
        self.gateway, self.call = gateway, call

    async def quote(self, order: Order) -> dict[str, Any]:
        """What is to be paid next of the order: its draft is put at the service once."""
        key = self.call.key
        async with ORDER_LOCKS.setdefault((key.pk, order.digest), asyncio.Lock()):
            step = await in_thread(rows.find_step, key, order.digest)
            if step is not None:
                return await self.go_on(*step)
            await in_thread(check_call, self.call, order.first_charge("1").operation)
            asked = order.first_charge(await self.put_draft(order))
            return await self.quote_request(asked, order.digest)

    async def put_draft(self, order: Order) -> str:
        """Send the free requests of an order; return the id of its draft, "" without one."""
        id = ""
        for asked in order.drafting():
            await in_thread(check_call, self.call, asked.operation)
            answer = await self.gateway.send(self.call, with_id(asked, id), None)
            if answer.status >= 400:
                raise refused_by_service(answer)
            id = id or str(self.call.job.remote_id if self.call.job else "")
            if not id:
                raise GatewayRefusal(502, "NO-ID", NO_ID)
        return id

    async def quote_request(
        self, asked: ServiceRequest, order: str, **parts: Any
    ) -> dict[str, Any]:
        await in_thread(check_call, self.call, asked.operation)
        try:
            price = await find_current_price(self.gateway.service, self.call, asked)
        except errors.UpstreamError as error:
            raise refused_by_service(answer_of_error(error)) from None
        if price is None:
            raise GatewayRefusal(409, "PRICE-UNKNOWN", NO_PRICE)
        made = {"order": order, "request": {"path": dict(asked.path), "fields": asked.fields}}
        digest = quotes.digest_of(asked)
        row = await in_thread(
            quotes.create_quote, self.call, asked.operation, digest, price, **made
        )
        return await self.show_quote(row, **parts)

    async def show_quote(self, row: Quote, status: str = "quoted", **parts: Any) -> dict[str, Any]:
        quote = await in_thread(rows.describe_quote, self.call.key, row)
        raise_url = quote.pop("raise_url", "")
        return answers.build(status, quote=quote, raise_url=raise_url, **parts)

    async def go_on(self, row: Quote, charge: Charge | None) -> dict[str, Any]:
        """Where an order stands whose last step has this quote and, if it was spent, charge."""
        if charge is None:
            if row.is_expired or await in_thread(row.charges.exists):  # it was refused
                return await self.quote_request(rows.request_of(row), row.order)
            return await self.show_quote(row)
        if get_operation(row.operation).writes_script and charge.state in CHARGED_STATES:
            script = await in_thread(rows.find_script, charge)
            asked = render_of(next(iter(rows.request_of(row).path.values())))
            paid = answers.describe_charge(charge)
            return await self.quote_request(asked, row.order, charge=paid, script=script)
        outcome = await self.describe_outcome(charge)
        if charge.state not in CHARGED_STATES:  # whether it is paid is not known yet
            return outcome
        return {**outcome, "status": "made", "message": answers.MESSAGES["made"]}

    async def make(self, quote_id: str, price: Decimal | None) -> dict[str, Any]:
        """Spend a quote at the price that the agent repeats."""
        key = self.call.key
        if batch := BATCH_QUOTE_RE.fullmatch(quote_id):
            return await self.start_batch(UUID(batch[1]), price)
        row = await in_thread(quotes.find_quote, key, quote_id)
        if row is None or row.request is None or price is None:
            return answers.build("quote_required", quotes=await in_thread(rows.open_quotes, key))
        charge = await in_thread(row.charges.first)
        if charge is None and price != row.price:
            return await self.show_quote(row, "price_changed")
        if charge is None or charge.state == ChargeState.REFUSED:
            refusal = await self.spend(row)
            charge = await in_thread(row.find_spent)
            if refusal is not None and charge is None:
                return refusal
        if charge is None:  # it waits for its turn
            return await self.show_quote(row, "in_progress")
        return await self.describe_outcome(charge)

    async def quote_batch(self, fields: Mapping[str, Any], copy: int) -> dict[str, Any]:
        """The dry run of these rows. Its id follows from them: the same again is the same batch."""
        await in_thread(check_call, self.call, get_operation(RENDER_OPERATION))
        content = json.dumps(["mcp", fields, copy], sort_keys=True)
        id = uuid5(self.call.key.pk, content)
        _, facts = await in_thread(site().make_batch, self.call.key, fields, id)
        return answers.describe_batch(facts)

    async def start_batch(self, id: UUID, price: Decimal | None) -> dict[str, Any]:
        """Start a batch for at most the price that the agent repeats."""
        await in_thread(check_call, self.call, get_operation(RENDER_OPERATION))
        facts = await in_thread(site().show_batch, self.call.key, id)
        if facts["state"] != "draft" or not facts["counts"].get("ready"):
            return answers.describe_batch(facts)
        if price is None or price != Decimal(facts["max_credits"]):
            return answers.describe_batch(facts, "price_changed")
        wanted = {"max_credits": str(price), "version": facts["version"]}
        try:
            _, facts = await in_thread(site().change_batch, self.call.key, id, "start", wanted)
        except AgentCreditsUsedUp as used_up:
            return answers.build("paused", raise_url=used_up.url)
        except GatewayRefusal as refusal:
            if refusal.code != BATCH_NOT_STARTED:
                raise
            return answers.describe_batch(refusal.details["batch"], "price_changed")
        return answers.describe_batch(facts)

    async def spend(self, row: Quote) -> dict[str, Any] | None:
        """Send what the quote is for. Returns an answer if nothing was charged."""
        asked = rows.request_of(row)
        await in_thread(check_call, self.call, asked.operation)
        self.call.quote_id = f"quote_{row.pk.hex}"
        try:
            async with asyncio.timeout(MAKE_S):
                answer = await self.gateway.send(self.call, asked, None)
        except TimeoutError:
            return None
        except AgentCreditsUsedUp as used_up:
            return answers.build("paused", raise_url=used_up.url)
        except GatewayRefusal as refusal:
            status = QUOTE_REFUSALS.get(refusal.code)
            if status is None and refusal.code != "QUOTE-IN-USE":
                raise
            if status is None:
                return None
            new = await in_thread(quotes.find_quote, row.key, refusal.details["quote"]["quote"])
            return await self.show_quote(new or row, status)
        if answer.status >= 400 and self.call.charge is None:
            raise refused_by_service(answer)
        return None

    async def describe_outcome(self, charge: Charge) -> dict[str, Any]:
        """What is known of a charge and of what it makes."""
        charge = await in_thread(rows.read_charge, charge.pk)
        status = STATES.get(ChargeState(charge.state), "charged")
        approval = await in_thread(team_rules().approval_url, charge)
        job, row = charge.job, await in_thread(rows.quote_of, charge)
        writes_script = get_operation(charge.operation).writes_script
        if charge.state in CHARGED_STATES and writes_script and row is not None:
            latest = await in_thread(rows.find_step, self.call.key, row.order)
            return await self.go_on(*(latest or (row, charge)))
        if status == "charged" and job is not None:
            await in_thread(job.refresh_from_db)
            status = JOB_STATES.get(JobState(job.state), job.state)
        parts = {"job": answers.describe_job(job)} if job is not None else {}
        paid = answers.describe_charge(charge)
        return answers.build(status, charge=paid, approval_url=approval, **parts)

    async def wait(self, id: UUID, seconds: float) -> dict[str, Any]:
        """Wait for the end of a charge, of a batch, or of what makes the job with this id."""
        end = time.monotonic() + min(max(seconds, 0.0), MAX_WAIT_S)
        found = await in_thread(rows.find_waited, self.call.key, id)
        while True:
            await in_thread(self.check_read)  # a wait may last longer than a right
            answer = await self.read_outcome(found)
            left = end - time.monotonic()
            if answer["status"] not in answers.WAITING or left <= 0:
                return answer
            if answer["status"] == "in_progress" and isinstance(found, Charge):
                await self.gateway.endings.wait(found.pk, min(left, LOOK_EVERY_S))
            else:
                every = LOOK_AT_BATCH_EVERY_S if "batch" in answer else LOOK_EVERY_S
                await asyncio.sleep(min(left, every))

    async def read_outcome(self, found: Charge | Job | UUID) -> dict[str, Any]:
        if isinstance(found, UUID):
            items = await in_thread(team_rules().find_items, self.call.key, found)
            if items is not None:
                return answers.describe_items(items)
            return answers.describe_batch(await in_thread(site().show_batch, self.call.key, found))
        if isinstance(found, Charge):
            return await self.describe_outcome(found)
        await in_thread(found.refresh_from_db)
        status = JOB_STATES.get(JobState(found.state), found.state)
        return answers.build(status, job=answers.describe_job(found))

    async def show(self, id: UUID) -> dict[str, Any]:
        await in_thread(self.check_read)
        return await in_thread(rows.show_job, self.call.key, id)

    async def list_jobs(self, filters: Mapping[str, Any]) -> dict[str, Any]:
        await in_thread(self.check_read)
        return await in_thread(rows.list_jobs, self.call.key, filters)

    async def credits(self) -> dict[str, Any]:
        await in_thread(self.check_read)
        return await in_thread(rows.show_credits, self.call.key)

    async def request_approval(
        self, items: int, credits: Decimal, hours: int, reason: str
    ) -> dict[str, Any]:
        key = self.call.key
        await in_thread(check_call, self.call, get_operation(RENDER_OPERATION))
        asked = partial(team_rules().request_items, key, items=items, credits=credits)
        return answers.describe_items(await in_thread(asked, hours=hours, reason=reason))

    async def cancel_approval(self, id: UUID) -> dict[str, Any]:
        if await in_thread(team_rules().find_items, self.call.key, id):
            await in_thread(team_rules().withdraw_items, self.call.key, id)
            return await self.read_outcome(id)
        found = await in_thread(rows.find_waited, self.call.key, id)
        if isinstance(found, UUID):
            await in_thread(check_key, self.call.key, KeyScope.CREATE, changes=True)
            await in_thread(site().change_batch, self.call.key, id, "cancel", {})
            return await self.read_outcome(found)
        await in_thread(charge_of_key, self.call.key, id, True)
        return await self.read_outcome(await in_thread(rows.find_waited, self.call.key, id))

    async def find_options(self, group: str, search: str) -> dict[str, Any]:
        """Values of one group that the service offers, or the groups with their sizes."""
        name = CLIP_MODELS_OPERATION if group == "clip_models" else OPTIONS_OPERATION
        asked = ServiceRequest(get_operation(name), {}, {}, None)
        await in_thread(check_call, self.call, asked.operation)
        try:
            data = await self.gateway.service.fetch_data(self.call, asked)
        except errors.UpstreamError as error:
            raise refused_by_service(answer_of_error(error)) from None
        return rows.choose_options(data, group, search)

    def check_read(self) -> None:
        active = ApiKey.objects.active(timezone.now()).select_related("tenant")
        key = active.filter(pk=self.call.key.pk).first()
        if key is None:
            raise GatewayRefusal(401, "GEN-UNAUTHORIZED", UNKNOWN_KEY)
        check_key(key, KeyScope.READ, changes=False)
        team_rules().check_access(key, get_operation(READ_OPERATION))
