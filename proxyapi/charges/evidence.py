"""Evidence: what is read before a charging call, what proves it afterwards, which read tells.

One row a kind, after the table of the operations (`docs/reference/evidence.md`). What a resource
shows differently from before proves that the call was carried out; what it shows alike proves
nothing where the way back looks the same (failed → rendering → failed), and there the ledger alone
decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from proxyapi import calls, drafts
from proxyapi.models import Charge, ChargeState, Job, JobKind, JobState
from proxyapi.operations import (
    CHARGED_CREATE_OPERATIONS,
    EVIDENCE_READS,
    RENDER_OPERATIONS,
    ExecutionEvidence,
    get_operation,
)
from proxyapi.polling.status_reading import (
    KINDS,
    StatusReading,
    find_status_object,
    unwrap_single_object,
)
from proxyapi.polling.status_reading import parse_status_reading as sight_of
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors, response_parsing

UpstreamRecord = dict[str, Any]

IN_PROGRESS_STATUSES = frozenset({"rendering", "syncing"})  # spec, States and transitions
PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a turn
# The resource is gone, or its token is: another one of the account still reads the ledger.
UNREADABLE_ERRORS = (errors.Unauthorized, errors.NotFound, calls.TokenUnusable, *calls.PLAN_ERRORS)


class Probe(NamedTuple):
    """One kind of evidence.

    `words`: what proves it, for the documentation; `read`: the free read; `keep`: what is kept of
    it before the call; `shows`: whether it proves, read again, that the call was carried out;
    `by_ledger`: whether, after what was kept, a debit proves it alone, because the read may show
    nothing of it.
    """

    description: str
    fetch: Callable[[Charge, Priority], UpstreamRecord]
    capture: Callable[[Charge, UpstreamRecord], UpstreamRecord]
    proves: Callable[[Charge, UpstreamRecord], bool]
    is_debit_enough: Callable[[Charge, UpstreamRecord], bool]


def fetch_evidence(charge: Charge, lane: Priority) -> UpstreamRecord:
    """What the charge's free read says now; empty where there is none, such as for a clip whose
    id is only in the lost answer. Raises `errors.UpstreamError`, `AllowanceExhausted`."""
    return PROBES[get_operation(charge.operation).evidence].fetch(charge, lane)


def snapshot(charge: Charge, record: UpstreamRecord) -> UpstreamRecord:
    """What to keep of what was read just before sending."""
    row = PROBES[get_operation(charge.operation).evidence]
    kept = row.capture(charge, record)
    return {**kept, "by_ledger": row.is_debit_enough(charge, kept)}


def already_started(charge: Charge, record: UpstreamRecord) -> StatusReading | None:
    """What the record says of a video that the service renders already, or has rendered to an end,
    although it is only to be started; None where nothing says so.

    A render starts from a draft and a retry from a failed one; what runs here was started, too. An
    unknown word says nothing. Of a character the spec does not show where its training starts.
    """
    job = charge.job
    if job is None or charge.operation not in RENDER_OPERATIONS or job.kind == JobKind.CHARACTER:
        return None
    is_retry = get_operation(charge.operation).restarts_failed
    start = JobState.FAILED if is_retry else JobState.DRAFT
    ran_since = was_started_since_hold(job, charge)
    # Where a retry starts from, unless it is another failure than the one that it was pressed for.
    begins = KINDS[job.kind].failed_statuses if is_retry and not ran_since else frozenset()
    words = statuses_after_start(job.kind) - begins
    sight = sight_of(job.kind, record)
    is_to_start = job.state in (start, JobState.RUNNING) or ran_since
    return sight if is_to_start and sight.raw_status in words else None


def was_started_since_hold(job: Job, charge: Charge) -> bool:
    """Whether another charge's late answer started it after this one was held."""
    held_at = charge.held_at or charge.created_at
    return job.started_at is not None and job.started_at > held_at


def statuses_after_start(kind: str) -> frozenset[str]:
    """The words that only a start leads to."""
    return IN_PROGRESS_STATUSES | KINDS[kind].completed_statuses | KINDS[kind].failed_statuses


def proves_executed(charge: Charge, record: UpstreamRecord) -> bool:
    """Whether the same, read again, proves that the charge's operation was carried out."""
    return PROBES[get_operation(charge.operation).evidence].proves(charge, record)


def resource_in_reply(charge: Charge, data: Any) -> UpstreamRecord:
    """The resource in an answer, whether it stands in `data` itself or one level down."""
    if charge.job and charge.job.kind == JobKind.FACELESS:
        return drafts.faceless_record(data)
    return dict(response_parsing.as_mapping(data))


