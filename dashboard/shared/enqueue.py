"""The doorbell of the site's own tasks, by name: what rings knows nothing of who comes.

After commit, and without Redis it is silent: beat does within half a minute what was rung for.
"""

from __future__ import annotations

import logging
from uuid import UUID

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from proxyapi import redis_client

log = logging.getLogger(__name__)
EVALUATE_ALERTS_TASK, DELIVER_ALERT_TASK = (
    "dashboard.tasks.evaluate_alerts",
    "dashboard.tasks.deliver_alert",
)


def enqueue_after_commit(name: str, id: UUID) -> None:
    transaction.on_commit(lambda: _enqueue(name, str(id)))


def _enqueue(name: str, id: str) -> None:
    try:
        if redis_client.is_redis_up():  # the queue itself would be waited for for 5 s
            current_app.send_task(name, (id,), retry=False)
            return
    except OperationalError:
        pass
    log.warning("the doorbell of %s is dead; beat finds it", name)
