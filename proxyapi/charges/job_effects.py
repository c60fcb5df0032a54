"""Effects: what an operation that was carried out does to its job, once for each charge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi.charges import evidence
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS, StatusReading, UpstreamRecord, script_digest, unread_script_marker
from proxyapi.models import Charge, ChargeState, Job, JobState, lock_draft
from proxyapi.models.duration_class import duration_class_of
from proxyapi.operations import (
    CHARGED_CREATE_OPERATIONS,
    RENDER_OPERATIONS,
    SCRIPT_OPERATIONS,
    ExecutionEvidence,
    get_operation,
)
from proxyapi.polling import FIRST_POLL_DELAY
from proxyapi.upstream import errors

MAYBE_LOST_RENDER_SENTENCE = (
    " It may be the render whose response was lost at {time:%H:%M} UTC. Its status is now checked."
)
NOW_POLLED_SENTENCE = " Its status is now checked."
ALREADY_ENDED_SENTENCES: Mapping[JobState | None, str] = {
    JobState.COMPLETED: "The service has already rendered this video. Nothing was charged.",
    JobState.FAILED: "The service has already tried to render this video. Nothing was charged.",
}


def is_conclusive(charge: Charge, record: UpstreamRecord) -> bool:
    """Whether an answer shows what there is to show: the script, or the id of what was made."""
    if charge.operation in SCRIPT_OPERATIONS:
        return bool(script_text(record))
    if charge.operation in CHARGED_CREATE_OPERATIONS and charge.job_id:
        return bool(evidence.created_resource_id(charge, record))
    return True


@transaction.atomic
def apply_result(charge: Charge, record: UpstreamRecord, data: Any = None) -> None:
    """The operation was carried out upstream: the job goes on from there, once for each charge.

    `record` is the resource as answered or read back, `data` the answer where there is one. The
    job is read again under a lock: people and looks may have changed it since it was sent.
    """
    now = timezone.now()
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    if (
        job
        and charge.operation in CHARGED_CREATE_OPERATIONS
        and not evidence.created_resource_id(charge, record)
    ):
        mark_unidentified_resource(charge, now)
        return
    kept = build_kept_result(charge, record, data)
    free = Charge.objects.filter(pk=charge.pk, applied_at__isnull=True)
    if not free.update(applied_at=now, unidentified_at=None, result=kept):
        return
    charge.applied_at, charge.unidentified_at, charge.result = now, None, kept
    if job is not None:
        advance_job(job, charge, record, now)
        publish_event(job.tenant_id, EventType.JOB, job.pk)


def mark_unidentified_resource(charge: Charge, now: datetime) -> None:
    """It was paid for, and its id was in the lost answer alone: nobody can look at it any more.

    The job stays a draft, which may be paid for anew, knowingly; nothing is sent by itself.
    """
    unknown = Charge.objects.filter(pk=charge.pk, unidentified_at=None, applied_at=None)
    if unknown.update(unidentified_at=now):
        charge.unidentified_at = now
        publish_charge_events(charge)


def build_kept_result(charge: Charge, record: UpstreamRecord, data: Any) -> Any:
    """What has to be kept, as plain JSON: amounts become text."""
    if not get_operation(charge.operation).keeps_result and charge.job_id:
        return None
    if data is None and get_operation(charge.operation).evidence is ExecutionEvidence.IDEAS:
        known = set(charge.before.get("ideas", []))
        rows = record.get("ideas", [])
        data = [row for row in rows if str(row.get("id")) not in known] or rows
    return None if data is None else json.loads(json.dumps(data, default=str))


def advance_job(job: Job, charge: Charge, record: UpstreamRecord, now: datetime) -> None:
    draft = lock_draft(job)
    if charge.operation in CHARGED_CREATE_OPERATIONS:
        if is_superseded(job, charge):
            return  # the draft is what the newer one made of it
        if draft:
            draft.sent_settings = draft.settings
            draft.save(update_fields=["sent_settings"])
        job.remote_id = evidence.created_resource_id(charge, record)
        start_job(job, charge, now, evidence.reported_status(charge, record)[:60])
    elif charge.operation in RENDER_OPERATIONS and job.state != JobState.RUNNING:
        start_job(job, charge, now)
    elif draft and charge.operation in SCRIPT_OPERATIONS and (script := script_text(record)):
        draft.settings = {**draft.settings, "script": script}
        draft.sent_settings = {**draft.sent_settings, "script": script}
        draft.estimate, draft.edited_at = None, now
        if not KINDS[job.kind].preconditions(draft.settings):
            draft.quote_due_at = now  # the next tick asks the new price
        draft.save()


def start_job(job: Job, charge: Charge, now: datetime, status: str = "rendering") -> None:
    """Poll it from now on, as one of what its draft asks for, or else its charge."""
    duration_class = duration_class_of(job.chosen_settings or charge.body)
    job.start(now, FIRST_POLL_DELAY, duration_class, status)


def is_superseded(job: Job, charge: Charge) -> bool:
    newer = job.charges.filter(operation=charge.operation, sent_at__gt=charge.sent_at)
    return newer.filter(applied_at__isnull=False).exists()


def mark_script_unread(charge: Charge) -> None:
    """A script was ordered, and nobody knows whether the service has it now. It is fetched, unless
    somebody wrote meanwhile: before a render the service is told the page's own one again. The
    price is asked anew."""
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


def adopt_busy_job(charge: Charge) -> str:
    """The service works on it already, whoever began that: it is watched from now on.

    Answers what to add to the sentence.
    """
    return begin_job_polling(charge, StatusReading(JobState.RUNNING, "rendering"))


def adopt_started_job(charge: Charge, sight: StatusReading) -> str:
    """The resource itself shows that it runs already, or is over. Answers the sentence."""
    return ALREADY_ENDED_SENTENCES.get(
        sight.state, errors.ResourceBusy.sentence
    ) + begin_job_polling(charge, sight)


def begin_job_polling(charge: Charge, sight: StatusReading) -> str:
    """The next look tells what it is. It may be the trace of our own render whose answer was lost
    and which had left none by the time it was read back (pitfall 83)."""
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    if job is None or charge.operation not in RENDER_OPERATIONS or job.state == JobState.RUNNING:
        return ""
    start_job(job, charge, timezone.now(), sight.raw_status)
    if (
        sight.state in ALREADY_ENDED_SENTENCES
    ):  # nobody knows since when: it tells nothing of how long renders take
        job.started_at = None
        job.save(update_fields=["started_at"])
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    ends = (ChargeState.REFUSED, ChargeState.WRITTEN_OFF)
    lost = job.charges.filter(
        operation__in=RENDER_OPERATIONS, lost_at__isnull=False, state__in=ends
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
