"""What the tools read of the database; every function runs in a thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from proxyapi.gateway import quotes
from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.gateway.site import site
from proxyapi.gateway.team_rules import team_rules
from proxyapi.mcp_server import answers
from proxyapi.models import ApiKey, Charge, ChargeState, Job, KeyScope, Quote
from proxyapi.operations import get_operation
from proxyapi.upstream.response_parsing import as_mapping

MAX_ROWS, MAX_OPTIONS, MAX_OPEN_QUOTES, MAX_CHARGES = 20, 40, 5, 5
MAX_SCRIPT_CHARS = 2000
OPTION_FIELDS = ("id", "uuid", "slug", "name", "label", "language", "gender", "type", "cost")
NOT_FOUND = "Nothing with this id exists here. Call list_videos for what there is."
UNKNOWN_GROUP = "There is no group of this name. Without a group find_options names all."


def find_step(key: ApiKey, order: str) -> tuple[Quote, Charge | None] | None:
    """The last step of an order, with the charge that it was spent on unless that was refused;
    None if it was never quoted. A render comes after its script."""
    quoted = Quote.objects.select_related("key", "account").filter(key=key, order=order)
    rows = list(quoted.order_by("-expires_at"))
    charges = Charge.objects.select_related("job", "answer").filter(api_key=key)
    charges = charges.filter(tenant=key.tenant_id, nonce__in=[row.pk for row in rows]).exclude(
        state=ChargeState.REFUSED
    )
    by_quote = {charge.nonce: charge for charge in charges}
    rows.sort(key=lambda row: (get_operation(row.operation).writes_script, row.pk not in by_quote))
    return (rows[0], by_quote.get(rows[0].pk)) if rows else None


def read_charge(id: UUID) -> Charge:
    rows = Charge.objects.select_related("job", "account", "token", "answer")
    return rows.get(pk=id)


def quote_of(charge: Charge) -> Quote | None:
    """The agent's quote that the charge was made with."""
    rows = Quote.objects.select_related("key", "account").exclude(order="")
    return rows.filter(pk=charge.nonce, key=charge.api_key_id).first()


def request_of(quote: Quote) -> ServiceRequest:
    kept = quote.request or {}
    return ServiceRequest(get_operation(quote.operation), kept["path"], {}, kept["fields"])


def describe_quote(key: ApiKey, quote: Quote) -> dict[str, Any]:
    facts = quotes.describe_quote(key, quote, None)
    return answers.describe_quote(quote, facts)


def open_quotes(key: ApiKey) -> list[dict[str, Any]]:
    """The newest quotes of the key that were not spent."""
    rows = Quote.objects.select_related("key", "account").filter(key=key).exclude(order="")
    rows = rows.filter(expires_at__gt=timezone.now()).order_by("-expires_at")
    unspent = [row for row in rows[: 4 * MAX_OPEN_QUOTES] if not row.charges.exists()]
    return [describe_quote(key, row) for row in unspent[:MAX_OPEN_QUOTES]]


def find_script(charge: Charge) -> str:
    """The text that a charge for a script brought, shortened."""
    stored = getattr(charge, "answer", None)
    try:
        data = as_mapping(json.loads(bytes(stored.body))["data"]) if stored else {}
    except (ValueError, KeyError, TypeError):
        data = {}
    script = as_mapping(data.get("faceless")).get("script") or data.get("script")
    return str(script or "")[:MAX_SCRIPT_CHARS]


def find_charge_or_job(key: ApiKey, id: UUID) -> Charge | Job:
    """The charge of the key, or of its owner, or the job of the team. Raises `GatewayRefusal`."""
    charge = Charge.objects.filter(pk=id, tenant=key.tenant_id, api_key=key).first()
    if charge is not None:
        return charge
    return find_job(key, id)


def find_waited(key: ApiKey, id: UUID) -> Charge | Job | UUID:
    """As `find_charge_or_job`; of an approval for several items, and of a batch, the id."""
    if team_rules().find_items(key, id):
        return id
    try:
        return find_charge_or_job(key, id)
    except GatewayRefusal as missing:
        try:
            site().show_batch(key, id)
        except GatewayRefusal:
            raise missing from None
        return id


def find_job(key: ApiKey, id: UUID) -> Job:
    job = Job.objects.visible().filter(tenant=key.tenant_id, pk=id).first()
    if job is None:
        raise GatewayRefusal(404, "GEN-NOT-FOUND", NOT_FOUND)
    return job


def show_job(key: ApiKey, id: UUID) -> dict[str, Any]:
    job = find_job(key, id)
    charges = job.charges.select_related("answer").order_by("-created_at")[:MAX_CHARGES]
    script = next((text for charge in charges if (text := find_script(charge))), "")
    described = answers.describe_job(job)
    described["charges"] = [answers.describe_charge(charge) for charge in charges]
    return answers.build("ok", job=described, script=script)


def list_jobs(key: ApiKey, filters: Mapping[str, Any]) -> dict[str, Any]:
    """The newest videos of the team, or of this key alone."""
    rows = Job.objects.visible().videos().filter(tenant=key.tenant_id)
    if filters["only_own"]:
        rows = rows.filter(api_key=key)
    if filters["state"]:
        rows = rows.filter(state=filters["state"])
    if filters["search"]:
        rows = rows.filter(title__icontains=filters["search"])
    start = filters["offset"]
    found = list(rows.order_by("-created_at", "-id")[start : start + MAX_ROWS + 1])
    more = start + MAX_ROWS if len(found) > MAX_ROWS else None
    return answers.build("ok", jobs=answers.describe_jobs(found[:MAX_ROWS]), more=more)


def show_credits(key: ApiKey) -> dict[str, Any]:
    left: dict[str, Any] = {"may_still_spend": team_rules().spendable(key)}
    if key.has_scope(KeyScope.CREDITS):
        left["balance"] = team_rules().find_token(key).account.available_balance()
    left["until"] = key.expires_at
    left["paused"] = key.paused_at is not None
    return answers.build("ok", credits=left)


def choose_options(data: Any, group: str, search: str) -> dict[str, Any]:
    """The items of a group whose texts have `search` in them; the groups without one."""
    if group == "clip_models":
        groups = {group: data if isinstance(data, list) else as_mapping(data).get("models") or []}
    else:
        layers = [as_mapping(data).get(layer) for layer in ("mandatory", "optional")]
        groups = {name: items for layer in layers for name, items in as_mapping(layer).items()}
    if not group:
        sizes = {name: len(items) for name, items in groups.items()}
        return answers.build("ok", options={"groups": {**sizes, "clip_models": None}})
    if group not in groups:
        raise GatewayRefusal(404, "GEN-NOT-FOUND", UNKNOWN_GROUP)
    items = [as_mapping(item) for item in groups[group]]
    found = [item for item in items if search.casefold() in str(item).casefold()]
    shown = found if group == "clip_models" else [short_option(item) for item in found]
    limit = 6 if group == "clip_models" else MAX_OPTIONS
    more = max(0, len(found) - limit) or None
    return answers.build("ok", options={group: shown[:limit]}, more=more)


def short_option(item: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: item[name] for name in OPTION_FIELDS if item.get(name) is not None}
    return {name: part if isinstance(part, int) else part_text(part) for name, part in kept.items()}


def part_text(part: Any) -> Any:
    return answers.short(part, 60) if isinstance(part, str) else part
