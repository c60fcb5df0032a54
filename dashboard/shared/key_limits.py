"""What the credit limits of an API key leave: spent + held credits of its own charges, as budgets
count them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q, Sum
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AgentApproval, BudgetPeriod, Team
from dashboard.shared.budget_usage import (
    PERIOD_NAMES,
    ApprovalRequired,
    PeriodBounds,
    approver_hint,
    counted_charges,
    period_bounds,
)
from proxyapi.models import ApiKey, KeyScope, Token
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES
from proxyapi.refusals import AgentCreditsUsedUp, NotReady, SpendingLimit, format_credits

ALLOWANCE, CHARGE_LIMIT = "key allowance", "key charge"  # keys of `SpendingLimit`
KEY_ENDED = "The {noun} “{name}” was paused, has ended, or may not charge any more."
KEY_OF_OTHER_TOKEN = "The {noun} “{name}” runs on another token than the one that batches use."  # noqa: S105
KEY_LIMIT_FIELDS = {BudgetPeriod.DAY: "daily_limit", BudgetPeriod.MONTH: "monthly_limit"}


class KeyLimitExceeded(ApprovalRequired):
    """A limit of the script's key would be exceeded."""

    is_for_scripts = True

    def __init__(self, needed: Decimal, limit: SpendingLimit, approvers: Sequence[str]) -> None:
        left = format_credits(max(limit.remaining, Decimal(0)))
        if limit.key == CHARGE_LIMIT:
            why = f"and this key may charge at most {left} at once."
        else:
            period = PERIOD_NAMES[BudgetPeriod(limit.key.partition(" ")[2])]
            why = f"and {left} are left of the key’s limit {period}."
        super().__init__(f"It needs {format_credits(needed)} cr, {why} {approver_hint(approvers)}")


def find_used_up(limits: Sequence[SpendingLimit], needed: Decimal) -> AgentCreditsUsedUp | None:
    """The refusal if a charge that holds so many credits does not fit the key's allowance."""
    for limit in limits:
        if limit.key == ALLOWANCE and needed > limit.remaining:
            url = f"{settings.PORTAL_URL}{reverse('agents')}"
            return AgentCreditsUsedUp(needed, max(limit.remaining, Decimal(0)), url)
    return None


def require_usable_key(key: ApiKey | None, token: Token | None) -> None:
    """Raise `NotReady` unless this key may charge now, and on this token. None is a person."""
    if key is None:
        return
    now = timezone.now()
    is_active = ApiKey.objects.active(now).filter(pk=key.pk, paused_at=None).exists()
    if not is_active or not key.has_scope(KeyScope.RENDER):
        raise NotReady(KEY_ENDED.format(noun=key.noun, name=key.name))
    if key.token_id and token and key.token_id != token.pk:
        raise NotReady(KEY_OF_OTHER_TOKEN.format(noun=key.noun, name=key.name))


def load_key_limits(team: Team, key: ApiKey, at: datetime) -> tuple[SpendingLimit, ...]:
    """Return what the key may still spend today, this month and until it expires, and at once; one
    query for each sum."""
    limits = [
        SpendingLimit(f"key {period}", limit - spent_and_held(team, key, bounds))
        for period, field in KEY_LIMIT_FIELDS.items()
        if (limit := getattr(key, field)) is not None
        and (bounds := period_bounds(period, team.tenant.zone, at))
    ]
    if key.allowance is not None:
        whole = PeriodBounds(key.created_at, at + timedelta(days=1))
        # What a person approved apart from it counts there.
        left = key.allowance - spent_and_held(team, key, whole, approval_item=None)
        limits.append(SpendingLimit(ALLOWANCE, left))
    if key.charge_limit is not None:
        limits.append(SpendingLimit(CHARGE_LIMIT, key.charge_limit))
    return tuple(limits)


def load_agent_approvals(key: ApiKey, at: datetime) -> list[AgentApproval]:
    """The approvals of several items that are in force, the first to end first. One query."""
    rows = AgentApproval.objects.filter(key=key).with_usage().open(at).exclude(decision="")
    return list(rows.order_by("expires_at"))


def spent_and_held(team: Team, key: ApiKey, bounds: PeriodBounds, **filters: object) -> Decimal:
    """Return the credits that the key spent and holds of charges created in this time."""
    charges = counted_charges(team, bounds)
    sums = charges.filter(api_key=key, **filters).aggregate(
        spent=Sum("cost", filter=Q(state__in=CHARGED_STATES)),
        held=Sum("hold", filter=Q(state__in=HOLDING_STATES)),
    )
    return quantize_credits(sums["spent"]) + quantize_credits(sums["held"])


def sum_credits(
    team: Team, agents: Collection[ApiKey]
) -> dict[Any, tuple[Decimal, Decimal, Decimal]]:
    """The credits that each agent spent and holds of its allowance since it was connected, and all
    that it spent. One query."""
    now = timezone.now()
    start = min((agent.created_at for agent in agents), default=now)
    charges = counted_charges(team, PeriodBounds(start, now + timedelta(days=1)))
    rows = charges.filter(api_key__in=[agent.pk for agent in agents]).values("api_key")
    sums = rows.annotate(
        spent=Sum("cost", filter=Q(state__in=CHARGED_STATES, approval_item=None)),
        held=Sum("hold", filter=Q(state__in=HOLDING_STATES, approval_item=None)),
        whole=Sum("cost", filter=Q(state__in=CHARGED_STATES)),
    )
    return {
        row["api_key"]: (
            quantize_credits(row["spent"]),
            quantize_credits(row["held"]),
            quantize_credits(row["whole"]),
        )
        for row in sums
    }