def is_evidence_complete(charge: Charge, record: UpstreamRecord) -> bool:
    """Whether the record shows what proves this operation; what is not there was not seen."""
    if get_operation(charge.operation).writes_script:
        return "script" in record
    return bool(reported_status(charge, record))


def created_resource_id(charge: Charge, record: UpstreamRecord) -> str:
    """The id of what a creating call made; empty where the record tells none, or another job's."""
    if charge.job is None:
        return ""
    ids = (holder.get("id") for holder in candidate_records(charge, record))
    told = next((str(id) for id in ids if response_parsing.is_resource_id(id)), "")
    return "" if charge.job.is_remote_id_taken(told) else told


def candidate_records(charge: Charge, record: UpstreamRecord) -> list[UpstreamRecord]:
    """Where what a creating call made may stand, as the spec does not show its body: as the reads
    show it, in the record itself, or in the one object that it holds."""
    way = KINDS[charge.job.kind if charge.job else JobKind.FACELESS]
    return [find_status_object(record, way.status_key), record, unwrap_single_object(record)]


def fetch_resource(charge: Charge, lane: Priority) -> UpstreamRecord:
    job = charge.job
    if job is None or job.remote_id is None or charge.operation in CHARGED_CREATE_OPERATIONS:
        return {}
    way, path = KINDS[job.kind], {"id": job.remote_id}
    reply = calls.call_upstream(
        charge.token, way.operation, lane, patience=PERMIT_TIMEOUT_S, path=path
    )
    return resource_in_reply(charge, reply.data)


def fetch_newest_ideas(charge: Charge, lane: Priority) -> UpstreamRecord:
    """The newest ideas of the same search (spec, Limits: this list before anything else)."""
    query = {
        "keyword": str(charge.body.get("keyword", "")),
        "network": str(charge.body.get("network", "")),
        "sort": "-created_at",
        "per_page": 50,
    }
    read = EVIDENCE_READS[ExecutionEvidence.IDEAS]
    reply = calls.call_upstream(charge.token, read, lane, patience=PERMIT_TIMEOUT_S, query=query)
    return {"ideas": [row for row in list_or_empty(reply.data) if isinstance(row, dict)]}


def fetch_slots(charge: Charge, lane: Priority) -> UpstreamRecord:
    read = EVIDENCE_READS[ExecutionEvidence.SLOTS]
    reply = calls.call_upstream(charge.token, read, lane, patience=PERMIT_TIMEOUT_S)
    return dict(response_parsing.as_mapping(reply.data))


def capture_resource(charge: Charge, record: UpstreamRecord) -> UpstreamRecord:
    return {
        "status": reported_status(charge, record),
        "script": script_digest(record.get("script")),
        "failure": reported_failure(
            charge, record
        ),  # a retry clears it, and people ask for it later
        "part": part_ids(charge, record),
    }


def capture_idea_ids(_: Charge, record: UpstreamRecord) -> UpstreamRecord:
    return {"ideas": idea_ids(record)}


def capture_free_slots(_: Charge, record: UpstreamRecord) -> UpstreamRecord:
    return {"available": free_slot_count(record)}


def has_status_changed(charge: Charge, record: UpstreamRecord) -> bool:
    if get_operation(charge.operation).part_list:
        return has_part_changed(charge, record)
    status = reported_status(charge, record)
    if charge.job and not charge.before.get("status"):  # it was not told, and may have been any
        return status in statuses_after_start(charge.job.kind)
    return bool(status) and status != charge.before.get("status")


def has_script_changed(charge: Charge, record: UpstreamRecord) -> bool:
    script = record.get("script")
    return bool(script) and script_digest(script) != charge.before.get("script")


def is_shown_without_ledger(charge: Charge, record: UpstreamRecord) -> bool:
    # A retry starts from `failed`: that again proves nothing, nor what it was sent in spite of.
    if get_operation(charge.operation).restarts_failed:
        return has_status_changed(charge, record) and reported_status(charge, record) != "failed"
    return has_part_changed(charge, record)


def has_part_changed(charge: Charge, record: UpstreamRecord) -> bool:
    part = part_ids(charge, record)
    return part is not None and part != charge.before.get("part")


def has_new_ideas(charge: Charge, record: UpstreamRecord) -> bool:
    """Ideas that were not there, and no other search for this keyword that may have found them."""
    if not set(idea_ids(record)) - set(charge.before.get("ideas", [])):
        return False
    same = concurrent_charges(charge).filter(body__keyword=charge.body.get("keyword"))
    return not same.exists()


