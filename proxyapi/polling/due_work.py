"""Select due rows and claim them by moving their time forward, so that two ticks take none twice.

A tick costs by what is due, not by what runs: first the tokens with due jobs, then the jobs of
those that have requests left, then one update for all claimed rows. At most seven queries.
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

from proxyapi import rate_limiter, upstream_address
from proxyapi.kinds import MAX_PRICE_AGE
from proxyapi.models import Charge, ChargeState, Draft, Job, JobKind, JobState, Tenant
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.models.job import POLLING_STOPPED_HORIZON
from proxyapi.operations import ESTIMATED_RENDER_OPERATIONS, REFUNDABLE_OPERATIONS
from proxyapi.polling import circuit_breaker, clock_rollback, viewers
from proxyapi.polling.candidate_selection import PollCandidate, select_stalest
from proxyapi.polling.duration_history import DurationHistory, DurationKey
from proxyapi.polling.duration_model import MIN_POLL_INTERVAL_S
from proxyapi.polling.poll_failure import MAX_POLLING_AGE
from proxyapi.rate_limiter import Priority, RateLimiterUnavailable
from proxyapi.redis_client import connect_redis

# As long as a settling may take at worst; after that somebody else may try.
LEASE_DURATION = timedelta(seconds=25)
# A doorbell that no worker heard for so long was lost, or its worker was.
PICKUP_TIMEOUT = timedelta(seconds=15)
# A look that is due before the next tick half-way comes is taken now, and sent at its time.
EARLY_POLL_TOLERANCE = timedelta(milliseconds=200)
MAX_POLL_DELAY = timedelta(hours=2)  # and more than the longest between two looks
LEASE_BATCH_SIZE = 50
REFUND_LOOKBACK = timedelta(days=60)  # a refund that nobody missed for longer is not looked for
POLLING_TOKEN_COLUMNS = ("token__fingerprint", "account__environment")
JOB_COLUMNS = ("pk", "tenant_id", "next_poll_at", "started_at", "polled_at")


class PollingToken(NamedTuple):
    """A token with due jobs, in however many teams, by its allowance's name and the address of its
    service."""

    bucket: str
    environment: str


class JobLease(NamedTuple):
    """A job to look at, and the time in its row by which the caller is known to have it."""

    job_id: UUID
    until: datetime


def lease_due_jobs() -> list[JobLease]:
    """The jobs to look at now, the best of each token's, leased to the caller.

    Empty while the counter of requests does not answer: nothing could be sent.
    """
    now = timezone.now()
    due = Job.objects.due(now + EARLY_POLL_TOLERANCE)
    askers = due.order_by().values_list(*POLLING_TOKEN_COLUMNS).distinct()
    try:
        rooms, probed = polling_capacity([PollingToken(*row) for row in askers])
    except RateLimiterUnavailable:
        return []
    chosen = select_jobs_to_poll(now, rooms, probed) if rooms else []
    return lease_jobs(now, chosen) if chosen else []


def reschedule_after_clock_rollback() -> int:
    """After the clock was put back: jobs that were looked at in what is the future now are due, and
    so is all that was put off or noted then. Answers how many jobs.

    Else it would wait until the clock is there again. A look that failed then is known by its next
    one alone, further ahead than any rest, or given up before its time.
    """
    now = timezone.now()
    clock_rollback.repair_after_clock_rollback(now)
    put_off = Q(
        next_poll_at__gt=now + MAX_POLL_DELAY, next_poll_at__lt=now + POLLING_STOPPED_HORIZON
    )
    given_up = Q(
        next_poll_at__gt=now + POLLING_STOPPED_HORIZON, started_at__gt=now - MAX_POLLING_AGE
    )
    ahead = Q(polled_at__gt=now + clock_rollback.MAX_CLOCK_ROLLBACK) | put_off | given_up
    return Job.objects.filter(ahead, state=JobState.RUNNING).update(
        polled_at=Least("polled_at", now), next_poll_at=now + timedelta(seconds=MIN_POLL_INTERVAL_S)
    )


@transaction.atomic
def mark_missed_refunds() -> int:
    """Clips that were seen failed, and what they took was not noted as owed: each is owed it once.

    So it is when its price was settled in the same moment, and for those of an older release.
    """
    now = timezone.now()
    failed = Job.objects.filter(
        tenant__in=Tenant.objects.all(),  # the index of ended jobs begins with it
        state=JobState.FAILED,
        finished_at__gt=now - REFUND_LOOKBACK,
        kind=JobKind.CLIP,
    )
    unnoted = Charge.objects.filter(
        job=OuterRef("pk"),
        operation__in=REFUNDABLE_OPERATIONS,
        state__in=CHARGED_STATES,
        cost__gt=0,
        unidentified_at__isnull=True,
        refund_owed_at=None,
    )
    clips = failed.filter(Exists(unnoted)).select_for_update(of=("self",))
    for clip in clips:
        Charge.objects.mark_refund_owed(clip, now)
    return len(clips)


def requeue_stale_quotes() -> int:
    """Renders that wait for somebody's consent at a price of more than a day ago: it is asked
    again, so that what goes in the end goes at a price of now. Answers how many."""
    now = timezone.now()
    waiting = Charge.objects.filter(
        tenant__in=Tenant.objects.all(),  # the index of the states begins with it
        state=ChargeState.DRAFT,
        operation__in=ESTIMATED_RENDER_OPERATIONS,
    )
    old = Draft.objects.filter(job__charges__in=waiting, estimate_as_of__lt=now - MAX_PRICE_AGE)
    return old.filter(quote_due_at=None, quote_error="").update(quote_due_at=now)


def polling_capacity(
    askers: Iterable[PollingToken],
) -> tuple[dict[PollingToken, int], set[PollingToken]]:
    """How many looks each token may send now; and the tokens that ask for all of a service that is
    away, with one look each."""
    by_service: defaultdict[str, list[PollingToken]] = defaultdict(list)
    for asker in askers:
        by_service[asker.environment].append(asker)
    rooms: dict[PollingToken, int] = {}
    probed: set[PollingToken] = set()
    for environment, of_service in by_service.items():
        buckets = [asker.bucket for asker in of_service]
        found = rate_limiter.available_many(connect_redis(), buckets, Priority.POLLING)
        free = {one: room for one, room in zip(of_service, found, strict=True) if room}
        if free and circuit_breaker.is_circuit_open(environment):
            any_one = list(free)[randrange(len(free))]  # noqa: S311 - not a secret
            free = {any_one: 1} if circuit_breaker.acquire_probe_turn(environment) else {}
            probed |= free.keys()
        rooms |= free
    return rooms, probed


def select_jobs_to_poll(
    now: datetime, rooms: dict[PollingToken, int], probed: Set[PollingToken]
) -> list[UUID]:
    """The best of each token's due jobs. Of a service that is away, the one that waits longest for
    its turn: what nobody answers for has the most to tell each time, and the one whose answer would
    end the outage would not be asked."""
    buckets = {asker.bucket for asker in rooms}
    due = Job.objects.due(now + EARLY_POLL_TOLERANCE).filter(token__fingerprint__in=buckets)
    rows = list(due.values_list(*POLLING_TOKEN_COLUMNS, *JOB_COLUMNS, *DurationKey._fields[1:]))
    experience = DurationHistory(
        {row[len(POLLING_TOKEN_COLUMNS) + len(JOB_COLUMNS)] for row in rows}
    )
    weights = viewers.viewer_weights([(tenant, id) for _, _, id, tenant, *_ in rows])
    by_asker: defaultdict[PollingToken, list[PollCandidate[UUID]]] = defaultdict(list)
    turns: dict[UUID, datetime] = {}
    for row, weight in zip(rows, weights, strict=True):
        bucket, environment, id, _, turns[id], started_at, polled_at, *sort = row
        started_at = started_at or polled_at or now
        seen, age = ((at - started_at).total_seconds() for at in (polled_at or started_at, now))
        durations = experience.model_for(DurationKey(environment, *sort))
        by_asker[PollingToken(bucket, environment)].append(
            PollCandidate(id, max(0.0, seen), age, durations, weight)
        )
    chosen: list[UUID] = []
    for asker, its in by_asker.items():
        if asker in probed:
            chosen.append(min(its, key=lambda one: turns[one.id]).id)
        elif asker in rooms:
            chosen += [one.id for one in select_stalest(its, rooms[asker])]
    return chosen


@transaction.atomic(savepoint=False)
def lease_jobs(now: datetime, ids: list[UUID]) -> list[JobLease]:
    """Take those that nobody else took meanwhile, all by one update.

    The new time is this tick's own to the microsecond, so that it shows whose the row is. A row
    that somebody has locked is left to the next tick: who locks many, such as a token that takes
    over another one's jobs, locks them in an order of its own, and both would wait for ever.
    """
    until = now + PICKUP_TIMEOUT + timedelta(microseconds=randrange(1_000_000))  # noqa: S311
    # On the row alone: a join would not be looked at again when another tick was faster.
    due = Job.objects.filter(
        pk__in=ids, state=JobState.RUNNING, next_poll_at__lte=now + EARLY_POLL_TOLERANCE
    )
    free = due.select_for_update(skip_locked=True)
    taken = set(free.values_list("pk", flat=True))
    Job.objects.filter(pk__in=taken).update(next_poll_at=until)
    return [JobLease(id, until) for id in ids if id in taken]


def lease_due_quotes() -> Iterator[UUID]:
    """Drafts whose price was asked and did not come, each leased to the caller."""
    now = timezone.now()
    due = Draft.objects.filter(
        upstream_address.current_upstream_filter("job__account__environment"), quote_due_at__lte=now
    )
    waiting = due.values_list("pk", "quote_due_at")
    for id, due_at in waiting[:LEASE_BATCH_SIZE]:
        mine = Draft.objects.filter(pk=id, quote_due_at=due_at)
        if mine.update(quote_due_at=now + LEASE_DURATION):
            yield id


def lease_due_charges() -> Iterator[tuple[UUID, ChargeState]]:
    """Charges that no doorbell served, each leased to the caller, with the state of finding."""
    now = timezone.now()
    rows = Charge.objects.due(now).values_list("pk", "due_at", "state")[:LEASE_BATCH_SIZE]
    for id, due_at, state in rows:
        if Charge.objects.filter(pk=id, due_at=due_at).update(due_at=now + LEASE_DURATION):
            yield id, ChargeState(state)
