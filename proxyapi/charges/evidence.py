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
from proxyapi.allowance import Lane
from proxyapi.models import Charge, ChargeState, Job, JobKind, JobState
from proxyapi.models.charge import CREATES, RENDERS
from proxyapi.upstream import errors, wire
from proxyapi.upstream.catalog import operation
from proxyapi.upstream.operation import Evidence
from proxyapi.watching.states import WAYS, Sight, alone, inner
from proxyapi.watching.states import read as sight_of

Record = dict[str, Any]

# Lists in a record that grow when these are carried out. The spec does not show them: a record
# without them proves nothing, and the ledger decides.
PARTS: Mapping[str, str] = {
    "faceless.export": "exports",
    "ai_visuals.upload": "assets",
    "characters.preview": "previews",
    "text_to_scene.prompt": "scenes",
    "text_to_scene.clips": "scenes",
}
BUSY = frozenset({"rendering", "syncing"})  # spec, States and transitions
PATIENCE = 2.0  # seconds to wait for a turn
# The resource is gone, or its token is: another one of the account still reads the ledger.
NOT_SHOWN = (errors.Unauthorized, errors.NotFound, calls.TokenShut, *calls.PLAN_ERRORS)


class Row(NamedTuple):
    """One kind of evidence.

    `words`: what proves it, for the documentation; `read`: the free read; `keep`: what is kept of
    it before the call; `shows`: whether it proves, read again, that the call was carried out;
    `by_ledger`: whether, after what was kept, a debit proves it alone, because the read may show
    nothing of it.
    """

    words: str
    read: Callable[[Charge, Lane], Record]
    keep: Callable[[Charge, Record], Record]
    shows: Callable[[Charge, Record], bool]
    by_ledger: Callable[[Charge, Record], bool]


def look(charge: Charge, lane: Lane) -> Record:
    """What the charge's free read says now; empty where there is none, such as for a clip whose
    id is only in the lost answer. Raises `errors.UpstreamError`, `AllowanceExhausted`."""
    return TABLE[operation(charge.operation).evidence].read(charge, lane)


def before(charge: Charge, record: Record) -> Record:
    """What to keep of what was read just before sending."""
    row = TABLE[operation(charge.operation).evidence]
    kept = row.keep(charge, record)
    return {**kept, "by_ledger": row.by_ledger(charge, kept)}


def begun(charge: Charge, record: Record) -> Sight | None:
    """What the record says of a video that the service renders already, or has rendered to an end,
    although it is only to be started; None where nothing says so.

    A render starts from a draft and a retry from a failed one; what runs here was started, too. An
    unknown word says nothing. Of a character the spec does not show where its training starts.
    """
    job = charge.job
    if job is None or charge.operation not in RENDERS or job.kind == JobKind.CHARACTER:
        return None
    is_retry = charge.operation == "faceless.retry"
    start = JobState.FAILED if is_retry else JobState.DRAFT
    ran_since = has_run_since(job, charge)
    # Where a retry starts from, unless it is another failure than the one that it was pressed for.
    begins = WAYS[job.kind].failed if is_retry and not ran_since else frozenset()
    words = after_a_start(job.kind) - begins
    sight = sight_of(job.kind, record)
    is_to_start = job.state in (start, JobState.RUNNING) or ran_since
    return sight if is_to_start and sight.raw in words else None


def has_run_since(job: Job, charge: Charge) -> bool:
    """Whether another charge's late answer started it after this one was held."""
    held_at = charge.held_at or charge.created_at
    return job.started_at is not None and job.started_at > held_at


def after_a_start(kind: str) -> frozenset[str]:
    """The words that only a start leads to."""
    return BUSY | WAYS[kind].completed | WAYS[kind].failed


def carried_out(charge: Charge, record: Record) -> bool:
    """Whether the same, read again, proves that the charge's operation was carried out."""
    return TABLE[operation(charge.operation).evidence].shows(charge, record)


