"""Figures of the whole installation for Prometheus, read when they are asked for.

Every value is of a row in the database or of a key in Redis, which all processes share, so a scrape
of any one web process tells everything, and no process counts anything: the files with which
`prometheus_client` sums processes are not needed. A scrape costs at most `MAX_QUERIES` queries,
however many teams there are, and its answer is used for `CACHE_S` seconds. No label has a value
that a member, a team or the service chooses: an unknown error code counts as "other".
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Lock
from typing import NamedTuple, TypeVar, cast

import redis
from django.db import DatabaseError
from django.db.models import Count, Min, Model, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from dashboard.models import Delivery
from dashboard.monitoring import queues, readiness
from proxyapi import rate_limiter, redis_client, viewers
from proxyapi.models import (
    Account,
    ApiCall,
    Charge,
    ChargeState,
    Job,
    JobState,
    LedgerEntry,
    ServiceQuarter,
    Tenant,
    Token,
    TokenState,
)
from proxyapi.rate_limiter import Priority, RateLimiterUnavailable
from proxyapi.service_quarters import NO_ANSWER_CODE, QUARTER, quarter_start
from proxyapi.tasks import TICK_HEARTBEAT_KEY
from proxyapi.upstream.error_mapping import KNOWN_CODES

CACHE_S = 10.0
MAX_QUERIES = 20
UNMATCHED_WINDOW = timedelta(days=1)
DEBIT_GRACE = timedelta(hours=1)  # from the sending of a charge to its debit in the ledger
MAX_BUSY_TOKENS = 500  # whose limits are read; the busiest of the last minute first
QUANTILES = {"0.5": 0.5, "0.95": 0.95}
OTHER_CODE = "other"
CODES = (*sorted({*KNOWN_CODES, NO_ANSWER_CODE}), OTHER_CODE)
OPEN_STATES = (ChargeState.DRAFT, ChargeState.HELD, ChargeState.SENDING, ChargeState.UNKNOWN)
Sample = tuple[str, str, float]  # name of the gauge, value of its label, value
M = TypeVar("M", bound=Model)


class Gauge(NamedTuple):
    text: str
    label: str = ""


GAUGES = {
    "reelroom_check_failed": Gauge("1 for each check of /readyz that fails.", "check"),
    "reelroom_tick_age_seconds": Gauge("Since a worker last ran the tick; 30 is the most shown."),
    "reelroom_tokens": Gauge("Stored tokens by state.", "state"),
    "reelroom_busy_tokens": Gauge("Tokens with a request in the last minute."),
    "reelroom_requests_left_min": Gauge(
        "Fewest requests that a busy token has left for this class of traffic.", "priority"
    ),
    "reelroom_tokens_exhausted": Gauge(
        "Busy tokens without a request left for this class of traffic.", "priority"
    ),
    "reelroom_running_jobs": Gauge("Jobs that are polled."),
    "reelroom_poll_lag_seconds": Gauge(
        "How late the next poll of running jobs is, 0 if it is not due.", "quantile"
    ),
    "reelroom_charges": Gauge("Charges that are not settled, by state.", "state"),
    "reelroom_charge_oldest_age_seconds": Gauge("Age of the oldest of them.", "state"),
    "reelroom_credits_at_risk": Gauge("Credits held by charges whose outcome is unknown."),
    "reelroom_refunds_owed": Gauge("Refunds that the ledger does not show yet."),
    "reelroom_refunds_owed_credits": Gauge("Their credits."),
    "reelroom_refund_owed_oldest_age_seconds": Gauge("Age of the oldest of them."),
    "reelroom_ledger_debits_unmatched": Gauge(
        "Debits of the last day that no charge and no imported job explains."
    ),
    "reelroom_charges_without_debit": Gauge(
        "Charges older than an hour whose debit the ledger does not show."
    ),
    "reelroom_queue_messages": Gauge("Messages that wait for a worker.", "queue"),
    "reelroom_queue_oldest_age_seconds": Gauge("How long the oldest of them has waited.", "queue"),
    "reelroom_deliveries_due": Gauge("Mails and webhooks of alerts that are due."),
    "reelroom_delivery_oldest_age_seconds": Gauge("How long the oldest of them is due."),
    "reelroom_streams_open": Gauge("Open event streams of all web processes."),
    "reelroom_service_calls": Gauge(
        "Requests to the service in this quarter of an hour and the one before.", "result"
    ),
    "reelroom_service_errors": Gauge("Of these, those that failed, by error code.", "code"),
    "reelroom_source_unavailable": Gauge("1 if its values are missing in this scrape.", "source"),
}


def collect_samples() -> Iterator[Sample]:
    """What cannot be read now is missing, and `reelroom_source_unavailable` says so."""
    now = timezone.now()
    missing = readiness.find_missing_requirements()
    for check in readiness.CHECKS:
        yield "reelroom_check_failed", check, check in missing
    for source, readers in SOURCES.items():
        is_missing = False
        try:
            for reader in readers:
                yield from list(reader(now))
        except (DatabaseError, redis.RedisError, RateLimiterUnavailable):
            is_missing = True
        yield "reelroom_source_unavailable", source, is_missing


def read_jobs(now: datetime) -> Iterator[Sample]:
    """A job that waits for its poll behind others is leased again and again: its lag then is the
    age of the queue."""
    running = Job.objects.filter(state=JobState.RUNNING, token__state=TokenState.WORKING).count()
    yield "reelroom_running_jobs", "", running
    late = Job.objects.due(now).order_by("next_poll_at").values_list("next_poll_at", flat=True)
    for name, share in QUANTILES.items():
        rank = int(running * (1 - share))  # of the latest first
        due_at = late[rank : rank + 1].first() if running else None
        lag_s = (now - due_at).total_seconds() if due_at else 0.0
        yield "reelroom_poll_lag_seconds", name, lag_s


def read_charges(now: datetime) -> Iterator[Sample]:
    unsettled = of_all_teams(Charge.objects.all()).filter(state__in=OPEN_STATES)
    rows = (
        unsettled.order_by()
        .values_list("state")
        .annotate(
            count=Count("pk"),
            oldest=Min(Coalesce("sent_at", "held_at", "created_at")),
            credits=Sum("hold"),
        )
    )
    by_state = {state: row for state, *row in rows}
    for state in OPEN_STATES:
        count, oldest, hold = by_state.get(state, (0, None, Decimal(0)))
        yield "reelroom_charges", state, count
        yield "reelroom_charge_oldest_age_seconds", state, age_s(now, oldest)
        if state == ChargeState.UNKNOWN:
            yield "reelroom_credits_at_risk", "", float(hold)
    owed = of_all_teams(Charge.objects.with_refund_owed()).aggregate(
        count=Count("pk"), oldest=Min("refund_owed_at"), credits=Sum(Coalesce("cost", "hold"))
    )
    yield "reelroom_refunds_owed", "", owed["count"]
    yield "reelroom_refunds_owed_credits", "", float(owed["credits"] or 0)
    yield "reelroom_refund_owed_oldest_age_seconds", "", age_s(now, owed["oldest"])


def read_ledger(now: datetime) -> Iterator[Sample]:
    accounts = Account.objects.of_current_upstream().not_archived()
    unmatched = LedgerEntry.objects.outside_spend(accounts, now - UNMATCHED_WINDOW)
    yield "reelroom_ledger_debits_unmatched", "", unmatched.count()
    missing = Charge.objects.without_debit().filter(
        account__in=accounts.values("pk"), sent_at__lt=now - DEBIT_GRACE
    )
    yield "reelroom_charges_without_debit", "", missing.count()


def read_rest(now: datetime) -> Iterator[Sample]:
    """Tokens, deliveries and what the service answered."""
    tokens = dict(Token.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in TokenState:
        yield "reelroom_tokens", state, tokens.get(state, 0)
    due = Delivery.objects.due(now).order_by().aggregate(count=Count("pk"), oldest=Min("due_at"))
    yield "reelroom_deliveries_due", "", due["count"]
    yield "reelroom_delivery_oldest_age_seconds", "", age_s(now, due["oldest"])
    calls, codes = Counter[str](), Counter(dict.fromkeys(CODES, 0))
    since = quarter_start(now) - QUARTER
    for quarter in of_all_teams(ServiceQuarter.objects.filter(starts_at__gte=since)):
        calls.update(answered=quarter.answered, unanswered=quarter.unanswered)
        for code, count in quarter.codes.items():
            codes[code if code in CODES else OTHER_CODE] += count
    for result in ("answered", "unanswered"):
        yield "reelroom_service_calls", result, calls[result]
    for code, count in codes.items():
        yield "reelroom_service_errors", code, count


def read_redis(now: datetime) -> Iterator[Sample]:
    store = redis_client.connect_redis()
    for name, queue in queues.read_queues(store).items():
        yield "reelroom_queue_messages", name, queue.messages
        yield "reelroom_queue_oldest_age_seconds", name, queue.oldest_s
    yield "reelroom_streams_open", "", viewers.count_streams()
    ticked = cast(bytes | None, store.get(TICK_HEARTBEAT_KEY))
    ticked_at = datetime.fromisoformat(ticked.decode()) if ticked else None
    yield "reelroom_tick_age_seconds", "", age_s(now, ticked_at) if ticked_at else 30.0


def read_requests_left(now: datetime) -> Iterator[Sample]:
    """Of tokens that sent something in the last minute: the others have all of their requests."""
    since = now - timedelta(milliseconds=rate_limiter.WINDOW_MS)
    calls = of_all_teams(ApiCall.objects.filter(sent_at__gt=since)).order_by()
    busiest = calls.values_list("token__fingerprint").annotate(count=Count("pk"))
    buckets = [bucket for bucket, _ in busiest.order_by("-count")[:MAX_BUSY_TOKENS]]
    yield "reelroom_busy_tokens", "", len(buckets)
    for priority in Priority:
        name, store = priority.name.lower(), redis_client.connect_redis()
        left = rate_limiter.available_many(store, buckets, priority) if buckets else []
        if left:
            yield "reelroom_requests_left_min", name, min(left)
        yield "reelroom_tokens_exhausted", name, left.count(0)


def of_all_teams(rows: QuerySet[M]) -> QuerySet[M]:
    """With a condition that is always true: the indexes of these tables begin with the tenant."""
    return rows.filter(tenant__in=Tenant.objects.all())


def age_s(now: datetime, since: datetime | None) -> float:
    return max(0.0, (now - since).total_seconds()) if since else 0.0


# After a failure the others of the same source are left out: each would wait for a connection.
SOURCES: dict[str, tuple[Callable[[datetime], Iterator[Sample]], ...]] = {
    "database": (read_jobs, read_charges, read_ledger, read_rest),
    "redis": (read_redis, read_requests_left),
}


class PortalCollector(Collector):
    """The gauges of `GAUGES`, read anew each time."""

    def collect(self) -> Iterator[Metric]:
        families = {
            name: GaugeMetricFamily(name, gauge.text, labels=[gauge.label] if gauge.label else [])
            for name, gauge in GAUGES.items()
        }
        for name, label, value in collect_samples():
            families[name].add_metric([str(label)] if GAUGES[name].label else [], float(value))
        yield from families.values()


_registry = CollectorRegistry()
_registry.register(PortalCollector())
_lock = Lock()
_page, _page_at_s = b"", -CACHE_S  # as time.monotonic()


def render_metrics() -> bytes:
    """The page for Prometheus, at most `CACHE_S` old. Scrapes at the same time share one."""
    global _page, _page_at_s
    with _lock:
        if time.monotonic() - _page_at_s >= CACHE_S:
            _page, _page_at_s = generate_latest(_registry), time.monotonic()
        return _page
