"""Whether the service answers, from the team's latest calls, and the reader's rate limit.

`ServiceAvailability` belongs to the team and may be pushed to every member; `ReaderRateLimit`
belongs to a reader's own token. static/js/shell/freshness.js updates their age in the page without
a request.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.shared.formatting import clock
from proxyapi import rate_limiter, redis_client
from proxyapi.models import ApiCall, Tenant
from proxyapi.polling.clock_rollback import MAX_CLOCK_ROLLBACK

RECENT_CALLS_CHECKED = 20  # the latest calls, which decide whether the service answers
MAX_IGNORED_FAILURES = 1  # a single failed call is no outage
# While a page is open each ledger is read every minute: after this time without an answer the
# worker may be down.
STATUS_VALID_FOR = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class ServiceAvailability:
    """`state` is `answers` (`age`: time since the last answer), `silent` (`since` is set) or
    `unasked` (no calls)."""

    state: str
    age: timedelta = timedelta(0)
    since: datetime | None = None

    @property
    def valid_for(self) -> timedelta:
        """Return how long the page may still show that the service answers."""
        return max(STATUS_VALID_FOR - self.age, timedelta(0))

    @property
    def announcement(self) -> str:
        """Return the screen reader text for a change of the state."""
        if self.state == "silent":
            return f"The service has not responded since {clock(self.since)}"
        return "The service responds" if self.state == "answers" else ""


@dataclass(frozen=True, slots=True)
class ReaderRateLimit:
    """Requests left in a token's rate limit; `resets_in` after the last request all of `limit` are
    left."""

    remaining: int
    limit: int
    resets_in: timedelta = timedelta(milliseconds=rate_limiter.WINDOW_MS)


def load_service_availability(tenant: Tenant) -> ServiceAvailability:
    """Any HTTP answer below 500 counts as answered, a refusal too. One query."""
    # Calls recorded before the clock was set back would stay the latest until it catches up.
    until = timezone.now() + MAX_CLOCK_ROLLBACK
    latest = ApiCall.objects.filter(tenant=tenant, sent_at__lte=until).order_by("-sent_at")
    latest = latest.only("status", "sent_at")
    silent: list[ApiCall] = []
    for call in latest[:RECENT_CALLS_CHECKED]:
        if not call.is_answered:
            silent.append(call)
        elif len(silent) <= MAX_IGNORED_FAILURES:
            return ServiceAvailability(
                "answers", age=max(timezone.now() - call.sent_at, timedelta(0))
            )
        else:
            break
    return (
        ServiceAvailability("silent", since=silent[-1].sent_at)
        if silent
        else ServiceAvailability("unasked")
    )


def load_reader_rate_limit(bucket: str | None) -> ReaderRateLimit | None:
    """Return the level of a token's bucket; None without a bucket or without Redis."""
    if bucket is None:
        return None
    try:
        level = rate_limiter.peek_bucket(redis_client.connect_redis(), bucket)
    except rate_limiter.RateLimiterUnavailable:
        return None
    return ReaderRateLimit(level.remaining, level.limit)
