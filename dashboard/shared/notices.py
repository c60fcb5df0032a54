"""Notices: an action of one member that concerns another, sent to the portal and by e-mail.

No alert rule creates them, so none can turn them off; the team's webhooks do not get them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dashboard.models import (
    ALERTS,
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
    team: Team,
    people: Iterable[User],
    *,
    title: str,
    text: str,
    url: str = "",
    by_email: bool = True,
) -> None:
    """Notify each of these users, in the caller's transaction."""
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
        for delivery in schedule_deliveries(event) if by_email else ():
            enqueue.enqueue_after_commit(enqueue.DELIVER_ALERT_TASK, delivery.pk)


def schedule_deliveries(event: AlertEvent, to: Sequence[User] = ()) -> list[Delivery]:
    """Create a delivery for each address of an alert, in the caller's transaction; if `to` is
    given, e-mails go only to these users."""
    rule, rows = event.rule, []
    if rule is None or rule.by_email:
        people = to or alert_recipients(event)
        rows = [build_delivery(event, DeliveryChannel.EMAIL, person.email) for person in people]
    if not is_personal_alert(event) and (rule is None or rule.by_webhook):
        rows += [
            build_delivery(event, DeliveryChannel.WEBHOOK, hook.host, hook)
            for hook in AlertWebhook.objects.filter(team=event.team_id).order_by("created_at")
            if hook.disabled_at is None and (rule is None or ALERTS in hook.event_types)
        ]
    return Delivery.objects.bulk_create(rows)


def build_delivery(
    event: AlertEvent, channel: DeliveryChannel, address: str, webhook: AlertWebhook | None = None
) -> Delivery:
    return Delivery(event=event, channel=channel, address=address[:254], webhook=webhook)


def alert_recipients(event: AlertEvent) -> list[User]:
    """Return the member it concerns and, unless it is personal, the money managers."""
    users = {event.member.pk: event.member} if event.member and event.member.is_active else {}
    if not is_personal_alert(event):
        users |= {
            membership.user_id: membership.user for membership in load_money_managers(event.team)
        }
    return list(users.values())


def is_personal_alert(event: AlertEvent) -> bool:
    return event.member_id is not None and not event.for_money
