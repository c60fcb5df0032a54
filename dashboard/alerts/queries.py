"""The alerts page: the reader's alert history, the rules, the channels, the delivery log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from django.urls import reverse

from dashboard.models import (
    AlertEvent,
    AlertKind,
    AlertRule,
    AlertWebhook,
    Delivery,
    DeliveryChannel,
    DeliveryState,
    Membership,
)
from dashboard.shared.access import has_permission
from dashboard.shared.budget_usage import load_money_managers
from dashboard.shared.formatting import clock
from dashboard.shared.roles import Permission

MAX_ALERTS_SHOWN, MAX_DELIVERIES_SHOWN = 20, 15
RULE_ORDER = {kind.value: place for place, kind in enumerate(AlertKind)}
DELIVERY_STATE_LABELS = {
    DeliveryState.DUE: ("waiting", "Waiting"),
    DeliveryState.DELIVERED: ("completed", "Delivered"),
    DeliveryState.FAILED: ("failed", "Failed"),
}


@dataclass(frozen=True, slots=True)
class AlertHistoryRow:
    id: UUID
    state: str
    title: str
    text: str
    url: str
    happened_at: datetime
    unread: bool


@dataclass(frozen=True, slots=True)
class DeliveryLogRow:
    """One delivery; `detail` is the attempt that succeeded, or the error."""

    id: UUID
    title: str
    icon: str
    channel: str
    address: str
    state: str
    word: str
    detail: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class AlertsPage:
    """`rules`, `log`, `host` and `people` are filled only for readers who may change them."""

    history: tuple[AlertHistoryRow, ...]
    unread: int
    may_edit: bool
    rules: tuple[AlertRule, ...] = ()
    log: tuple[DeliveryLogRow, ...] = ()
    host: str = ""
    people: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        if not self.history:
            return "No alerts yet."
        return f"{self.unread} unread." if self.unread else "All read."


def build_alerts_page(reader: Membership) -> AlertsPage:
    """At most six queries."""
    manages_money = has_permission(reader, Permission.MANAGE_MONEY)
    events = AlertEvent.objects.visible_to(reader, money=manages_money).order_by(
        "-happened_at", "-pk"
    )
    history = tuple(build_alert_history_row(event, reader) for event in events[:MAX_ALERTS_SHOWN])
    unread = sum(row.unread for row in history)
    if not manages_money:
        return AlertsPage(history, unread, may_edit=False)
    hook = AlertWebhook.objects.filter(team=reader.team_id).first()
    return AlertsPage(
        history,
        unread,
        may_edit=True,
        rules=tuple(load_alert_rules(reader)),
        log=build_delivery_log(reader),
        host=hook.host if hook else "",
        people=tuple(member.user.first_name for member in load_money_managers(reader.team)),
    )


def build_alert_history_row(event: AlertEvent, reader: Membership) -> AlertHistoryRow:
    since = reader.alerts_read_at or reader.joined_at
    return AlertHistoryRow(
        event.pk,
        event.state,
        event.title,
        event.text,
        accessible_alert_url(event.url, reader),
        event.happened_at,
        event.happened_at > since,
    )


def accessible_alert_url(url: str, reader: Membership) -> str:
    """The alert's URL; the forecast instead of the top-up page for readers who may not open
    that."""
    page, has_no_top_up = urlsplit(url), not has_permission(reader, Permission.MANAGE_MONEY)
    if has_no_top_up and page.path == reverse("top-up"):
        page = page._replace(path=reverse("forecast"))
    return page.geturl()


def load_alert_rules(reader: Membership) -> list[AlertRule]:
    """In the order of `AlertKind`, high thresholds first."""
    rules = AlertRule.objects.filter(team=reader.team_id)
    return sorted(rules, key=lambda rule: (RULE_ORDER[rule.kind], -rule.threshold))


def build_delivery_log(reader: Membership) -> tuple[DeliveryLogRow, ...]:
    rows = Delivery.objects.filter(event__team=reader.team_id).select_related("event")
    return tuple(
        build_delivery_log_row(row)
        for row in rows.order_by("-created_at", "-pk")[:MAX_DELIVERIES_SHOWN]
    )


def build_delivery_log_row(row: Delivery) -> DeliveryLogRow:
    state, word = DELIVERY_STATE_LABELS[DeliveryState(row.state)]
    if row.state == DeliveryState.DUE and row.error:
        state, word = "late", "Retrying"
    is_email = row.channel == DeliveryChannel.EMAIL
    return DeliveryLogRow(
        id=row.pk,
        title=row.event.title,
        icon="envelope" if is_email else "link",
        channel="E-mail" if is_email else "Webhook",
        address=row.address,
        state=state,
        word=word,
        detail=delivery_detail(row),
        created_at=row.created_at,
    )


def delivery_detail(row: Delivery) -> str:
    if row.state == DeliveryState.DELIVERED:
        return "" if row.attempts == 1 else f"{clock(row.delivered_at)}, attempt {row.attempts}"
    if row.state == DeliveryState.DUE:
        return f"{row.error} Next attempt {clock(row.due_at)}." if row.error else ""
    times = "once" if row.attempts == 1 else f"{row.attempts} times"
    return f"{row.error} Tried {times}."
