"""Evidence: what is read before a charging call, and whether it later proves that the call was
carried out.

A difference in the resource proves it. Equal readings prove nothing if the operation can return to
the same state (failed → rendering → failed); then the ledger alone decides. Each kind defines which
read gives the evidence, what is stored and what proves it (`proxyapi/kinds`).
"""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from proxyapi import calls
from proxyapi.charges.idea_search import IdeaSearchEvidence
from proxyapi.kinds import KINDS, KindSpec, StatusReading, UpstreamRecord
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.operations import ExecutionEvidence, get_operation
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors

PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a permit
# The resource or its token is gone: another token of the account can still read the ledger.
UNREADABLE_ERRORS = (errors.Unauthorized, errors.NotFound, calls.TokenUnusable, *calls.PLAN_ERRORS)
# The evidence belongs to the account: another charge of the same operation may have changed it.
SHARED_EVIDENCE = (ExecutionEvidence.IDEAS, ExecutionEvidence.SLOTS)


def evidence_of(charge: Charge) -> KindSpec | IdeaSearchEvidence:
    kind = get_operation(charge.operation).kind
    return KINDS[kind] if kind else IdeaSearchEvidence()


def fetch_evidence(charge: Charge, lane: Priority) -> UpstreamRecord:
    """The current result of the charge's free read; empty if it has none. Raises
    `errors.UpstreamError` or `RateLimitExhausted`."""
    source = evidence_of(charge)
    if (read := source.evidence_read(charge)) is None:
        return {}
    name, parameters = read
    requested_at = timezone.now()
    try:
        reply = calls.call_upstream(
            charge.token, name, lane, patience=PERMIT_TIMEOUT_S, **parameters
        )
    except (errors.Forbidden, errors.NotFound):
        if not isinstance(source, IdeaSearchEvidence):
            raise
        return source.resource_in([])  # nobody searched for this keyword yet
    if charge.job and name == KINDS[charge.job.kind].read_operation:
        KINDS[charge.job.kind].store_parts(charge.job, reply.data, requested_at)
    return source.resource_in(reply.data)


def snapshot(charge: Charge, record: UpstreamRecord) -> UpstreamRecord:
    """The part of the reading before the send to store; `by_ledger`: a debit alone proves the
    charge."""
    row, source = get_operation(charge.operation), evidence_of(charge)
    if charge.job:
        record = KINDS[charge.job.kind].select_evidence(charge, record)
    stored = source.snapshot(row, record)
    return {**stored, "by_ledger": source.is_debit_enough(row, stored)}


def proves_executed(charge: Charge, record: UpstreamRecord) -> bool:
    """Whether a later reading proves that the charge's operation was carried out."""
    row = get_operation(charge.operation)
    if not evidence_of(charge).proves(row, charge.before, record):
        return False
    return row.evidence not in SHARED_EVIDENCE or not concurrent_charges(charge).exists()


def concurrent_charges(charge: Charge) -> QuerySet[Charge]:
    """Other charges of this operation, of every team on the upstream account, that were in progress
    after the charge was sent, so that a difference may be theirs."""
    charges = Charge.objects.of_upstream_account(charge.account_id).exclude(pk=charge.pk)
    charges = charges.filter(operation=charge.operation).exclude(state=ChargeState.REFUSED)
    if get_operation(charge.operation).evidence is ExecutionEvidence.IDEAS:
        charges = charges.filter(body__keyword=charge.body.get("keyword"))
    is_later = Q(sent_at__gte=charge.sent_at)
    was_open = Q(sent_at__isnull=False, settled_at__isnull=True)
    return charges.filter(is_later | was_open | Q(settled_at__gte=charge.sent_at))


def already_started(charge: Charge, record: UpstreamRecord) -> StatusReading | None:
    """The status of a video that the upstream renders or has rendered, although this charge is to
    start it; None if the record does not show that.

    A render starts from a draft and a retry from a failed video; a job that is running here was
    started too. An unknown status proves nothing.
    """
    job, row = charge.job, get_operation(charge.operation)
    if job is None or not row.starts_rendering or not KINDS[job.kind].shows_start:
        return None
    spec, was_started = KINDS[job.kind], was_started_since_hold(job, charge)
    reading = spec.read_status(record)
    start_state, is_started = JobState.DRAFT, spec.is_started_status(reading.raw_status)
    if row.restarts_failed and not was_started:
        start_state = JobState.FAILED
        # A retry starts from a failure, or from the word that a run no longer moves from.
        is_start = reading.state == JobState.FAILED or (
            job.is_stalled and reading.raw_status == job.raw_status
        )
        is_started = is_started and not is_start
    is_to_start = job.state in (start_state, JobState.RUNNING) or was_started
    return reading if is_to_start and is_started else None


def was_started_since_hold(job: Job, charge: Charge) -> bool:
    """Whether another charge's late answer started it after this one was held."""
    held_at = charge.held_at or charge.created_at
    return job.started_at is not None and job.started_at > held_at


def resource_in_reply(charge: Charge, data: Any) -> UpstreamRecord:
    """The resource in an answer, in `data` itself or one level below."""
    return evidence_of(charge).resource_in(data)


def is_evidence_complete(charge: Charge, record: UpstreamRecord) -> bool:
    """Whether the record contains what proves this operation; a missing field is no evidence."""
    if get_operation(charge.operation).writes_script:
        return "script" in record
    return bool(reported_status(charge, record))


def created_resource_id(charge: Charge, record: UpstreamRecord) -> str:
    """The id of the created resource; empty if the record has none, or another job's."""
    if charge.job is None:
        return ""
    id = KINDS[charge.job.kind].created_id(record)
    return "" if charge.job.is_remote_id_taken(id) else id


def reported_status(charge: Charge, record: UpstreamRecord) -> str:
    spec = KINDS[charge.job.kind] if charge.job else None
    return spec.reported_status(get_operation(charge.operation), record) if spec else ""
