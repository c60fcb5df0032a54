"""The consumer: what a worker hears doorbells with. It goes on where Redis went while it worked."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery.worker.consumer import Consumer as Library

MAX_RETRY_INTERVAL_S = (
    5.0  # seconds at most; the library's would be half a minute after a long outage
)


class Consumer(Library):
    """The library's own would end here, and `make run` with it: kombu 5.7 hands back what was taken
    and is not done, and later acknowledges it, over a connection that it has put away by then. Each
    is an AttributeError that nobody expects.

    Nothing of the lost connection is handed back or acknowledged: a tick rings again for whatever
    is due, and what rings twice is done once (rule 7).
    """

    task_consumer: Any  # the types do not know it

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
