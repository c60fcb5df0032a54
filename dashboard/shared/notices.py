"""Notices: something a member did that concerns another one, told in the portal and by e-mail.

No rule watches it, so none can switch it off; the team's webhook does not get it.
"""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.alerts.delivery.queue import schedule_deliveries
from dashboard.models import AlertEvent, Team, User
from dashboard.shared import enqueue
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
