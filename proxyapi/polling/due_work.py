"""Select due rows and lease them by moving their due time, so that two ticks do not take one twice.

The cost of a tick depends on due rows, not on running ones: first the tokens with due jobs, then
the jobs of the tokens with requests left, then one update for all leased rows. At most seven
queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from datetime import datetime, timedelta
from random import randrange
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Least
from django.utils import timezone

from proxyapi import rate_limiter, upstream_address, viewers
from proxyapi.kinds import KINDS, MAX_PRICE_AGE
from proxyapi.models import (
    CharacterGenres,
    Charge,
    ChargeState,
    Draft,
    IdeaRefresh,
    Job,
    JobKind,
    JobState,
    PageRead,
    PageReadState,
    Tenant,
    VoiceSlots,
)
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.models.job import POLLING_STOPPED_HORIZON
from proxyapi.operations import ESTIMATED_RENDER_OPERATIONS, REFUNDABLE_OPERATIONS
from proxyapi.polling import circuit_breaker, clock_rollback
from proxyapi.polling.candidate_selection import PollCandidate, select_stalest
from proxyapi.polling.duration_history import DurationHistory, DurationKey
from proxyapi.polling.duration_model import MIN_POLL_INTERVAL_S
from proxyapi.polling.poll_failure import MAX_POLLING_AGE
from proxyapi.rate_limiter import Priority, RateLimiterUnavailable
from proxyapi.redis_client import connect_redis

# The longest time that settling takes; then another worker may lease the row.
LEASE_DURATION = timedelta(seconds=25)
# As long for a page, whose reading may take a minute; its task expires before.
PAGE_READ_LEASE = timedelta(seconds=75)
# As long for a list of an account, a page of ideas; its task expires before.
LIST_READ_LEASE = timedelta(seconds=75)
# A queued task not started within this time was lost, or its worker died.
PICKUP_TIMEOUT = timedelta(seconds=15)
# A poll due this soon is leased now and sent at its due time.
EARLY_POLL_TOLERANCE = timedelta(milliseconds=200)
MAX_POLL_DELAY = timedelta(hours=2)  # longer than the longest interval between two polls
LEASE_BATCH_SIZE = 50
REFUND_LOOKBACK = timedelta(days=60)  # older failures are not searched for missing refunds
POLLING_TOKEN_COLUMNS = ("token__fingerprint", "account__environment")
JOB_COLUMNS = ("pk", "tenant_id", "next_poll_at", "started_at", "polled_at", "stalled_at")
# Of the worth of a poll: stalled jobs take what the others leave, and only a very long wait more.
STALLED_WEIGHT = 0.0001


class PollingToken(NamedTuple):
    """A token with due jobs, in any number of teams: the name of its rate limiter bucket and the
    address of its upstream."""

    bucket: str
    environment: str


class JobLease(NamedTuple):
    """A job to poll, and the `next_poll_at` that proves that the caller holds the lease."""

    job_id: UUID
    until: datetime


def lease_due_jobs() -> list[JobLease]:
    """Lease the jobs to poll now, for each token those with the highest staleness.

    Empty if the rate limiter is unavailable: no request could be sent.
    """
    now = timezone.now()
    due = Job.objects.due(now + EARLY_POLL_TOLERANCE)
    rows = due.order_by().values_list(*POLLING_TOKEN_COLUMNS).distinct()
    try:
        capacity, probed = polling_capacity([PollingToken(*row) for row in rows])
    except RateLimiterUnavailable:
        return []
    chosen = select_jobs_to_poll(now, capacity, probed) if capacity else []
    return lease_jobs(now, chosen) if chosen else []


def reschedule_after_clock_rollback() -> int:
    """Make jobs due that were polled or rescheduled in what is the future after the clock was set
    back, and repair the other timestamps. Return the number of jobs.

    Otherwise they would wait until the clock reaches those times. A poll that failed then shows
    only in `next_poll_at`: further ahead than any retry delay, or given up too early.
    """
    now = timezone.now()
    clock_rollback.repair_after_clock_rollback(now)
    delayed_too_long = Q(
        next_poll_at__gt=now + MAX_POLL_DELAY, next_poll_at__lt=now + POLLING_STOPPED_HORIZON
    )
    stopped_too_early = Q(
        next_poll_at__gt=now + POLLING_STOPPED_HORIZON, started_at__gt=now - MAX_POLLING_AGE
    )
    ahead = (
        Q(polled_at__gt=now + clock_rollback.MAX_CLOCK_ROLLBACK)
        | delayed_too_long
        | stopped_too_early
    )
    return Job.objects.filter(ahead, state=JobState.RUNNING).update(
        polled_at=Least("polled_at", now), next_poll_at=now + timedelta(seconds=MIN_POLL_INTERVAL_S)
    )


@transaction.atomic
def mark_missed_refunds() -> int:
    """Mark the refund of failed clips as owed where it is not marked yet. Return the number of
    clips.

    It is missing if the charge was settled at the moment of the failure, or in rows of an older
    release.
    """
    now = timezone.now()
    failed = Job.objects.filter(
        tenant__in=Tenant.objects.all(),  # the index of ended jobs begins with it
        state=JobState.FAILED,
        finished_at__gt=now - REFUND_LOOKBACK,
        kind=JobKind.CLIP,
    )
    unmarked_charges = Charge.objects.filter(
        job=OuterRef("pk"),
        operation__in=REFUNDABLE_OPERATIONS,
        state__in=CHARGED_STATES,
        cost__gt=0,
        unidentified_at__isnull=True,
        refund_owed_at=None,
    )
    clips = failed.filter(Exists(unmarked_charges)).select_for_update(of=("self",))
    for clip in clips:
        Charge.objects.mark_refund_owed(clip, now)
    return len(clips)


def requeue_stale_quotes() -> int:
    """Request a new price for draft renders whose estimate is older than `MAX_PRICE_AGE`, so that
    an approved one is sent at a current price. Return the number of drafts."""
    now = timezone.now()
    waiting = Charge.objects.filter(
        tenant__in=Tenant.objects.all(),  # the index of the states begins with it
        state=ChargeState.DRAFT,
        operation__in=ESTIMATED_RENDER_OPERATIONS,
    )
    old = Draft.objects.filter(job__charges__in=waiting, estimate_as_of__lt=now - MAX_PRICE_AGE)
    return old.filter(quote_due_at=None, quote_error="").update(quote_due_at=now)


def polling_capacity(
    tokens: Iterable[PollingToken],
) -> tuple[dict[PollingToken, int], set[PollingToken]]:
    """Return how many polls each token may send now, and the tokens that send the single probe of
    an upstream whose circuit is open."""
    by_environment: defaultdict[str, list[PollingToken]] = defaultdict(list)
    for polling_token in tokens:
        by_environment[polling_token.environment].append(polling_token)
    capacity: dict[PollingToken, int] = {}
    probed: set[PollingToken] = set()
    for environment, environment_tokens in by_environment.items():
        buckets = [polling_token.bucket for polling_token in environment_tokens]
        available = rate_limiter.available_many(connect_redis(), buckets, Priority.POLLING)
        usable = {
            token: requests
            for token, requests in zip(environment_tokens, available, strict=True)
            if requests
        }
        if usable and circuit_breaker.is_circuit_open(environment):
            probe_token = list(usable)[randrange(len(usable))]  # noqa: S311 - not a secret
            usable = {probe_token: 1} if circuit_breaker.acquire_probe_turn(environment) else {}
            probed |= usable.keys()
        capacity |= usable
    return capacity, probed


def select_jobs_to_poll(
    now: datetime, capacity: dict[PollingToken, int], probed: Set[PollingToken]
) -> list[UUID]:
    """Return each token's due jobs with the highest staleness.

    During an outage, poll the job that has waited longest. Choosing by expected staleness would
    pick the same unanswered job every time and might never try one that works.
    """
    buckets = {token.bucket for token in capacity}
    due = Job.objects.due(now + EARLY_POLL_TOLERANCE).filter(token__fingerprint__in=buckets)
    rows = list(due.values_list(*POLLING_TOKEN_COLUMNS, *JOB_COLUMNS, *DurationKey._fields[1:]))
    history = DurationHistory({row[len(POLLING_TOKEN_COLUMNS) + len(JOB_COLUMNS)] for row in rows})
    weights = viewers.viewer_weights([(tenant, id) for _, _, id, tenant, *_ in rows])
    by_token: defaultdict[PollingToken, list[PollCandidate[UUID]]] = defaultdict(list)
    due_times: dict[UUID, datetime] = {}
    for row, weight in zip(rows, weights, strict=True):
        bucket, environment, id, _, due_times[id], started_at, polled_at, stalled_at, *class_key = (
            row
        )
        started_at = started_at or polled_at or now
        last_seen_age, age = (
            (at - started_at).total_seconds() for at in (polled_at or started_at, now)
        )
        durations = history.model_for(DurationKey(environment, *class_key))
        by_token[PollingToken(bucket, environment)].append(
            PollCandidate(
                id,
                max(0.0, last_seen_age),
                age,
                durations,
                weight * STALLED_WEIGHT if stalled_at else weight,
            )
        )
    chosen: list[UUID] = []
    for token, candidates in by_token.items():
        if token in probed:
            chosen.append(min(candidates, key=lambda candidate: due_times[candidate.id]).id)
        elif token in capacity:
            chosen += [candidate.id for candidate in select_stalest(candidates, capacity[token])]
    return chosen


@transaction.atomic(savepoint=False)
def lease_jobs(now: datetime, ids: list[UUID]) -> list[JobLease]:
    """Lease the jobs that no other tick has leased, by one update.

    The new time is unique to this tick, to the microsecond, so it shows whose lease it is. A row
    locked by another transaction is left to the next tick: a transaction that locks many, such as a
    token that takes over another one's jobs, locks them in another order, and both would deadlock.
    """
    until = now + PICKUP_TIMEOUT + timedelta(microseconds=randrange(1_000_000))  # noqa: S311
    # Conditions on the row alone: PostgreSQL does not recheck a join after waiting for a lock.
    due = Job.objects.filter(
        pk__in=ids, state=JobState.RUNNING, next_poll_at__lte=now + EARLY_POLL_TOLERANCE
    )
    unlocked = due.select_for_update(skip_locked=True)
    leased_ids = set(unlocked.values_list("pk", flat=True))
    Job.objects.filter(pk__in=leased_ids).update(next_poll_at=until)
    return [JobLease(id, until) for id in ids if id in leased_ids]


def lease_due_part_reads() -> Iterator[JobLease]:
    """Yield jobs whose parts are to be read, each leased to the caller."""
    now = timezone.now()
    until = now + PICKUP_TIMEOUT + timedelta(microseconds=randrange(1_000_000))  # noqa: S311
    waiting = Job.objects.due_part_reads(now).order_by("parts_due_at")
    for id, due_at in waiting.values_list("pk", "parts_due_at")[:LEASE_BATCH_SIZE]:
        if Job.objects.filter(pk=id, parts_due_at=due_at).update(parts_due_at=until):
            yield JobLease(id, until)


def lease_due_quotes() -> Iterator[UUID]:
    """Yield drafts whose requested price did not arrive, each leased to the caller."""
    now = timezone.now()
    due = Draft.objects.filter(
        upstream_address.current_upstream_filter("job__account__environment"),
        job__kind__in=[kind for kind, spec in KINDS.items() if spec.quote],
        quote_due_at__lte=now,
    )
    waiting = due.values_list("pk", "quote_due_at")
    for id, due_at in waiting[:LEASE_BATCH_SIZE]:
        draft = Draft.objects.filter(pk=id, quote_due_at=due_at)
        if draft.update(quote_due_at=now + LEASE_DURATION):
            yield id


def lease_due_page_reads() -> Iterator[UUID]:
    """Yield drafts whose web page is to be read, each leased to the caller."""
    now = timezone.now()
    rows = PageRead.objects.due(now).values_list("pk", "due_at")[:LEASE_BATCH_SIZE]
    for id, due_at in rows:
        row = PageRead.objects.filter(pk=id, due_at=due_at)
        if row.update(due_at=now + PAGE_READ_LEASE, state=PageReadState.READING):
            yield id


def lease_due_account_reads(
    reads: type[IdeaRefresh] | type[VoiceSlots] | type[CharacterGenres],
) -> Iterator[UUID]:
    """Yield accounts whose list is to be read, each leased to the caller."""
    now = timezone.now()
    waiting = reads.objects.due(now).values_list("pk", "due_at")
    for id, due_at in waiting[:LEASE_BATCH_SIZE]:
        if reads.objects.filter(pk=id, due_at=due_at).update(due_at=now + LIST_READ_LEASE):
            yield id


def lease_due_charges() -> Iterator[tuple[UUID, ChargeState]]:
    """Yield due charges that no worker picked up, each leased to the caller, with the state that
    was read."""
    now = timezone.now()
    rows = Charge.objects.due(now).values_list("pk", "due_at", "state")[:LEASE_BATCH_SIZE]
    for id, due_at, state in rows:
        if Charge.objects.filter(pk=id, due_at=due_at).update(due_at=now + LEASE_DURATION):
            yield id, ChargeState(state)
