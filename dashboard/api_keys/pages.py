"""The API keys of a team as a reader sees them: what they spend, their state, what may be done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.utils import timezone

from dashboard.models import AuditAction, AuditEvent, BudgetPeriod, Membership
from dashboard.shared.access import (
    KeyRight,
    has_permission,
    key_rights,
    sees_all_keys,
    visible_keys,
)
from dashboard.shared.budget_usage import counted_charges, period_bounds
from dashboard.shared.formatting import clock, credits, day
from dashboard.shared.lists import slice_list
from dashboard.shared.member_token import has_member_token
from dashboard.shared.query_params import (
    PageFilters,
    choice_field,
    number_field,
    offset_field,
    search_field,
)
from dashboard.shared.roles import Permission, role_allows
from proxyapi.gateway.answers import API_PATH
from proxyapi.models import ApiKey, Charge, GatewayRequest, JobState, KeyScope, Token
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES

MIN_KEYS_FOR_FILTERS, KEYS_PER_PAGE, MAX_ENDED_SHOWN = 21, 50, 20
EXPIRES_SOON = timedelta(days=7)
ALERT_SHARE = Decimal("0.8")
LIMIT_PERIODS = (("monthly_limit", "month", "this month"), ("daily_limit", "day", "today"))
STATE_OPTIONS = {"": "any", "completed": "active", "late": "near a limit or its end"}
STATE_OPTIONS |= {"failed": "at its limit", "running": "rotating", "paused": "paused or stopped"}


@dataclass(frozen=True, slots=True)
class KeyFilters(PageFilters):
    PAGE: ClassVar[str] = "api-keys"
    CURSOR: ClassVar[str] = "offset"
    ID: ClassVar[str] = "key"

    search: str = search_field()
    state: str = choice_field(STATE_OPTIONS, "State")
    owner: int | None = number_field("Member", unset="anybody")
    offset: int | None = offset_field()


def load_keys_page(reader: Membership, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the keys that are accepted, by name, and `ended`: revoked and expired ones, the newest
    first. Nine queries at most."""
    now, filters = timezone.now(), KeyFilters.parse(query)
    visible = visible_keys(reader).select_related("owner", "token__account").order_by("name", "pk")
    keys = list(visible.active(now))  # type: ignore[attr-defined]  # of ApiKeyQuerySet
    rows = build_key_rows(reader, keys, now)
    matching = [row for row in rows if matches(row, filters)]
    owners = {str(key.owner_id): str(key.owner) for key in keys}
    owner = owners if sees_all_keys(reader) else None
    page = slice_list(filters, matching, KEYS_PER_PAGE, owner=owner)
    page.has_filters = len(rows) >= MIN_KEYS_FOR_FILTERS
    may_create = has_permission(reader, Permission.RENDER)
    return {
        "list": page,
        "count": len(rows),
        "month": f"{timezone.localtime(now):%B}",
        "ended": load_ended_keys(reader, now),
        "may_create": may_create,
        "has_token": not may_create or has_member_token(reader),
        "base_url": base_url(),
        "service_url": settings.VIDEO_API_BASE_URL,
    }


def matches(row: dict[str, Any], filters: KeyFilters) -> bool:
    key: ApiKey = row["key"]
    text = f"{key.name} {key.prefix} {key.last_four} {key.owner}".lower()
    return (
        filters.search.lower() in text
        and filters.state in ("", row["state"]["state"])
        and filters.owner in (None, key.owner_id)
    )