def record_of(charge: Charge, data: Any) -> Record:
    """The resource in an answer, whether it stands in `data` itself or one level down."""
    if charge.job and charge.job.kind == JobKind.FACELESS:
        return drafts.record(data)
    return dict(wire.mapping(data))


def is_whole(charge: Charge, record: Record) -> bool:
    """Whether the record shows what proves this operation; what is not there was not seen."""
    if operation(charge.operation).evidence is Evidence.SCRIPT:
        return "script" in record
    return bool(status_of(charge, record))


def made(charge: Charge, record: Record) -> str:
    """The id of what a creating call made; empty where the record tells none, or another job's."""
    if charge.job is None:
        return ""
    ids = (holder.get("id") for holder in holders(charge, record))
    told = next((str(id) for id in ids if wire.is_id(id)), "")
    return "" if charge.job.is_anothers(told) else told


def holders(charge: Charge, record: Record) -> list[Record]:
    """Where what a creating call made may stand, as the spec does not show its body: as the reads
    show it, in the record itself, or in the one object that it holds."""
    way = WAYS[charge.job.kind if charge.job else JobKind.FACELESS]
    return [inner(record, way.inner), record, alone(record)]


def resource(charge: Charge, lane: Lane) -> Record:
    job = charge.job
    if job is None or job.remote_id is None or charge.operation in CREATES:
        return {}
    way, path = WAYS[job.kind], {"id": job.remote_id}
    reply = calls.call(charge.token, way.operation, lane, patience=PATIENCE, path=path)
    return record_of(charge, reply.data)


def ideas(charge: Charge, lane: Lane) -> Record:
    """The newest ideas of the same search (spec, Limits: this list before anything else)."""
    query = {
        "keyword": str(charge.body.get("keyword", "")),
        "network": str(charge.body.get("network", "")),
        "sort": "-created_at",
        "per_page": 50,
    }
    reply = calls.call(charge.token, "ideas.list", lane, patience=PATIENCE, query=query)
    return {"ideas": [row for row in listed(reply.data) if isinstance(row, dict)]}


def slots(charge: Charge, lane: Lane) -> Record:
    reply = calls.call(charge.token, "voice_clones.slots", lane, patience=PATIENCE)
    return dict(wire.mapping(reply.data))


def kept_of_resource(charge: Charge, record: Record) -> Record:
    return {
        "status": status_of(charge, record),
        "script": digest(record.get("script")),
        "failure": failure_of(charge, record),  # a retry clears it, and people ask for it later
        "part": part_of(charge, record),
    }


def kept_of_ideas(_: Charge, record: Record) -> Record:
    return {"ideas": idea_ids(record)}


def kept_of_slots(_: Charge, record: Record) -> Record:
    return {"available": free_slots(record)}


def status_differs(charge: Charge, record: Record) -> bool:
    if charge.operation in PARTS:
        return part_differs(charge, record)
    status = status_of(charge, record)
    if charge.job and not charge.before.get("status"):  # it was not told, and may have been any
        return status in after_a_start(charge.job.kind)
    return bool(status) and status != charge.before.get("status")


def script_differs(charge: Charge, record: Record) -> bool:
    script = record.get("script")
    return bool(script) and digest(script) != charge.before.get("script")


def shown_beside_the_ledger(charge: Charge, record: Record) -> bool:
    # A retry starts from `failed`: that again proves nothing, nor what it was sent in spite of.
    if charge.operation == "faceless.retry":
        return status_differs(charge, record) and status_of(charge, record) != "failed"
    return part_differs(charge, record)


def part_differs(charge: Charge, record: Record) -> bool:
    part = part_of(charge, record)
    return part is not None and part != charge.before.get("part")


def ideas_came(charge: Charge, record: Record) -> bool:
    """Ideas that were not there, and no other search for this keyword that may have found them."""
    if not set(idea_ids(record)) - set(charge.before.get("ideas", [])):
        return False
    same = sent_meanwhile(charge).filter(body__keyword=charge.body.get("keyword"))
    return not same.exists()


