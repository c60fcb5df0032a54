"""Apply the result of an executed operation to its job, once for each charge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi import ideas
from proxyapi.charges import evidence
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS, StatusReading, UpstreamRecord, script_digest, unread_script_marker
from proxyapi.models import Charge, ChargeState, Job, JobState, ScriptVersion, lock_draft
from proxyapi.models.duration_class import duration_class_of
from proxyapi.models.job_part import PartState
from proxyapi.operations import (
    CHARGED_CREATE_OPERATIONS,
    RENDER_OPERATIONS,
    SCRIPT_OPERATIONS,
    ExecutionEvidence,
    get_operation,
)
from proxyapi.polling import FIRST_POLL_DELAY, part_reads
from proxyapi.upstream.reply import Reply

RESULT_READ_DELAY = timedelta(seconds=1)
MAYBE_LOST_RENDER_SENTENCE = (
    " It may be the render whose response was lost at {time:%H:%M} UTC. Its status is now checked."
)
NOW_POLLED_SENTENCE = " Its status is now checked."
ALREADY_RENDERING_SENTENCE = "The service is already processing this video. Nothing was charged."
ALREADY_ENDED_SENTENCES: Mapping[JobState | None, str] = {
    JobState.COMPLETED: "The service has already rendered this video. Nothing was charged.",
    JobState.FAILED: "The service has already tried to render this video. Nothing was charged.",
}


def is_conclusive(charge: Charge, record: UpstreamRecord, reply: Reply | None = None) -> bool:
    """Whether an answer contains the operation's result: the script, or the id of the created
    resource. Any other is done with a whole answer, and what that lacks is read with the next
    record."""
    if charge.operation in SCRIPT_OPERATIONS:
        return bool(script_text(record))
    if charge.operation in CHARGED_CREATE_OPERATIONS and charge.job_id:
        return bool(evidence.created_resource_id(charge, record))
    if reply is not None and (reply.data or (reply.credits and reply.credits.cost is not None)):
        return True
    row = get_operation(charge.operation)
    return KINDS[charge.job.kind].has_result(row, record) if charge.job else True


@transaction.atomic
def apply_result(charge: Charge, record: UpstreamRecord, data: Any = None) -> None:
    """Apply the result of an operation that was carried out upstream to its job, once for each
    charge.

    `record` is the resource as answered or read back, `data` the answer if there is one. The job is
    read again under a lock: people and polls may have changed it since the charge was sent.
    """
    now = timezone.now()
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    if job and is_resource_unidentified(job, charge, record):
        mark_unidentified_resource(charge, now)
        return
    result = build_kept_result(charge, record, data)
    unapplied = Charge.objects.filter(pk=charge.pk, applied_at__isnull=True)
    if not unapplied.update(applied_at=now, unidentified_at=None, result=result):
        return
    charge.applied_at, charge.unidentified_at, charge.result = now, None, result
    if is_idea_search(charge):
        ideas.store_search_result(charge)
    if job is not None:
        apply_to_parts(job, charge, record, now)
        advance_job(job, charge, record, now)
        if not KINDS[job.kind].store_result(job, charge, record):
            part_reads.read_parts_soon(job, RESULT_READ_DELAY)
        publish_event(job.tenant_id, EventType.JOB, job.pk)


def is_resource_unidentified(job: Job, charge: Charge, record: UpstreamRecord) -> bool:
    """Whether the id of the resource is neither in the record nor stored: its answer was lost, or
    the database was restored to a time before the resource was created."""
    is_created = charge.operation in CHARGED_CREATE_OPERATIONS
    is_needed = is_created or (charge.operation in RENDER_OPERATIONS and not job.remote_id)
    return is_needed and not evidence.created_resource_id(charge, record)


def mark_unidentified_resource(charge: Charge, now: datetime) -> None:
    """Mark a paid resource whose id is unknown, so that it cannot be polled.

    The job stays a draft, which a person may pay for again knowingly; nothing is sent
    automatically.
    """
    unknown = Charge.objects.filter(pk=charge.pk, unidentified_at=None, applied_at=None)
    if unknown.update(unidentified_at=now):
        charge.unidentified_at = now
        publish_charge_events(charge)


def build_kept_result(charge: Charge, record: UpstreamRecord, data: Any) -> Any:
    """The part of the result to store, as plain JSON: amounts become text."""
    if not get_operation(charge.operation).keeps_result and charge.job_id:
        return None
    if data is None and is_idea_search(charge):
        known_ids = set(charge.before.get("ideas", []))
        rows = record.get("ideas", [])
        data = [row for row in rows if str(row.get("id")) not in known_ids] or rows
    return None if data is None else json.loads(json.dumps(data, default=str))


def is_idea_search(charge: Charge) -> bool:
    return get_operation(charge.operation).evidence is ExecutionEvidence.IDEAS


def apply_to_parts(job: Job, charge: Charge, record: UpstreamRecord, now: datetime) -> None:
    """Store the record's parts, link those that the charge added, and have them read again if the
    answer does not show them, or if they are in progress."""
    KINDS[job.kind].store_parts(job, record, now)
    row = get_operation(charge.operation)
    if not row.changes_part:
        return
    if row.part_list:
        known_ids = {entry.partition(" ")[0] for entry in charge.before.get("part") or ()}
        added = job.parts.filter(list_name=row.part_list, charge=None)
        new_parts = list(added.exclude(remote_id__in=known_ids))
        if len(new_parts) == 1 or row.adds_parts:
            job.parts.filter(pk__in=[part.pk for part in new_parts]).update(charge=charge)
        is_finished = all(part.state == PartState.COMPLETED for part in new_parts)
        if row.adds_parts and new_parts and is_finished:
            return
    part_reads.read_parts_soon(job, FIRST_POLL_DELAY)


def advance_job(job: Job, charge: Charge, record: UpstreamRecord, now: datetime) -> None:
    draft = lock_draft(job)
    if charge.operation in CHARGED_CREATE_OPERATIONS:
        if is_superseded(job, charge):
            return  # the draft has the newer charge's settings
        if draft:
            draft.sent_settings = draft.settings
            draft.save(update_fields=["sent_settings"])
        job.remote_id = evidence.created_resource_id(charge, record)
        start_job(job, charge, now, evidence.reported_status(charge, record)[:60])
    elif charge.operation in RENDER_OPERATIONS and is_new_run(job, charge):
        job.remote_id = job.remote_id or evidence.created_resource_id(charge, record)
        start_job(job, charge, now)
    elif draft and charge.operation in SCRIPT_OPERATIONS and (script := script_text(record)):
        ScriptVersion.objects.keep_current_script(draft)
        ScriptVersion.objects.keep_paid_script(job, charge, script)
        draft.settings = {**draft.settings, "script": script}
        draft.sent_settings = {**draft.sent_settings, "script": script}
        draft.estimate, draft.edited_at = None, now
        if not KINDS[job.kind].preconditions(draft.settings):
            draft.quote_due_at = now  # the next tick requests the new price
        draft.save()


def is_new_run(job: Job, charge: Charge) -> bool:
    is_retry_of_stalled = job.is_stalled and get_operation(charge.operation).restarts_failed
    return job.state != JobState.RUNNING or is_retry_of_stalled


def start_job(job: Job, charge: Charge, now: datetime, status: str = "rendering") -> None:
    """Poll the job from now on, in the duration class of its draft, otherwise of its charge."""
    duration_class = duration_class_of(job.chosen_settings or charge.body)
    job.start(now, FIRST_POLL_DELAY, duration_class, status)


def is_superseded(job: Job, charge: Charge) -> bool:
    newer = job.charges.filter(operation=charge.operation, sent_at__gt=charge.sent_at)
    return newer.filter(applied_at__isnull=False).exists()


def mark_script_unread(charge: Charge) -> None:
    """Mark the draft's script as unread if it is unknown whether the upstream has the ordered one.

    It is read back, unless a person changed the draft's script meanwhile: that one is sent again
    before a render. A new price is requested.
    """
    if charge.operation not in SCRIPT_OPERATIONS:
        return
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    draft = lock_draft(job) if job else None
    if draft is None:
        return
    page, sent = draft.settings.get("script") or "", draft.sent_settings
    draft.sent_settings = {name: value for name, value in sent.items() if name != "script"}
    if not page or script_digest(page) == charge.before.get("script"):
        draft.sent_settings["script"] = unread_script_marker(page)
    draft.estimate, draft.edited_at = None, timezone.now()
    draft.quote_due_at = draft.edited_at
    draft.save()


@transaction.atomic
def adopt_busy_job(charge: Charge) -> str:
    """Poll a job that the upstream already works on. Return a sentence to append to the reason."""
    return begin_job_polling(charge, StatusReading(JobState.RUNNING, "rendering"))


def adopt_started_job(charge: Charge, reading: StatusReading) -> str:
    """Poll a job whose resource shows that it was started or is finished. Return the sentence for
    people."""
    return ALREADY_ENDED_SENTENCES.get(
        reading.state, ALREADY_RENDERING_SENTENCE
    ) + begin_job_polling(charge, reading)


def begin_job_polling(charge: Charge, reading: StatusReading) -> str:
    """Poll the job from now on; the next poll reads its status. Return the sentence to append.

    It may be our own render whose answer was lost and which was not visible yet when it was read
    back (pitfall 83).
    """
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    if job is None or charge.operation not in RENDER_OPERATIONS:
        return ""
    if job.state in (JobState.RUNNING, JobState.COMPLETED):  # what is finished keeps its file
        return ""
    start_job(job, charge, timezone.now(), reading.raw_status)
    if (
        reading.state in ALREADY_ENDED_SENTENCES
    ):  # its start is unknown, so it must not count as a render duration
        job.started_at = None
        job.save(update_fields=["started_at"])
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    end_states = (ChargeState.REFUSED, ChargeState.WRITTEN_OFF)
    lost = job.charges.filter(
        operation__in=RENDER_OPERATIONS, lost_at__isnull=False, state__in=end_states
    )
    last = lost.exclude(pk=charge.pk).order_by("-sent_at").first()
    return MAYBE_LOST_RENDER_SENTENCE.format(time=last.sent_at) if last else NOW_POLLED_SENTENCE


def script_text(record: UpstreamRecord) -> str:
    script = record.get("script")
    return script if isinstance(script, str) else ""


def publish_charge_events(charge: Charge) -> None:
    publish_event(charge.tenant_id, EventType.CHARGE, charge.pk)
    publish_event(charge.tenant_id, EventType.ACCOUNT, charge.account_id)
    if charge.job_id:
        publish_event(charge.tenant_id, EventType.JOB, charge.job_id)
