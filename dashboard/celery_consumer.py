"""The consumer of a worker; it survives a lost connection to Redis."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer as Library

MAX_RETRY_INTERVAL_S = 5.0  # the library's interval grows to 30 seconds


class Consumer(Library):
    """Drop the channel of a lost connection instead of returning and acknowledging its messages.

    kombu 5.7 does both over a connection that it has already closed; the AttributeError would end
    the worker, and `make run` with it. Nothing is lost: a tick enqueues whatever is due again, and
    a task that runs twice works once (rule 7).
    """

    task_consumer: Any  # missing in the library's types

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        if self.task_consumer is not None:
            lost = self.task_consumer.channel
            lost.do_restore = False
            lost.basic_ack = lost.basic_reject = do_nothing
        super().on_connection_error_after_connected(exc)

    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(conn.ensure_connection, interval_max=MAX_RETRY_INTERVAL_S)
        return super().ensure_connected(conn)


def do_nothing(*_: object, **__: object) -> None: ...
