"""What the team's last renders cost, by type and length."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from statistics import median_low

from django.db.models.fields.json import KeyTextTransform

from proxyapi.models import Charge, ChargeState, Tenant
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.models.duration_class import length_class_of
from proxyapi.operations import FACELESS_RENDER_OPERATIONS
from proxyapi.upstream.errors import FeatureNotAllowed

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
    """`by_class`: costs by type and length class, the newest first. `refused_types`: types whose
    last render the service refused because the plan does not have them."""

    by_class: dict[tuple[str, int], tuple[Decimal, ...]]
    refused_types: frozenset[str]

    def exact_length(self, type_: str, seconds: float) -> PastCost | None:
        """Return the costs of renders of this type and length; None without any."""
        length_s = length_class_of(seconds)
        costs = self.by_class.get((type_, length_s))
        return PastCost(costs[:MAX_COMPARED_RENDERS], length_s) if costs else None

    def best_known(self, type_: str, seconds: float) -> PastCost | None:
        """Return the costs for this length, else for the length that was rendered most often."""
        if known := self.exact_length(type_, seconds):
            return known
        lengths = {
            length: costs for (other, length), costs in self.by_class.items() if other == type_
        }
        if not lengths:
            return None
        length_s = max(lengths, key=lambda length: len(lengths[length]))
        return PastCost(lengths[length_s][:MAX_COMPARED_RENDERS], length_s)


def median_costs_by_type(tenant: Tenant, seconds: int) -> dict[str, Decimal]:
    """Return what the team's last renders of this length cost by type, in credits. One query."""
    costs = load_past_costs(tenant)
    known = ((type_, costs.exact_length(type_, seconds)) for type_, _ in costs.by_class)
    return {type_: cost.median for type_, cost in known if cost}


def load_past_costs(tenant: Tenant) -> PastCosts:
    """One query, for the team's last 300 renders."""
    renders = Charge.objects.filter(tenant=tenant, operation__in=FACELESS_RENDER_OPERATIONS)
    ended = renders.filter(state__in=CHARGED_STATES) | renders.filter(
        state=ChargeState.REFUSED, code=FeatureNotAllowed.code
    )
    rows = ended.order_by("-settled_at", "-created_at").values_list(
        KeyTextTransform("type", "job__draft__settings"),
        "job__subtype",
        "job__length",
        "state",
        "cost",
    )
    by_class: dict[tuple[str, int], tuple[Decimal, ...]] = {}
    is_refused: dict[str, bool] = {}
    for draft_type, subtype, length_s, state, cost in rows[:MAX_READ_CHARGES]:
        type_ = draft_type or subtype
        is_refused.setdefault(type_, state == ChargeState.REFUSED)
        if cost and length_s:
            key = (type_, length_s)
            by_class[key] = (*by_class.get(key, ()), cost)
    refused = frozenset(type_ for type_, refused in is_refused.items() if refused)
    return PastCosts(by_class, refused)
