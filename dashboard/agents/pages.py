"""The agents of a team as a reader sees them: what they spent, what is left, their state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from dashboard.agents.documents import is_document_address
from dashboard.api_keys.agent_tokens import agent_resource, find_connected
from dashboard.api_keys.pages import build_limit, describe_key
from dashboard.models import AgentApproval, Membership
from dashboard.shared.access import has_permission, visible_keys
from dashboard.shared.formatting import clock, day
from dashboard.shared.key_limits import sum_credits
from dashboard.shared.roles import Permission
from proxyapi.models import ApiKey, KeyScope

MAX_AGENTS, MAX_ENDED_SHOWN = 200, 20
EXPIRES_SOON = timedelta(days=1)


def load_agents_page(reader: Membership) -> dict[str, Any]:
    """Return the active agents by name, and `ended`: ended and expired ones, the newest first. Six
    queries at most."""
    now = timezone.now()
    agents = visible_keys(reader, agents=True).select_related("owner").order_by("name", "pk")
    active = list(agents.active(now)[:MAX_AGENTS])  # type: ignore[attr-defined]
    ids = [agent.pk for agent in active]
    ended = list(agents.exclude(pk__in=ids).order_by("-created_at")[:MAX_ENDED_SHOWN])
    sums = sum_credits(reader.team, [*active, *ended]) if active or ended else {}
    connected = find_connected(active) if active else set()

    approvals = load_approvals(active) if active else []

    def build(agent: ApiKey) -> dict[str, Any]:
        used = sums.get(agent.pk, (Decimal(0),) * 3)
        asked = [approval for approval in approvals if approval.key_id == agent.pk]
        return build_row(reader, agent, used, asked, is_connected=agent.pk in connected)

    return {
        "rows": [build(agent) for agent in active],
        "ended": [build(agent) for agent in ended],
        "server_url": agent_resource(),
        "may_render": has_permission(reader, Permission.RENDER),
    }


def load_approvals(agents: Collection[ApiKey]) -> list[AgentApproval]:
    """Of several items: those that wait, and those in force. One query."""
    rows = AgentApproval.objects.with_usage().open(timezone.now()).filter(key__in=agents)
    return list(rows.order_by("requested_at"))


def build_row(
    reader: Membership,
    agent: ApiKey,
    used: tuple[Decimal, Decimal, Decimal],
    approvals: Sequence[AgentApproval],
    *,
    is_connected: bool,
) -> dict[str, Any]:
    spent, held, whole = used
    allowance = agent.allowance or Decimal(0)
    limit = build_limit(allowance, spent, held, "in all")
    is_document = is_document_address(agent.client_id)
    return {
        **describe_key(reader, agent),
        "host": urlsplit(agent.client_id).netloc if is_document else "registered itself",
        "limits": [limit],
        "spent_in_all": whole,
        "approvals": approvals,
        "left": max(allowance - spent - held, Decimal(0)),
        "state": build_state(agent, limit, approvals, is_connected=is_connected),
    }


def build_state(
    agent: ApiKey,
    limit: Mapping[str, Any],
    approvals: Sequence[AgentApproval],
    *,
    is_connected: bool,
) -> dict[str, str]:
    """What stops the agent comes first, then what will. `limit` is its allowance."""
    until = f"until {day(agent.expires_at)}" if agent.expires_at else ""
    spends, now = agent.has_scope(KeyScope.RENDER), timezone.now()
    asks = any(not approval.decision for approval in approvals)
    if agent.revoked_at is not None:
        state = ("failed", "Ended", day(agent.revoked_at))
    elif agent.expires_at is not None and agent.expires_at <= now:
        state = ("failed", "Expired", day(agent.expires_at))
    elif not is_connected:  # its tokens ended, or it has not fetched them yet
        state = ("failed", "Not connected", "connect it again from its program")
    elif agent.paused_at is not None:
        state = ("paused", "Paused", f"since {clock(agent.paused_at)}, reads still work")
    elif asks:
        state = ("waiting", "Asks for approval", "decide on what it asks for")
    elif spends and limit["spent"] + limit["held"] >= limit["limit"]:
        state = ("paused", "Allowance used up", "raise it and it goes on")
    elif agent.expires_at is not None and agent.expires_at - now <= EXPIRES_SOON:
        state = ("late", "Expires within a day", until)
    elif spends and limit["state"]:
        state = ("late", f"{limit['share'] * 100:.0f} % of allowance", until)
    else:
        state = ("completed", "Active", until)
    return dict(zip(("state", "word", "note"), state, strict=True))