def was_slot_taken(charge: Charge, record: UpstreamRecord) -> bool:
    """One free slot fewer, and no other clone of the account that may have taken it."""
    was, now = charge.before.get("available"), free_slot_count(record)
    if was is None or now is None or now >= was:
        return False
    return not concurrent_charges(charge).exists()


def concurrent_charges(charge: Charge) -> QuerySet[Charge]:
    """Other charges of this operation, of every team on the upstream account, that were on their
    way after the charge was sent: what differs from before may be theirs."""
    others = Charge.objects.of_upstream_account(charge.account_id).exclude(pk=charge.pk)
    others = others.filter(operation=charge.operation).exclude(state=ChargeState.REFUSED)
    is_later = Q(sent_at__gte=charge.sent_at)
    was_open = Q(sent_at__isnull=False, settled_at__isnull=True)
    return others.filter(is_later | was_open | Q(settled_at__gte=charge.sent_at))


def can_end_as_it_began(charge: Charge, kept: UpstreamRecord) -> bool:
    """Whether it began from a word that it may have come back to by now."""
    way = KINDS[charge.job.kind] if charge.job else None
    ends = way.completed_statuses | way.failed_statuses if way else frozenset()
    has_parts = bool(get_operation(charge.operation).part_list)
    return has_parts or kept.get("status") in ends


def had_ideas_before(_: Charge, kept: UpstreamRecord) -> bool:
    """A search that was made before charges again and need not find anything new (pitfall 35)."""
    return bool(kept.get("ideas"))


def had_no_free_slot(_: Charge, kept: UpstreamRecord) -> bool:
    """A slot that is bought and taken leaves as many as before: none."""
    return not kept.get("available")


def always_true(_: Charge, __: UpstreamRecord) -> bool:
    return True


def always_false(_: Charge, __: UpstreamRecord) -> bool:
    return False


PROBES: Mapping[ExecutionEvidence, Probe] = {
    ExecutionEvidence.STATUS: Probe(
        "another status, or another part, than before; from a last status on, a debit alone",
        fetch_resource,
        capture_resource,
        has_status_changed,
        can_end_as_it_began,
    ),
    ExecutionEvidence.SCRIPT: Probe(
        "another script than before",
        fetch_resource,
        capture_resource,
        has_script_changed,
        always_false,
    ),
    ExecutionEvidence.LEDGER: Probe(
        "a debit alone", fetch_resource, capture_resource, is_shown_without_ledger, always_true
    ),
    ExecutionEvidence.IDEAS: Probe(
        "ideas that were not there; searched before, a debit alone",
        fetch_newest_ideas,
        capture_idea_ids,
        has_new_ideas,
        had_ideas_before,
    ),
    ExecutionEvidence.SLOTS: Probe(
        "one free slot fewer; without one before, a debit alone",
        fetch_slots,
        capture_free_slots,
        was_slot_taken,
        had_no_free_slot,
    ),
}


def reported_status(charge: Charge, record: UpstreamRecord) -> str:
    # A read shows its status in one place; another word beside it is not the video's (pitfall 5).
    places = (
        candidate_records(charge, record)
        if charge.operation in CHARGED_CREATE_OPERATIONS
        else candidate_records(charge, record)[:1]
    )
    words = (place.get("status") for place in places)
    return next((word for word in words if isinstance(word, str) and word), "")


def reported_failure(charge: Charge, record: UpstreamRecord) -> dict[str, str] | None:
    if charge.job is None:
        return None
    sight = sight_of(charge.job.kind, record)
    if sight.state != JobState.FAILED:
        return None
    return {"code": sight.failure_code, "message": sight.failure_message}


def part_ids(charge: Charge, record: UpstreamRecord) -> list[str] | None:
    """The ids in the list that the operation adds to, and whether each has a clip."""
    rows = record.get(get_operation(charge.operation).part_list)
    if not isinstance(rows, list):
        return None
    return [f"{row.get('id')} {bool(row.get('clip'))}" for row in rows if isinstance(row, dict)]


def idea_ids(record: UpstreamRecord) -> list[str]:
    return sorted(str(row.get("id")) for row in record.get("ideas", []))


def free_slot_count(record: UpstreamRecord) -> int | None:
    """How many are free; a flag counts as one or none."""
    available = record.get("available")
    return int(available) if isinstance(available, int) else None


def list_or_empty(data: Any) -> list[Any]:
    return data if isinstance(data, list) else []


def script_digest(script: object) -> str:
    return hashlib.sha256(str(script or "").encode()).hexdigest()
