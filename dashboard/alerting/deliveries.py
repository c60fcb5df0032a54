"""Deliveries: an alert is brought to each address, tried again with growing pauses, then parked.

Each try is claimed by one conditional update. A worker that dies in one leaves it due again after
`LEASE`: an address may then hear of it twice, with the same id.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from dashboard.alerting import email, webhook
from dashboard.alerting.errors import DeliveryFailed, Undeliverable
from dashboard.caps import deciders
from dashboard.models import AlertEvent, Channel, Delivery, DeliveryState, User, Webhook
from proxyapi.events import EventType, publish_event

log = logging.getLogger(__name__)

# Pauses after the first try, the second, and so on; after the last one it is parked.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (30, 120, 600, 3600, 21600))
LEASE = timedelta(minutes=2)
AHEAD = timedelta(hours=7)  # and more than any pause
BROKEN = "Each try was broken off: whatever sent it did not come to an end."
SENDERS: Mapping[str, Callable[[Delivery], int | None]] = {
    Channel.EMAIL: email.send,
    Channel.WEBHOOK: webhook.send,
}


def schedule(event: AlertEvent, to: Sequence[User] = ()) -> list[Delivery]:
    """A row for each address of an alert, in the caller's transaction; `to`: these people alone."""
    rule, rows = event.rule, []
    if rule is None or rule.by_email:
        people = to or recipients(event)
        rows = [row(event, Channel.EMAIL, person.email) for person in people]
    hook = Webhook.objects.filter(team=event.team_id).first()
    if hook and not is_personal(event) and (rule is None or rule.by_webhook):
        rows.append(row(event, Channel.WEBHOOK, hook.host))
    return Delivery.objects.bulk_create(rows)


def row(event: AlertEvent, channel: Channel, address: str) -> Delivery:
    return Delivery(event=event, channel=channel, address=address[:254])


def recipients(event: AlertEvent) -> list[User]:
    """Whom it is about, and those who decide about money unless it is for that one alone."""
    found = {event.member.pk: event.member} if event.member and event.member.is_active else {}
    if not is_personal(event):
        found |= {one.user_id: one.user for one in deciders(event.team)}
    return list(found.values())


def is_personal(event: AlertEvent) -> bool:
    return event.member_id is not None and not event.for_money


def deliver(delivery_id: UUID) -> None:
    """One try, if it is due and nobody else is at it."""
    now = timezone.now()
    due = Delivery.objects.due(now).filter(pk=delivery_id).order_by()
    if not due.update(tries=F("tries") + 1, due_at=now + LEASE):
        return
    deliveries = Delivery.objects.select_related("event__team__vault", "event__rule")
    delivery = deliveries.get(pk=delivery_id)
    if delivery.tries > len(PAUSES) + 1:
        park(delivery, DeliveryFailed(BROKEN))
        return
    try:
        delivery.status = SENDERS[delivery.channel](delivery)
    except Undeliverable as error:
        park(delivery, error)
    except DeliveryFailed as error:
        pause(delivery, error)
    except Exception as error:
        name = type(error).__name__  # its words may hold a secret
        log.error("alert delivery %s: %s", delivery.pk, name)
        pause(delivery, DeliveryFailed(f"It was not sent, for a fault of the portal ({name})."))
    else:
        delivery.state, delivery.said = DeliveryState.DELIVERED, ""
        delivery.delivered_at = timezone.now()
        keep(delivery)


def mend() -> None:
    """After a clock was put back: what was put off until a time that is far ahead now is due."""
    now = timezone.now()
    waiting = Delivery.objects.filter(state=DeliveryState.DUE)
    waiting.filter(due_at__gt=now + AHEAD).update(due_at=now)


def pause(delivery: Delivery, error: DeliveryFailed) -> None:
    if delivery.tries > len(PAUSES):
        park(delivery, error)
        return
    delivery.status, delivery.said = error.status, error.sentence[:200]
    delivery.due_at = timezone.now() + PAUSES[delivery.tries - 1]
    keep(delivery)


def park(delivery: Delivery, error: DeliveryFailed) -> None:
    delivery.state = DeliveryState.PARKED
    delivery.status, delivery.said = error.status, error.sentence[:200]
    keep(delivery)


def keep(delivery: Delivery) -> None:
    delivery.save(update_fields=["state", "status", "said", "due_at", "delivered_at"])
    publish_event(delivery.event.team.vault_id, EventType.ALERT, delivery.event_id)
