"""Evidence: what is read before a charging call, and whether it proves afterwards that the call was
carried out.

What a resource shows differently from before proves it; what it shows alike proves nothing where
the way back looks the same (failed → rendering → failed), and there the ledger alone decides. Which
read shows it, what is kept and what proves it is each kind's (`proxyapi/kinds`).
"""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from proxyapi import calls
from proxyapi.charges.idea_search import IdeaSearchEvidence
from proxyapi.kinds import KINDS, KindSpec, StatusReading, UpstreamRecord
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.operations import ExecutionEvidence, get_operation
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors

PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a turn
# The resource is gone, or its token is: another one of the account still reads the ledger.
UNREADABLE_ERRORS = (errors.Unauthorized, errors.NotFound, calls.TokenUnusable, *calls.PLAN_ERRORS)
# What shows it is the account's: another charge of the same operation may have changed it.
SHARED_EVIDENCE = (ExecutionEvidence.IDEAS, ExecutionEvidence.SLOTS)


def evidence_of(charge: Charge) -> KindSpec | IdeaSearchEvidence:
    kind = get_operation(charge.operation).kind
    return KINDS[kind] if kind else IdeaSearchEvidence()


def fetch_evidence(charge: Charge, lane: Priority) -> UpstreamRecord:
    """What the charge's free read says now; empty where there is none. Raises
    `errors.UpstreamError`, `RateLimitExhausted`."""
    source = evidence_of(charge)
    if (read := source.evidence_read(charge)) is None:
        return {}
    name, parameters = read
    reply = calls.call_upstream(charge.token, name, lane, patience=PERMIT_TIMEOUT_S, **parameters)
    return source.resource_in(reply.data)


def snapshot(charge: Charge, record: UpstreamRecord) -> UpstreamRecord:
    """What to keep of what was read just before sending; `by_ledger`: a debit proves it alone."""
    row, source = get_operation(charge.operation), evidence_of(charge)
    kept = source.snapshot(row, record)
    return {**kept, "by_ledger": source.is_debit_enough(row, kept)}


def proves_executed(charge: Charge, record: UpstreamRecord) -> bool:
    """Whether the same, read again, proves that the charge's operation was carried out."""
    row = get_operation(charge.operation)
    if not evidence_of(charge).proves(row, charge.before, record):
        return False
    return row.evidence not in SHARED_EVIDENCE or not concurrent_charges(charge).exists()


def concurrent_charges(charge: Charge) -> QuerySet[Charge]:
    """Other charges of this operation, of every team on the upstream account, that were on their
    way after the charge was sent: what differs from before may be theirs."""
    others = Charge.objects.of_upstream_account(charge.account_id).exclude(pk=charge.pk)
    others = others.filter(operation=charge.operation).exclude(state=ChargeState.REFUSED)
    if get_operation(charge.operation).evidence is ExecutionEvidence.IDEAS:
        others = others.filter(body__keyword=charge.body.get("keyword"))
    is_later = Q(sent_at__gte=charge.sent_at)
    was_open = Q(sent_at__isnull=False, settled_at__isnull=True)
    return others.filter(is_later | was_open | Q(settled_at__gte=charge.sent_at))


def already_started(charge: Charge, record: UpstreamRecord) -> StatusReading | None:
    """What the record says of a video that the service renders already, or has rendered to an end,
    although it is only to be started; None where nothing says so.

    A render starts from a draft and a retry from a failed one; what runs here was started, too. An
    unknown word says nothing.
    """
    job, row = charge.job, get_operation(charge.operation)
    if job is None or not row.starts_rendering or not KINDS[job.kind].shows_start:
        return None
    spec, ran_since = KINDS[job.kind], was_started_since_hold(job, charge)
    start, words = JobState.DRAFT, spec.started_statuses
    if row.restarts_failed:
        start = JobState.FAILED
        # Where a retry starts from, unless it is another failure than it was pressed for.
        words = words if ran_since else words - spec.failed_statuses
    reading = spec.read_status(record)
    is_to_start = job.state in (start, JobState.RUNNING) or ran_since
    return reading if is_to_start and reading.raw_status in words else None


def was_started_since_hold(job: Job, charge: Charge) -> bool:
    """Whether another charge's late answer started it after this one was held."""
    held_at = charge.held_at or charge.created_at
    return job.started_at is not None and job.started_at > held_at


def resource_in_reply(charge: Charge, data: Any) -> UpstreamRecord:
    """The resource in an answer, whether it stands in `data` itself or one level down."""
    return evidence_of(charge).resource_in(data)


def is_evidence_complete(charge: Charge, record: UpstreamRecord) -> bool:
    """Whether the record shows what proves this operation; what is not there was not seen."""
    if get_operation(charge.operation).writes_script:
        return "script" in record
    return bool(reported_status(charge, record))


def created_resource_id(charge: Charge, record: UpstreamRecord) -> str:
    """The id of what a creating call made; empty where the record tells none, or another job's."""
    if charge.job is None:
        return ""
    id = KINDS[charge.job.kind].created_id(record)
    return "" if charge.job.is_remote_id_taken(id) else id


def reported_status(charge: Charge, record: UpstreamRecord) -> str:
    spec = KINDS[charge.job.kind] if charge.job else None
    return spec.reported_status(get_operation(charge.operation), record) if spec else ""
