"""Enqueue the dashboard's tasks by name, so that callers do not import the task modules."""

from __future__ import annotations

import logging
from uuid import UUID

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from proxyapi import redis_client

log = logging.getLogger(__name__)
EVALUATE_ALERTS_TASK = "dashboard.tasks.evaluate_alerts"
SEND_EVENTS_TASK = "dashboard.tasks.send_events"
DELIVER_ALERT_TASK = "dashboard.tasks.deliver_alert"
RESET_MAIL_TASK = "dashboard.tasks.send_password_reset"
ADVANCE_BATCH_TASK = "dashboard.tasks.advance_batch"
ROTATE_KEYS_TASK = "dashboard.tasks.rotate_keys"
VERIFY_AUDIT_TASK = "dashboard.tasks.verify_audit_chain"
INVITATION_MAIL_TASK = "dashboard.tasks.send_invitation"
ACCOUNT_CHANGE_MAIL_TASK = "dashboard.tasks.send_account_change"
EMAIL_CONFIRMATION_TASK = "dashboard.tasks.send_email_confirmation"
CHANGED_MAIL_TASK = "dashboard.tasks.send_password_changed"


def enqueue_now(name: str, *args: object, expires_s: int | None = None) -> None:
    """Enqueue at once, without a retry. Raises kombu's `OperationalError` if the broker is down."""
    current_app.send_task(name, args, expires=expires_s, retry=False)


def enqueue_after_commit(name: str, id: UUID | int) -> None:
    """Enqueue on commit. Without Redis nothing is enqueued; Celery beat finds the work within 30
    s."""
    transaction.on_commit(lambda: _enqueue(name, str(id)))


def _enqueue(name: str, id: str) -> None:
    try:
        if redis_client.is_redis_up():  # enqueueing without Redis would block for 5 s
            current_app.send_task(name, (id,), retry=False)
            return
    except OperationalError:
        pass
    log.warning("%s was not enqueued because Redis does not respond; the next sweep runs it", name)