def build_key_rows(
    reader: Membership, keys: Iterable[ApiKey], now: datetime
) -> list[dict[str, Any]]:
    """Four queries."""
    keys = list(keys)
    if not keys:
        return []
    sums, requests = load_key_sums(reader, now), count_requests_today(reader, now)
    tenant = reader.team.tenant_id
    usable = Token.objects.usable().filter(tenant=tenant).values_list("pk", "owner_id")
    usable_ids = {pk for pk, _ in usable}
    owners_with_token = {owner for _, owner in usable}
    makers = {
        user_id
        for user_id, role in reader.team.memberships.values_list("user_id", "role")
        if role_allows(role, Permission.RENDER)
    }
    rows = []
    for key in keys:
        limits = build_limits(key, sums.get(key.pk, {}))
        runs = key.token_id in usable_ids if key.token_id else key.owner_id in owners_with_token
        rows.append(
            {
                **describe_key(reader, key),
                "spent": sums.get(key.pk, {}).get("month_spent", Decimal(0)),
                "held": sums.get(key.pk, {}).get("month_held", Decimal(0)),
                "limits": limits,
                "requests": requests.get(key.pk, 0),
                "state": build_key_state(key, limits, now, runs, key.owner_id in makers),
            }
        )
    return rows


def describe_key(reader: Membership, key: ApiKey) -> dict[str, Any]:
    """What the rows of keys and of agents have alike."""
    rights = key_rights(reader, key)
    return {
        "key": key,
        "is_mine": key.owner_id == reader.user_id,
        "scopes": [scope for scope in KeyScope.values if scope in key.scopes],
        "spends": key.has_scope(KeyScope.RENDER),
        "may_edit": KeyRight.EDIT in rights,
        "may_limit": KeyRight.LIMIT in rights,
        "may_pause": KeyRight.PAUSE in rights,
        "may_revoke": KeyRight.REVOKE in rights,
    }


def load_key_sums(reader: Membership, now: datetime) -> dict[UUID, dict[str, Decimal]]:
    """Return the credits that each key spent and holds this month and today. One query."""
    team = reader.team
    month = period_bounds(BudgetPeriod.MONTH, team.tenant.zone, now)
    today = Q(created_at__gte=period_bounds(BudgetPeriod.DAY, team.tenant.zone, now).start)
    spent, held = Q(state__in=CHARGED_STATES), Q(state__in=HOLDING_STATES)
    rows = counted_charges(team, month).filter(api_key__isnull=False).values("api_key")
    sums = rows.annotate(
        month_spent=Sum("cost", filter=spent),
        month_held=Sum("hold", filter=held),
        day_spent=Sum("cost", filter=spent & today),
        day_held=Sum("hold", filter=held & today),
    )
    names = ("month_spent", "month_held", "day_spent", "day_held")
    return {
        row["api_key"]: {name: quantize_credits(row[name]) for name in names}  # type: ignore[literal-required]
        for row in sums
    }


def count_requests_today(reader: Membership, now: datetime) -> dict[UUID, int]:
    today = period_bounds(BudgetPeriod.DAY, reader.team.tenant.zone, now)
    requests = GatewayRequest.objects.filter(tenant=reader.team.tenant_id)
    counts = requests.filter(received_at__gte=today.start).order_by().values_list("key")
    return dict(counts.annotate(count=Count("pk")))


def build_limits(key: ApiKey, sums: Mapping[str, Decimal]) -> list[dict[str, Any]]:
    """The limits that the key has, with the figures of their meters. A limit of 0 is meant, so that
    it is reached is no problem."""
    limits = []
    for field, period, words in LIMIT_PERIODS:
        limit = getattr(key, field)
        if limit is None:
            continue
        spent = sums.get(f"{period}_spent", Decimal(0))
        held = sums.get(f"{period}_held", Decimal(0))
        limits.append(build_limit(limit, spent, held, words))
    return limits


def build_limit(limit: Decimal, spent: Decimal, held: Decimal, words: str) -> dict[str, Any]:
    share = (spent + held) / limit if limit else Decimal(0)
    width = Decimal(100) / max(limit, spent + held, Decimal(1))
    return {
        "limit": limit,
        "spent": spent,
        "held": held,
        "words": words,
        "share": share,
        "state": "failed" if share >= 1 else "late" if share >= ALERT_SHARE else "",
        "spent_width": f"{spent * width:.2f}%",
        "held_width": f"{held * width:.2f}%",
        "sentence": f"{credits(spent)} spent and {credits(held)} held of {credits(limit)} {words}",
    }


