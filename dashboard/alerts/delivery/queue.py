"""The delivery queue: each alert is sent to each address and retried with growing delays, then
given up.

One conditional update claims an attempt. If a worker dies during it, the delivery is due again
after `ATTEMPT_LEASE`, so an address may receive it twice, with the same id.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from dashboard.alerts.delivery import email, webhook
from dashboard.alerts.delivery.errors import DeliveryFailed, Undeliverable
from dashboard.models import (
    Delivery,
    DeliveryChannel,
    DeliveryState,
)
from proxyapi.events import EventType, publish_event

log = logging.getLogger(__name__)

# Delays after the first attempt, the second, and so on; after the last one, two days later, it is
# given up.
RETRY_DELAYS = tuple(
    timedelta(seconds=seconds) for seconds in (30, 120, 600, 3600, 21600, 86400, 86400)
)
ATTEMPT_LEASE = timedelta(minutes=2)
MAX_DUE_AHEAD = timedelta(hours=25)  # longer than any delay
ATTEMPTS_INTERRUPTED = "Every attempt was interrupted before it finished."
CHANNEL_SENDERS: Mapping[str, Callable[[Delivery], int | None]] = {
    DeliveryChannel.EMAIL: email.send_alert_email,
    DeliveryChannel.WEBHOOK: webhook.post_webhook,
}


def attempt_delivery(delivery_id: UUID) -> None:
    """Make one attempt if the delivery is due and no other worker has claimed it."""
    now = timezone.now()
    due = Delivery.objects.due(now).filter(pk=delivery_id).order_by()
    if not due.update(attempts=F("attempts") + 1, due_at=now + ATTEMPT_LEASE):
        return
    deliveries = Delivery.objects.select_related(
        "event__team__tenant", "event__rule", "event__member", "event__api_event"
    )
    delivery = deliveries.get(pk=delivery_id)
    if delivery.attempts > len(RETRY_DELAYS) + 1:
        give_up_delivery(delivery, DeliveryFailed(ATTEMPTS_INTERRUPTED))
        return
    try:
        delivery.status = CHANNEL_SENDERS[delivery.channel](delivery)
    except Undeliverable as error:
        give_up_delivery(delivery, error)
    except DeliveryFailed as error:
        retry_delivery_later(delivery, error)
    except Exception as error:
        name = type(error).__name__  # its message may contain a secret
        log.error("alert delivery %s: %s", delivery.pk, name)
        retry_delivery_later(
            delivery, DeliveryFailed(f"It was not sent because of an error in the portal ({name}).")
        )
    else:
        delivery.state, delivery.error = DeliveryState.DELIVERED, ""
        delivery.delivered_at = timezone.now()
        save_delivery(delivery)
        webhook.record_webhook_success(delivery)


def repair_due_times() -> None:
    """Make deliveries due whose time is too far ahead because the clock was set back."""
    now = timezone.now()
    waiting = Delivery.objects.filter(state=DeliveryState.DUE)
    waiting.filter(due_at__gt=now + MAX_DUE_AHEAD).update(due_at=now)


def retry_delivery_later(delivery: Delivery, error: DeliveryFailed) -> None:
    if delivery.attempts > len(RETRY_DELAYS):
        give_up_delivery(delivery, error)
        return
    delivery.status, delivery.error = error.status, error.sentence[:200]
    delivery.due_at = timezone.now() + RETRY_DELAYS[delivery.attempts - 1]
    save_delivery(delivery)
    webhook.record_webhook_failure(delivery, error.status)


def give_up_delivery(delivery: Delivery, error: DeliveryFailed) -> None:
    delivery.state = DeliveryState.FAILED
    delivery.status, delivery.error = error.status, error.sentence[:200]
    save_delivery(delivery)
    webhook.record_webhook_failure(delivery, error.status)


def save_delivery(delivery: Delivery) -> None:
    delivery.save(update_fields=["state", "status", "error", "due_at", "delivered_at"])
    publish_event(delivery.event.team.tenant_id, EventType.ALERT, delivery.event_id)
