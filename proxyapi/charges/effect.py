"""Effects: what an operation that was carried out does to its job, once for each charge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi import drafts
from proxyapi.charges import evidence
from proxyapi.charges.evidence import Record
from proxyapi.costs import SCRIPTS
from proxyapi.events import Event, publish
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.models.charge import CREATES, RENDERS
from proxyapi.upstream import errors
from proxyapi.watching import FIRST_LOOK
from proxyapi.watching.states import Sight

# What these answer is shown by no read, or by none that the spec shows.
KEPT = frozenset(
    {
        "ideas.discover",
        "characters.preview",
        "faceless.export",
        "ai_visuals.upload",
        "ai_visuals.regenerate",
    }
)
MAY_BE_OURS = " It may be the one whose answer was lost at {time:%H:%M} UTC; it is watched now."
IS_WATCHED = " It is watched now."
OVER: Mapping[JobState | None, str] = {
    JobState.COMPLETED: "The service rendered this video already. Nothing was charged.",
    JobState.FAILED: "The service tried to render this video already. Nothing was charged.",
}


def is_shown(charge: Charge, record: Record) -> bool:
    """Whether an answer shows what there is to show: the script, or the id of what was made."""
    if charge.operation in SCRIPTS:
        return bool(script_in(record))
    if charge.operation in CREATES and charge.job_id:
        return bool(evidence.made(charge, record))
    return True


@transaction.atomic
def took_effect(charge: Charge, record: Record, data: Any = None) -> None:
    """The operation was carried out upstream: the job goes on from there, once for each charge.

    `record` is the resource as answered or read back, `data` the answer where there is one. The
    job is read again under a lock: people and looks may have changed it since it was sent.
    """
    now = timezone.now()
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    if job and charge.operation in CREATES and not evidence.made(charge, record):
        orphaned(charge, now)
        return
    kept = result_of(charge, record, data)
    free = Charge.objects.filter(pk=charge.pk, effect_at__isnull=True)
    if not free.update(effect_at=now, orphan_at=None, result=kept):
        return
    charge.effect_at, charge.orphan_at, charge.result = now, None, kept
    if job is not None:
        carry_on(job, charge, record, now)
        publish(job.vault_id, Event.JOB, job.pk)


def orphaned(charge: Charge, now: datetime) -> None:
    """It was paid for, and its id was in the lost answer alone: nobody can look at it any more.

    The job stays a draft, which may be paid for anew, knowingly; nothing is sent by itself.
    """
    unknown = Charge.objects.filter(pk=charge.pk, orphan_at=None, effect_at=None)
    if unknown.update(orphan_at=now):
        charge.orphan_at = now
        announce(charge)


def result_of(charge: Charge, record: Record, data: Any) -> Any:
    """What has to be kept, as plain JSON: amounts become text."""
    if charge.operation not in KEPT and charge.job_id:
        return None
    if data is None and charge.operation == "ideas.discover":
        known = set(charge.before.get("ideas", []))
        rows = record.get("ideas", [])
        data = [row for row in rows if str(row.get("id")) not in known] or rows
    return None if data is None else json.loads(json.dumps(data, default=str))


def carry_on(job: Job, charge: Charge, record: Record, now: datetime) -> None:
    if charge.operation in CREATES:
        if is_paid_anew(job, charge):
            return  # the draft is what the newer one made of it
        job.remote_id, job.sent = evidence.made(charge, record), job.wanted
        job.start(now, FIRST_LOOK, evidence.status_of(charge, record)[:60])
    elif charge.operation in RENDERS and job.state != JobState.RUNNING:
        job.start(now, FIRST_LOOK)
    elif charge.operation in SCRIPTS and (script := script_in(record)):
        job.wanted = {**job.wanted, "script": script}
        job.sent = {**job.sent, "script": script}
        job.estimate, job.edited_at = None, now
        if not drafts.missing(job.wanted):
            job.quote_due_at = now  # the next tick asks the new price
        job.save(update_fields=["wanted", "sent", "estimate", "edited_at", "quote_due_at"])


def is_paid_anew(job: Job, charge: Charge) -> bool:
    newer = job.charges.filter(operation=charge.operation, sent_at__gt=charge.sent_at)
    return newer.filter(effect_at__isnull=False).exists()


def script_unknown(charge: Charge) -> None:
    """A script was ordered, and nobody knows whether the service has it now. It is fetched, unless
    somebody wrote meanwhile: before a render the service is told the page's own one again. The
    price is asked anew."""
    if charge.operation not in SCRIPTS:
        return
    for job in Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk):
        page = job.wanted.get("script") or ""
        job.sent = {name: value for name, value in job.sent.items() if name != "script"}
        if not page or evidence.digest(page) == charge.before.get("script"):
            job.sent["script"] = drafts.unread(page)
        job.estimate, job.edited_at = None, timezone.now()
        job.quote_due_at = job.edited_at
        job.save(update_fields=["sent", "estimate", "edited_at", "quote_due_at"])


def found_busy(charge: Charge) -> str:
    """The service works on it already, whoever began that: it is watched from now on.

    Answers what to add to the sentence.
    """
    return watched(charge, Sight(JobState.RUNNING, "rendering"))


def found_begun(charge: Charge, sight: Sight) -> str:
    """The resource itself shows that it runs already, or is over. Answers the sentence."""
    return OVER.get(sight.state, errors.Busy.sentence) + watched(charge, sight)


def watched(charge: Charge, sight: Sight) -> str:
    """The next look tells what it is. It may be the trace of our own render whose answer was lost
    and which had left none by the time it was read back (pitfall 83)."""
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    if job is None or charge.operation not in RENDERS or job.state == JobState.RUNNING:
        return ""
    job.start(timezone.now(), FIRST_LOOK, sight.raw)
    if sight.state in OVER:  # nobody knows since when: it tells nothing of how long renders take
        job.started_at = None
        job.save(update_fields=["started_at"])
    publish(job.vault_id, Event.JOB, job.pk)
    ends = (ChargeState.REFUSED, ChargeState.WRITTEN_OFF)
    lost = job.charges.filter(operation__in=RENDERS, lost_at__isnull=False, state__in=ends)
    last = lost.exclude(pk=charge.pk).order_by("-sent_at").first()
    return MAY_BE_OURS.format(time=last.sent_at) if last else IS_WATCHED


def script_in(record: Record) -> str:
    script = record.get("script")
    return script if isinstance(script, str) else ""


def announce(charge: Charge) -> None:
    publish(charge.vault_id, Event.CHARGE, charge.pk)
    publish(charge.vault_id, Event.ACCOUNT, charge.account_id)
    if charge.job_id:
        publish(charge.vault_id, Event.JOB, charge.job_id)
