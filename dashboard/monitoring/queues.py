"""The queues as Redis holds them: how many messages wait, and how long the oldest one has waited.

A message that a worker has taken does not wait; that its worker died shows in the rows, which the
tick enqueues again.
"""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple, cast

import redis

ENQUEUED_AT_HEADER = "enqueued_at"  # seconds since the epoch
QUEUE_PREFIX = "reelroom:"


class Queue(NamedTuple):
    """`max_wait_s`: how long a message may wait until the queue counts as not served."""

    worker: str
    text: str
    max_wait_s: float


# Five minutes where the workers of the release before do not serve the queue; ten where a mail
# server that does not answer is no reason to send people away.
QUEUES = {
    "work": Queue("Worker", "Decides what is sent next, and finds what is due.", 120),
    "charges": Queue(
        "Charge worker", "Sends what charges. Without it charges wait with their holds.", 45
    ),
    "settlement": Queue("Settlement worker", "Prices and charges whose answer was lost", 300),
    "polls": Queue("Poll worker", "Progress of jobs, and alerts", 300),
    "slow": Queue("Slow worker", "Ledgers, profiles and whatever takes long", 120),
    "post": Queue("Delivery worker", "Mails and webhooks", 600),
}


class QueueState(NamedTuple):
    """`oldest_s`: seconds that the oldest message has waited, 0 if none waits."""

    messages: int
    oldest_s: float


def stamp_message(headers: dict[str, Any], **_: object) -> None:
    """Celery's `before_task_publish`: note when the message is put into its queue."""
    headers[ENQUEUED_AT_HEADER] = time.time()


def read_queues(store: redis.Redis) -> dict[str, QueueState]:
    """The state of each queue by its name, in one round trip. Raises `redis.RedisError`."""
    with store.pipeline(transaction=False) as pipeline:
        for name in QUEUES:
            pipeline.llen(f"{QUEUE_PREFIX}{name}")
            pipeline.lindex(f"{QUEUE_PREFIX}{name}", -1)  # workers take from this end
        answers = pipeline.execute()
    pairs = zip(QUEUES, answers[::2], answers[1::2], strict=True)
    return {
        name: QueueState(int(length), message_age_s(message)) for name, length, message in pairs
    }


def message_age_s(message: bytes | None) -> float:
    """0 for one of a release that did not stamp its messages, or after the clock was set back."""
    if message is None:
        return 0.0
    headers = cast(dict[str, Any], json.loads(message).get("headers") or {})
    return max(0.0, time.time() - float(headers.get(ENQUEUED_AT_HEADER, time.time())))
