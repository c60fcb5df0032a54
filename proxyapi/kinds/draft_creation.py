"""Create what a person composed here upstream: one process at a time, and not too often after a
lost answer. Creating is free, but each lost answer may leave an orphan that nothing lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import redis
from django.conf import settings
from django.utils import timezone
from redis.lock import Lock

from proxyapi.models import Draft, Job
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import RateLimiterUnavailable, RateLimitExhausted
from proxyapi.redis_client import connect_redis
from proxyapi.upstream import errors

# Seconds; longer than one request and its waits, and renewed before the next request
DRAFT_LOCK_TTL_S = 45.0
DRAFT_LOCK_WAIT_S = 3.0  # seconds to wait for another process that holds the lock
# Delay after a lost answer, in multiples of `CHARGE_RETRY_INTERVAL_S`: 30 s, 5 minutes, then 10.
# Each attempt may leave an orphaned draft, because the upstream has no list of drafts.
CREATE_RETRY_FACTORS = (3, 30, 60)


class DraftBusy(RateLimitExhausted):
    """Another process is sending the draft upstream, or died doing so a moment ago."""

    @property
    def user_message(self) -> str:
        return (
            "Nothing was sent yet. The draft is being sent to the service; this continues "
            "automatically."
        )


class DraftCreationDelayed(RateLimitExhausted):
    """The answer to the creation of this draft was lost; the next attempt is in `wait` seconds."""

    @property
    def user_message(self) -> str:
        return (
            "The service did not respond when creating this draft. Nothing was charged. Next "
            f"attempt in {max(1, round(self.wait))} s."
        )


class DraftCreationFailed(errors.UnsendableRequest):
    """All attempts to create the draft got no answer. Each may have left an orphaned draft
    upstream."""

    code = "DRAFT-CREATION-FAILED"
    sentence = (
        f"The service did not respond to {len(CREATE_RETRY_FACTORS)} attempts to create this "
        "draft. Nothing was charged, and nothing is sent for ten minutes. Try again then."
    )


@contextmanager
def draft_lock(job: Job, ttl_s: float = DRAFT_LOCK_TTL_S) -> Iterator[Lock]:
    """Let one process at a time send a draft upstream, so that two changes do not cross.

    Raises `DraftBusy`. If its holder dies, the lock expires after `ttl_s` seconds.
    """
    lock = connect_redis().lock(
        f"reelroom:draft:{job.pk}", timeout=ttl_s, blocking_timeout=DRAFT_LOCK_WAIT_S
    )
    try:
        held = lock.acquire()
    except redis.RedisError:
        raise RateLimiterUnavailable(DRAFT_LOCK_WAIT_S) from None
    if not held:
        raise DraftBusy(DRAFT_LOCK_WAIT_S)
    try:
        job.refresh_from_db(fields=["remote_id"])
        job.draft.refresh_from_db()
        yield lock
    finally:
        with suppress(redis.RedisError):  # a lost or expired lock needs no release
            lock.release()


def check_creation_delay(draft: Draft, create_operation: str) -> None:
    """Raise `DraftCreationDelayed`, or `DraftCreationFailed` after the last attempt, until the
    draft may be created again."""
    due_at = draft.create_retry_at
    left = (due_at - timezone.now()).total_seconds() if due_at else 0
    if left > 0 and draft.unanswered_creates >= len(CREATE_RETRY_FACTORS):
        raise DraftCreationFailed(get_operation(create_operation))
    if left > 0:
        raise DraftCreationDelayed(left)


def schedule_creation_retry(draft: Draft) -> None:
    factor = CREATE_RETRY_FACTORS[min(draft.unanswered_creates, len(CREATE_RETRY_FACTORS) - 1)]
    wait = factor * timedelta(seconds=settings.CHARGE_RETRY_INTERVAL_S)
    draft.create_retry_at = timezone.now() + wait
    draft.unanswered_creates += 1
    draft.save(update_fields=["unanswered_creates", "create_retry_at"])