def paused_text(key: ApiKey, cancelled: int) -> str:
    """The message after a pause that cancelled so many charges."""
    text = f"{key.name} is paused. It charges and changes nothing."
    if not cancelled:
        return text
    verb = "was" if cancelled == 1 else "were"
    return f"{text} {cancelled} of its charges, not sent yet, {verb} cancelled."


def build_key_state(
    key: ApiKey, limits: list[dict[str, Any]], now: datetime, runs: bool, owner_may: bool
) -> dict[str, str]:
    """What stops the key comes first, then what will."""
    until = f"until {day(key.expires_at)}" if key.expires_at else "does not expire"
    nothing: dict[str, Any] = {"state": "", "share": 0}
    fullest = max(limits, key=lambda limit: limit["share"], default=nothing)
    if key.paused_at is not None:
        state = ("paused", "Paused", f"since {clock(key.paused_at)}, reads still work")
    elif not runs:
        state = ("paused", "Token stopped", "answers with an error")
    elif not owner_may and set(key.scopes) & {KeyScope.CREATE, KeyScope.RENDER}:
        state = ("paused", "Reads only", f"{key.owner.first_name} may not create videos")
    elif fullest["state"] == "failed":
        state = ("failed", "At its limit", f"{fullest['words']}, {until}")
    elif key.previous_until is not None and key.previous_until > now:
        state = ("running", "Rotating", f"old value until {clock(key.previous_until)}")
    elif key.expires_at is not None and key.expires_at - now <= EXPIRES_SOON:
        state = ("late", expires_in_text(key.expires_at - now), until)
    elif fullest["state"] == "late":
        state = ("late", f"{fullest['share'] * 100:.0f} % of limit", until)
    else:
        state = ("completed", "Active", until)
    return dict(zip(("state", "word", "note"), state, strict=True))


def expires_in_text(left: timedelta) -> str:
    days = left.days
    return f"Expires in {days} day{'' if days == 1 else 's'}" if days else "Expires within a day"


def load_ended_keys(reader: Membership, now: datetime) -> list[dict[str, Any]]:
    """Return keys that are no longer accepted, the newest first, with what they spent. Three
    queries, one if there is none."""
    ended = visible_keys(reader).filter(Q(revoked_at__isnull=False) | Q(expires_at__lte=now))
    keys = list(ended.select_related("owner").order_by("-created_at")[:MAX_ENDED_SHOWN])
    if not keys:
        return []
    charges = Charge.objects.filter(tenant=reader.team.tenant_id, api_key__in=keys)
    charged = charges.filter(state__in=CHARGED_STATES, refunded_at=None).order_by()
    spent = dict(charged.values_list("api_key").annotate(spent=Sum("cost")))
    revocations = AuditEvent.objects.filter(
        team_id=reader.team_id,
        action=AuditAction.API_KEY_REVOKE,
        target__in=[str(key.pk) for key in keys],
    )
    by_target = {event.target: event for event in revocations}
    return [
        {
            "key": key,
            "spent": quantize_credits(spent.get(key.pk)),
            "event": by_target.get(str(key.pk)),
        }
        for key in keys
    ]


def load_revocation(reader: Membership, key: ApiKey) -> dict[str, Any]:
    """What the dialog says of a key before its end. Three queries."""
    now = timezone.now()
    charges = Charge.objects.filter(tenant=reader.team.tenant_id, api_key=key)
    running = key.jobs.filter(tenant=reader.team.tenant_id, state=JobState.RUNNING)
    return {
        "key": key,
        "requests": count_requests_today(reader, now).get(key.pk, 0),
        "running": running.count(),
        "waiting": charges.filter(state__in=("draft", "held")).count(),
    }


def base_url() -> str:
    """The address that a script uses in place of the service's."""
    return f"{settings.PORTAL_URL.rstrip('/')}{API_PATH}"
