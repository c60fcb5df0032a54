"""Notices: something a member did that concerns another one, told in the portal and by e-mail.

No rule watches it, so none can switch it off; the team's webhook does not get it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dashboard.models import (
    AlertEvent,
    AlertWebhook,
    Delivery,
    DeliveryChannel,
    Team,
    User,
)
from dashboard.shared import enqueue
from dashboard.shared.budget_usage import load_money_managers
from proxyapi.events import EventType, publish_event


def notify_users(
    team: Team, people: Iterable[User], *, title: str, text: str, url: str = ""
) -> None:
    """Tell each of these people, in the caller's transaction."""
    for person in people:
        event = AlertEvent.objects.create(
            team=team,
            member=person,
            subject="notice",
            state="info",
            title=title[:160],
            text=text[:400],
            url=url,
        )
        publish_event(team.tenant_id, EventType.ALERT, event.pk)
        for delivery in schedule_deliveries(event):
            enqueue.enqueue_after_commit(enqueue.DELIVER_ALERT_TASK, delivery.pk)


def schedule_deliveries(event: AlertEvent, to: Sequence[User] = ()) -> list[Delivery]:
    """A row for each address of an alert, in the caller's transaction; `to`: these people alone."""
    rule, rows = event.rule, []
    if rule is None or rule.by_email:
        people = to or alert_recipients(event)
        rows = [build_delivery(event, DeliveryChannel.EMAIL, person.email) for person in people]
    hook = AlertWebhook.objects.filter(team=event.team_id).first()
    if hook and not is_personal_alert(event) and (rule is None or rule.by_webhook):
        rows.append(build_delivery(event, DeliveryChannel.WEBHOOK, hook.host))
    return Delivery.objects.bulk_create(rows)


def build_delivery(event: AlertEvent, channel: DeliveryChannel, address: str) -> Delivery:
    return Delivery(event=event, channel=channel, address=address[:254])


def alert_recipients(event: AlertEvent) -> list[User]:
    """Whom it is about, and those who decide about money unless it is for that one alone."""
    found = {event.member.pk: event.member} if event.member and event.member.is_active else {}
    if not is_personal_alert(event):
        found |= {one.user_id: one.user for one in load_money_managers(event.team)}
    return list(found.values())


def is_personal_alert(event: AlertEvent) -> bool:
    return event.member_id is not None and not event.for_money
