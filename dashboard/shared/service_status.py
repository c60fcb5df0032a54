"""Whether the service answers, by the latest calls of the team, and how many requests a reader has.

`ServiceAvailability` belongs to the team and may be pushed to every member, `ReaderRateLimit` to a
reader's own token. static/js/shell/freshness.js counts their age in the page without a request.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.shared.formatting import clock
from proxyapi import rate_limiter, redis_client
from proxyapi.models import ApiCall, Tenant
from proxyapi.polling.clock_rollback import MAX_CLOCK_ROLLBACK

RECENT_CALLS_CHECKED = 20  # the latest calls that tell whether the service answers
MAX_IGNORED_FAILURES = 1  # failed call that says nothing yet: every line breaks at times
# Each ledger is read every minute: after this long without an answer the worker may be gone.
STATUS_VALID_FOR = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class ServiceAvailability:
    """`answers`: how long ago it did; `silent`: since when it does not; or `unasked`."""

    state: str
    age: timedelta = timedelta(0)
    since: datetime | None = None

    @property
    def valid_for(self) -> timedelta:
        """For how long the page may still show that all is well."""
        return max(STATUS_VALID_FOR - self.age, timedelta(0))

    @property
    def announcement(self) -> str:
        """What is read out when the state changes."""
        if self.state == "silent":
            return f"The service has not responded since {clock(self.since)}"
        return "The service responds" if self.state == "answers" else ""


@dataclass(frozen=True, slots=True)
class ReaderRateLimit:
    """Requests of a token. After `lasts` without another all of `limit` are left again."""

    remaining: int
    limit: int
    resets_in: timedelta = timedelta(milliseconds=rate_limiter.WINDOW_MS)


def load_service_availability(tenant: Tenant) -> ServiceAvailability:
    """A refusal is an answer, a 5xx is none. One query."""
    # Those that a clock sent ahead of now would be the latest until it is there again.
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
    """What the token has left whose bucket it is. Nothing without one, and without Redis."""
    if bucket is None:
        return None
    try:
        level = rate_limiter.peek_bucket(redis_client.connect_redis(), bucket)
    except rate_limiter.RateLimiterUnavailable:
        return None
    return ReaderRateLimit(level.remaining, level.limit)
