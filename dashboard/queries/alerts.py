"""The page of the alerts: what was told to the reader, the rules, the ways, the delivery log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from django.urls import reverse

from dashboard.access import can
from dashboard.caps import deciders
from dashboard.models import (
    AlertEvent,
    AlertRule,
    Channel,
    Delivery,
    DeliveryState,
    Membership,
    Watch,
    Webhook,
)
from dashboard.roles import Permission
from dashboard.templatetags.reelroom import clock

MOST, LOGGED = 20, 15
ORDER = {watch.value: place for place, watch in enumerate(Watch)}
SENTENCES = {
    Watch.BALANCE: "Free credits fall under",
    Watch.FORECAST: "The credits last fewer days than",
    Watch.BUDGET: "A budget is past its alert or at its limit",
    Watch.ASK: "Somebody asks for more, or is answered",
    Watch.TOP_UP_FAILED: "Automatic top-ups fail in a row",
    Watch.TOP_UP_OFF: "Automatic top-up goes off by itself",
    Watch.UNKNOWN: "A charge is unknown for longer than",
    Watch.BOOKS: "The ledger is in trouble",
}
STATES = {
    DeliveryState.DUE: ("waiting", "Waiting"),
    DeliveryState.DELIVERED: ("completed", "Delivered"),
    DeliveryState.PARKED: ("failed", "Given up"),
}


@dataclass(frozen=True, slots=True)
class Told:
    id: UUID
    state: str
    title: str
    text: str
    url: str
    happened_at: datetime
    unread: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """One delivery. `how`: at which try it arrived, or why it did not."""

    id: UUID
    title: str
    icon: str
    way: str
    address: str
    state: str
    word: str
    how: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """`rules`, `log`, `host` and `people` are there for those who may change them."""

    told: tuple[Told, ...]
    unread: int
    may_edit: bool
    rules: tuple[AlertRule, ...] = ()
    log: tuple[Sent, ...] = ()
    host: str = ""
    people: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        if not self.told:
            return "Nothing needed telling yet."
        return f"{self.unread} not read yet." if self.unread else "All of it was read."


def page_of(reader: Membership) -> Page:
    """At most six queries."""
    money = can(reader, Permission.MANAGE_MONEY)
    events = AlertEvent.objects.seen_by(reader, money=money).order_by("-happened_at", "-pk")
    told = tuple(told_of(event, reader) for event in events[:MOST])
    unread = sum(one.unread for one in told)
    if not money:
        return Page(told, unread, may_edit=False)
    hook = Webhook.objects.filter(team=reader.team_id).first()
    return Page(
        told,
        unread,
        may_edit=True,
        rules=tuple(rules_of(reader)),
        log=log_of(reader),
        host=hook.host if hook else "",
        people=tuple(one.user.first_name for one in deciders(reader.team)),
    )


def told_of(event: AlertEvent, reader: Membership) -> Told:
    since = reader.notices_read_at or reader.joined_at
    return Told(
        event.pk,
        event.state,
        event.title,
        event.text,
        readable(event.url, reader),
        event.happened_at,
        event.happened_at > since,
    )


def readable(url: str, reader: Membership) -> str:
    """Where the alert leads; who may not open the top-up reads how long the credits last."""
    page, closed = urlsplit(url), not can(reader, Permission.MANAGE_MONEY)
    if closed and page.path == reverse("top-up"):
        page = page._replace(path=reverse("forecast"))
    return page.geturl()


def rules_of(reader: Membership) -> list[AlertRule]:
    """In the order of what is watched, high thresholds first."""
    rules = AlertRule.objects.filter(team=reader.team_id)
    return sorted(rules, key=lambda rule: (ORDER[rule.watch], -rule.threshold))


def log_of(reader: Membership) -> tuple[Sent, ...]:
    rows = Delivery.objects.filter(event__team=reader.team_id).select_related("event")
    return tuple(sent_of(row) for row in rows.order_by("-created_at", "-pk")[:LOGGED])


def sent_of(row: Delivery) -> Sent:
    state, word = STATES[DeliveryState(row.state)]
    if row.state == DeliveryState.DUE and row.said:
        state, word = "late", "Trying again"
    mail = row.channel == Channel.EMAIL
    return Sent(
        id=row.pk,
        title=row.event.title,
        icon="envelope" if mail else "link",
        way="E-mail" if mail else "Webhook",
        address=row.address,
        state=state,
        word=word,
        how=how(row),
        created_at=row.created_at,
    )


def how(row: Delivery) -> str:
    if row.state == DeliveryState.DELIVERED:
        return "" if row.tries == 1 else f"{clock(row.delivered_at)}, at try {row.tries}"
    if row.state == DeliveryState.DUE:
        return f"{row.said} Next try {clock(row.due_at)}." if row.said else ""
    times = "once" if row.tries == 1 else f"{row.tries} times"
    return f"{row.said} Tried {times}."
