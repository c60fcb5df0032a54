"""What the tabs of the alerts page read: the reader's alert history, the rules, the delivery."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.db.models import OuterRef, Subquery
from django.urls import reverse

from dashboard.alerts.forms import AlertRulesForm, WebhookForm
from dashboard.models import (
    ALERTS,
    AlertEvent,
    AlertKind,
    AlertRule,
    AlertWebhook,
    Delivery,
    DeliveryState,
    Membership,
)
from dashboard.shared.access import has_permission
from dashboard.shared.budget_usage import load_money_managers
from dashboard.shared.formatting import clock
from dashboard.shared.roles import Permission

MAX_ALERTS_SHOWN, MAX_DELIVERIES_SHOWN = 20, 15
RULE_ORDER = {kind.value: place for place, kind in enumerate(AlertKind)}
LOG_FILTERS = ("alerts", "events")
DELIVERY_STATE_LABELS = {
    DeliveryState.DUE: ("waiting", "Waiting"),
    DeliveryState.DELIVERED: ("completed", "Delivered"),
    DeliveryState.FAILED: ("failed", "Failed"),
}


def load_history(reader: Membership) -> dict[str, Any]:
    """One query."""
    manages_money = has_permission(reader, Permission.MANAGE_MONEY)
    events = AlertEvent.objects.visible_to(reader, money=manages_money)
    read_at = reader.alerts_read_at or reader.joined_at
    alerts: list[dict[str, Any]] = [
        {
            "event": event,
            "url": accessible_alert_url(event.url, reader),
            "is_unread": event.happened_at > read_at,
        }
        for event in events.order_by("-happened_at", "-pk")[:MAX_ALERTS_SHOWN]
    ]
    unread = sum(alert["is_unread"] for alert in alerts)
    return {"alerts": alerts, "unread": unread, "may_edit": manages_money}


def accessible_alert_url(url: str, reader: Membership) -> str:
    """The alert's URL; the forecast instead of the top-up page for readers who may not open
    that."""
    page, has_no_top_up = urlsplit(url), not has_permission(reader, Permission.MANAGE_MONEY)
    if has_no_top_up and page.path == reverse("top-up"):
        page = page._replace(path=reverse("forecast"))
    return page.geturl()


def load_rules(reader: Membership) -> dict[str, Any]:
    return {"rules": AlertRulesForm(load_alert_rules(reader))}


def load_alert_rules(reader: Membership) -> list[AlertRule]:
    """In the order of `AlertKind`, high thresholds first."""
    rules = AlertRule.objects.filter(team=reader.team_id)
    return sorted(rules, key=lambda rule: (RULE_ORDER[rule.kind], -rule.threshold))


def load_delivery(reader: Membership, only: str = "") -> dict[str, Any]:
    """Four queries."""
    return {
        **load_delivery_log(reader, only),
        "new_webhook": WebhookForm(),
        "recipients": [member.user.first_name for member in load_money_managers(reader.team)],
    }


def load_delivery_log(reader: Membership, only: str = "") -> dict[str, Any]:
    """`only` is "alerts" or "events"; anything else is both."""
    rows = Delivery.objects.filter(event__team=reader.team_id).select_related("event", "webhook")
    rows = rows.defer("attachment")
    if only in LOG_FILTERS:
        rows = rows.filter(event__api_event__isnull=only == "alerts")
    return {
        "only": only if only in LOG_FILTERS else "",
        "deliveries": [
            {**build_delivery_row(row), "webhook_name": row.webhook.name if row.webhook else ""}
            for row in rows.order_by("-created_at", "-pk")[:MAX_DELIVERIES_SHOWN]
        ],
        "webhooks": load_webhooks(reader),
    }


def load_webhooks(reader: Membership) -> list[dict[str, Any]]:
    """Each with its newest delivery, None before the first. Two queries."""
    newest = Delivery.objects.filter(webhook=OuterRef("pk")).order_by("-created_at", "-pk")
    hooks = list(
        AlertWebhook.objects.filter(team=reader.team_id)
        .annotate(newest_id=Subquery(newest.values("pk")[:1]))
        .order_by("created_at", "pk")
    )
    deliveries = Delivery.objects.in_bulk([hook.newest_id for hook in hooks if hook.newest_id])
    return [
        {
            "hook": hook,
            "events": describe_event_types(hook),
            "newest": build_delivery_row(deliveries[hook.newest_id]) if hook.newest_id else None,
        }
        for hook in hooks
    ]


def describe_event_types(hook: AlertWebhook) -> str:
    """Such as "Alerts and 3 event types"."""
    chosen = len([name for name in hook.event_types if name != ALERTS])
    events = f"{chosen} event type{'' if chosen == 1 else 's'}" if chosen else ""
    return " and ".join(filter(None, ["Alerts" if ALERTS in hook.event_types else "", events]))


def build_delivery_row(row: Delivery) -> dict[str, Any]:
    """`detail` is the attempt that succeeded, or the error."""
    state, label = DELIVERY_STATE_LABELS[DeliveryState(row.state)]
    if row.state == DeliveryState.DUE and row.error:
        state, label = "late", "Retrying"
    return {"delivery": row, "state": state, "label": label, "detail": delivery_detail(row)}


def delivery_detail(row: Delivery) -> str:
    if row.state == DeliveryState.DELIVERED:
        return "" if row.attempts == 1 else f"{clock(row.delivered_at)}, attempt {row.attempts}"
    if row.state == DeliveryState.DUE:
        return f"{row.error} Next attempt {clock(row.due_at)}." if row.error else ""
    times = "once" if row.attempts == 1 else f"{row.attempts} times"
    return f"{row.error} Tried {times}."
