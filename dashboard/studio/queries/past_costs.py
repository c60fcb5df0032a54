"""What the team's last renders cost, by type, length and engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median_low
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.fields.json import KeyTextTransform

from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows import FLOWS, chosen_combination
from proxyapi.models import Charge, ChargeState, Tenant
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.models.duration_class import length_class_of
from proxyapi.operations import FACELESS_RENDER_OPERATIONS, SCRIPT_OPERATIONS
from proxyapi.upstream.errors import FeatureNotAllowed

CLIP_FIELDS = ("clip_engine_id", "resolution", "audio")
ENGINE_FIELDS = (*CLIP_FIELDS, "image_engine_id")  # they multiply the price of a type that has them
MAX_READ_CHARGES = 300
MAX_COMPARED_RENDERS = 40


@dataclass(frozen=True, slots=True)
class PastCost:
    """The costs, in credits, of the last renders of one type and about one length."""

    costs: tuple[Decimal, ...]
    length_s: int  # upper end of the length class

    @property
    def median(self) -> Decimal:
        """Return a cost that was really paid: with an even number, the lower of the two."""
        return median_low(self.costs)

    @property
    def low(self) -> Decimal:
        return min(self.costs)

    @property
    def high(self) -> Decimal:
        return max(self.costs)


@dataclass(frozen=True, slots=True)
class PastCosts:
    """`by_class`: costs by type, length class and `engine_key`, the newest first. `by_request`: the
    same by the seconds that were asked for when the service wrote the script.
    `refused_types`: types whose last render the service refused because the plan does not have
    them."""

    by_class: dict[tuple[str, int, str], tuple[Decimal, ...]]
    refused_types: frozenset[str]
    by_request: dict[tuple[str, int, str], tuple[Decimal, ...]] = field(default_factory=dict)

    def exact_length(self, chosen: Mapping[str, object], seconds: float) -> PastCost | None:
        """Return the costs of renders of this type, engine and length; None without any."""
        length_s = length_class_of(seconds)
        costs = self.by_class.get((str(chosen.get("type")), length_s, engine_key(chosen)))
        return PastCost(costs[:MAX_COMPARED_RENDERS], length_s) if costs else None

    def for_request(self, chosen: Mapping[str, object], seconds: int) -> PastCost | None:
        """Return the costs of renders whose script was written for so many seconds; None without
        any. Such a script is often longer than that, and of the next class then."""
        costs = self.by_request.get((str(chosen.get("type")), seconds, engine_key(chosen)))
        return PastCost(costs[:MAX_COMPARED_RENDERS], length_class_of(seconds)) if costs else None

    def best_known(self, chosen: Mapping[str, object], seconds: float) -> PastCost | None:
        """Return the costs for this length, else for the length that was rendered most often."""
        if known := self.exact_length(chosen, seconds):
            return known
        wanted = (str(chosen.get("type")), engine_key(chosen))
        lengths = {
            length: costs
            for (type_, length, engine), costs in self.by_class.items()
            if (type_, engine) == wanted
        }
        if not lengths:
            return None
        length_s = max(lengths, key=lambda length: len(lengths[length]))
        return PastCost(lengths[length_s][:MAX_COMPARED_RENDERS], length_s)


def engine_key(chosen: Mapping[str, object]) -> str:
    """Return the engine of a video's settings as far as its type has one: two videos of one type
    and length cost the same only with the same engine."""
    flow = FLOWS.get(str(chosen.get("type")))
    own = [name for name in ENGINE_FIELDS if flow and name in flow.settings]
    return "/".join(str(chosen.get(name) or "") for name in own)


def expected_render_cost(
    costs: PastCosts, chosen: dict[str, Any], seconds: float, options: FacelessOptions
) -> Decimal | None:
    """Return about what a render with these settings will cost, in credits: what renders like it
    cost, else the price per second of its clip engine. None if nothing is known."""
    if past := costs.exact_length(chosen, seconds):
        return past.median
    has_clips = CLIP_FIELDS[0] in FLOWS[str(chosen["type"])].settings
    engine = options.clip_engine(chosen.get(CLIP_FIELDS[0])) if has_clips else None
    offered = engine.offered.get(chosen_combination(chosen).value) if engine else None
    rate = offered.credits_per_second if offered else None
    return None if rate is None else rate * math.ceil(seconds)


def median_costs_by_type(
    tenant: Tenant, chosen: Mapping[str, object], seconds: int
) -> dict[str, Decimal]:
    """Return what the team's last renders of this length cost, in credits, for each type that a
    draft with these settings may be changed to. One query."""
    costs = load_past_costs(tenant)
    known = {type_: costs.exact_length({**chosen, "type": type_}, seconds) for type_ in FLOWS}
    return {type_: cost.median for type_, cost in known.items() if cost}


def load_past_costs(tenant: Tenant) -> PastCosts:
    """One query, for the team's last 300 renders."""
    renders = Charge.objects.filter(tenant=tenant, operation__in=FACELESS_RENDER_OPERATIONS)
    ended = renders.filter(state__in=CHARGED_STATES) | renders.filter(
        state=ChargeState.REFUSED, code=FeatureNotAllowed.code
    )
    scripts = Charge.objects.filter(
        job=OuterRef("job"), operation__in=SCRIPT_OPERATIONS, state__in=CHARGED_STATES
    )
    duration = KeyTextTransform("duration", "body")
    requested = scripts.order_by("-created_at").values_list(duration)[:1]
    rows = ended.order_by("-settled_at", "-created_at").values_list(
        Subquery(requested),
        *(KeyTextTransform(name, "job__draft__settings") for name in ("type", *ENGINE_FIELDS)),
        "job__subtype",
        "job__length",
        "state",
        "cost",
    )
    by_class: dict[tuple[str, int, str], tuple[Decimal, ...]] = {}
    by_request: dict[tuple[str, int, str], tuple[Decimal, ...]] = {}
    is_refused: dict[str, bool] = {}
    for requested_s, draft_type, *engine, subtype, length_s, state, cost in rows[:MAX_READ_CHARGES]:
        type_ = draft_type or subtype
        is_refused.setdefault(type_, state == ChargeState.REFUSED)
        if cost and length_s:
            chosen = {"type": type_, **dict(zip(ENGINE_FIELDS, engine, strict=True))}
            for known, seconds in ((by_class, length_s), (by_request, parse_seconds(requested_s))):
                key = (type_, seconds, engine_key(chosen))
                known[key] = (*known.get(key, ()), cost)
    refused = frozenset(type_ for type_, refused in is_refused.items() if refused)
    return PastCosts(by_class, refused, by_request)


def parse_seconds(value: object) -> int:
    """Return the seconds of a request for a script, which may be a program's; 0 if it has none.
    SQLite gives a number, PostgreSQL its text."""
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 6 else 0
