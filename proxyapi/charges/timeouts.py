"""Timeouts of charging, in seconds. They are settings so that drills need not take hours."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from proxyapi.models import Charge
from proxyapi.operations import get_operation


def retry_interval() -> timedelta:
    """Between two attempts, and between two reads of a charge whose answer was lost."""
    return timedelta(seconds=settings.CHARGE_RETRY_INTERVAL_S)


def booking_grace() -> timedelta:
    """The service may book a moment after it stopped answering; a missing debit counts only after
    this."""
    return timedelta(seconds=settings.CHARGE_BOOKING_GRACE_S)


def heartbeat_timeout() -> timedelta:
    """A sender records a heartbeat every third of this; without one for this long it is assumed
    dead."""
    return timedelta(seconds=settings.CHARGE_HEARTBEAT_TIMEOUT_S)


def latest_completion(charge: Charge) -> datetime:
    """The latest time at which the service completes the request, whatever became of the answer.

    A broken connection does not stop the request. A proxy that dropped the connection may forward
    it later, and a search that takes minutes is charged at its end.
    """
    now = timezone.now()
    in_flight = min(get_operation(charge.operation).max_duration_s, settings.CHARGE_IN_FLIGHT_MAX_S)
    return max(now, (charge.sent_at or now) + timedelta(seconds=in_flight))
