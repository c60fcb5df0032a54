"""Notifications: what concerns one person, in the portal and by e-mail as that person chose.

A notification is an alert event without a rule. Its kind, subject and period make it unique, so an
event is notified once however often it is found. Its e-mail is a delivery like that of an alert:
kept, and sent again while the mail server is away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.db import IntegrityError, transaction

from dashboard.models import (
    AlertEvent,
    DeliveryChannel,
    Membership,
    NotificationKind,
    NotificationPreference,
    Team,
    User,
)
from dashboard.shared import enqueue
from dashboard.shared.notices import build_delivery
from proxyapi.events import EventType, publish_event
from proxyapi.models import Job


class NotificationChannels(NamedTuple):
    in_portal: bool
    by_email: bool


DEFAULT_CHANNELS = {
    NotificationKind.VIDEO_DONE: NotificationChannels(in_portal=True, by_email=False),
    NotificationKind.VIDEO_FAILED: NotificationChannels(in_portal=True, by_email=False),
    NotificationKind.RENDER_NOT_SENT: NotificationChannels(in_portal=True, by_email=False),
    NotificationKind.BATCH_ENDED: NotificationChannels(in_portal=True, by_email=False),
    NotificationKind.SERIES_PAUSED: NotificationChannels(in_portal=True, by_email=True),
    NotificationKind.REQUEST_ANSWERED: NotificationChannels(in_portal=True, by_email=True),
    NotificationKind.TOKEN_STOPPED: NotificationChannels(in_portal=True, by_email=True),
    NotificationKind.MONTHLY_REPORT: NotificationChannels(in_portal=True, by_email=True),
}
# Their subject is the id of a video or draft.
VIDEO_NOTIFICATIONS = (
    NotificationKind.VIDEO_DONE,
    NotificationKind.VIDEO_FAILED,
    NotificationKind.RENDER_NOT_SENT,
)


@dataclass(frozen=True, slots=True)
class Notification:
    """One event of a person; `subject` and `period` name it. `state` is a status name, for the
    icon. `attachment` is CSV that comes with the e-mail."""

    kind: NotificationKind
    subject: str
    period: str
    state: str
    title: str
    text: str
    url: str
    attachment: str = ""


def notify_person(team: Team, person: User, note: Notification) -> None:
    """Notify a member once, in the caller's transaction. Nothing is sent to somebody who may not
    enter the team."""
    if not can_be_notified(team, person):
        return
    channels = channels_of(person)[note.kind]
    try:
        with transaction.atomic():
            event = AlertEvent.objects.create(
                team=team,
                member=person,
                notification=note.kind,
                subject=note.subject[:60],
                period=note.period[:40],
                in_portal=channels.in_portal,
                state=note.state,
                title=note.title[:160],
                text=note.text[:400],
                url=note.url,
            )
    except IntegrityError:
        return  # a concurrent run has created it
    publish_event(team.tenant_id, EventType.ALERT, event.pk)
    if channels.by_email:
        delivery = build_delivery(event, DeliveryChannel.EMAIL, person.email)
        delivery.attachment = note.attachment
        delivery.save(force_insert=True)
        enqueue.enqueue_after_commit(enqueue.DELIVER_ALERT_TASK, delivery.pk)


def undeliverable_reason(event: AlertEvent) -> str:
    """Return why its person must not get the event any more, "" if they may: they left the team, or
    its video was hidden since."""
    if event.member is None:
        return ""
    if not can_be_notified(event.team, event.member):
        return "The person is no longer a member of the team."
    is_video = event.notification in VIDEO_NOTIFICATIONS
    if is_video and not Job.objects.visible().filter(pk=event.subject).exists():
        return "The video was hidden meanwhile."
    return ""


def can_be_notified(team: Team, person: User) -> bool:
    return person.is_active and Membership.objects.filter(team=team, user=person).exists()


def channels_of(person: User) -> dict[NotificationKind, NotificationChannels]:
    """Return what a person chose for each kind, or its default; one query."""
    rows = NotificationPreference.objects.filter(user=person)
    chosen = {
        NotificationKind(row.kind): NotificationChannels(row.in_portal, row.by_email)
        for row in rows
    }
    return {**DEFAULT_CHANNELS, **chosen}


def drop_known(
    team: Team, notes: Iterable[tuple[int, Notification]]
) -> list[tuple[int, Notification]]:
    """Return the pairs of a user's id and a notification that were not created yet; one query."""
    pairs = list(notes)
    events = AlertEvent.objects.filter(
        team=team,
        member__in={user_id for user_id, _ in pairs},
        subject__in={note.subject for _, note in pairs},
    ).exclude(notification="")
    known = set(events.values_list("member", "notification", "subject", "period"))
    return [
        (user_id, note)
        for user_id, note in pairs
        if (user_id, note.kind.value, note.subject, note.period) not in known
    ]
