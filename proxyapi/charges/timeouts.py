"""Waits: how long the money core waits for what. Settings, so that drills need not take hours."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from proxyapi.models import Charge
from proxyapi.operations import get_operation


def retry_interval() -> timedelta:
    """Between two tries, or two looks at a charge whose answer got lost."""
    return timedelta(seconds=settings.CHARGE_RETRY_INTERVAL_S)


def booking_grace() -> timedelta:
    """The service may book a moment after it fell silent: "no trace" counts only after this."""
    return timedelta(seconds=settings.CHARGE_BOOKING_GRACE_S)


def heartbeat_timeout() -> timedelta:
    """A sender says every third of this that it waits for its answer; after it, it is dead."""
    return timedelta(seconds=settings.CHARGE_HEARTBEAT_TIMEOUT_S)


def latest_completion(charge: Charge) -> datetime:
    """When the service is done with it at the latest, whatever became of the answer.

    A connection that broke does not stop its request. A proxy that dropped the connection may
    forward the request later, and a search that takes minutes is charged at its end.
    """
    now = timezone.now()
    in_flight = min(get_operation(charge.operation).max_duration_s, settings.CHARGE_IN_FLIGHT_MAX_S)
    return max(now, (charge.sent_at or now) + timedelta(seconds=in_flight))