def slot_taken(charge: Charge, record: Record) -> bool:
    """One free slot fewer, and no other clone of the account that may have taken it."""
    was, now = charge.before.get("available"), free_slots(record)
    if was is None or now is None or now >= was:
        return False
    return not sent_meanwhile(charge).exists()


def sent_meanwhile(charge: Charge) -> QuerySet[Charge]:
    """Other charges of this operation, of every team on the upstream account, that were on their
    way after the charge was sent: what differs from before may be theirs."""
    others = Charge.objects.of_upstream_account(charge.account_id).exclude(pk=charge.pk)
    others = others.filter(operation=charge.operation).exclude(state=ChargeState.REFUSED)
    is_later = Q(sent_at__gte=charge.sent_at)
    was_open = Q(sent_at__isnull=False, settled_at__isnull=True)
    return others.filter(is_later | was_open | Q(settled_at__gte=charge.sent_at))


def ends_as_it_began(charge: Charge, kept: Record) -> bool:
    """Whether it began from a word that it may have come back to by now."""
    way = WAYS[charge.job.kind] if charge.job else None
    ends = way.completed | way.failed if way else frozenset()
    return charge.operation in PARTS or kept.get("status") in ends


def had_ideas(_: Charge, kept: Record) -> bool:
    """A search that was made before charges again and need not find anything new (pitfall 35)."""
    return bool(kept.get("ideas"))


def had_no_slot(_: Charge, kept: Record) -> bool:
    """A slot that is bought and taken leaves as many as before: none."""
    return not kept.get("available")


def always(_: Charge, __: Record) -> bool:
    return True


def never(_: Charge, __: Record) -> bool:
    return False


TABLE: Mapping[Evidence, Row] = {
    Evidence.STATUS: Row(
        "another status, or another part, than before; from a last status on, a debit alone",
        resource,
        kept_of_resource,
        status_differs,
        ends_as_it_began,
    ),
    Evidence.SCRIPT: Row(
        "another script than before", resource, kept_of_resource, script_differs, never
    ),
    Evidence.LEDGER: Row(
        "a debit alone", resource, kept_of_resource, shown_beside_the_ledger, always
    ),
    Evidence.IDEAS: Row(
        "ideas that were not there; searched before, a debit alone",
        ideas,
        kept_of_ideas,
        ideas_came,
        had_ideas,
    ),
    Evidence.SLOTS: Row(
        "one free slot fewer; without one before, a debit alone",
        slots,
        kept_of_slots,
        slot_taken,
        had_no_slot,
    ),
}


def status_of(charge: Charge, record: Record) -> str:
    # A read shows its status in one place; another word beside it is not the video's (pitfall 5).
    places = holders(charge, record) if charge.operation in CREATES else holders(charge, record)[:1]
    words = (place.get("status") for place in places)
    return next((word for word in words if isinstance(word, str) and word), "")


def failure_of(charge: Charge, record: Record) -> dict[str, str] | None:
    if charge.job is None:
        return None
    sight = sight_of(charge.job.kind, record)
    if sight.state != JobState.FAILED:
        return None
    return {"code": sight.failure_code, "message": sight.failure_message}


def part_of(charge: Charge, record: Record) -> list[str] | None:
    """The ids in the list that the operation adds to, and whether each has a clip."""
    name = PARTS.get(charge.operation, "")
    rows = record.get(name)
    if not isinstance(rows, list):
        return None
    return [f"{row.get('id')} {bool(row.get('clip'))}" for row in rows if isinstance(row, dict)]


def idea_ids(record: Record) -> list[str]:
    return sorted(str(row.get("id")) for row in record.get("ideas", []))


def free_slots(record: Record) -> int | None:
    """How many are free; a flag counts as one or none."""
    available = record.get("available")
    return int(available) if isinstance(available, int) else None


def listed(data: Any) -> list[Any]:
    return data if isinstance(data, list) else []


def digest(script: object) -> str:
    return hashlib.sha256(str(script or "").encode()).hexdigest()
