"""Renders of drafts that start later: at a time, or when the credits are free.

What is confirmed are the settings of the draft and what its render may hold at most. The row is a
`PlannedRender` without a script; `planned_renders.py` sends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership, PlannedRender, settings_digest
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.charging import lock_spending_rules
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission
from dashboard.shared.start_times import StartTime
from dashboard.studio import actions
from dashboard.studio.planned_renders import PLAN_ENDED
from proxyapi import pricing
from proxyapi.events import EventType, publish_event
from proxyapi.models import Job
from proxyapi.models.account import amount_text
from proxyapi.refusals import NotReady, Refusal, StaleData

SEND_WITHIN = timedelta(hours=24)  # of its time; later it is not what was meant any more
KEPT_FIELDS = ("member_id", "limit", "settings_digest", "starts_at", "waits_for_credits")
NEEDS_SECOND_PERSON = (
    "Nothing was planned. More than {above} cr at once need a second person, and this may hold "
    "{hold} cr. Choose “Now” and request the approval."
)
APPROVAL_IS_NOW = (
    "Nothing was planned. What is approved is sent at once. Choose “Now” to request an approval."
)
RENDER_OPEN = "Nothing was planned. A request of this draft was sent, or waits for an approval."
NOT_RESTORED = "The render was not planned again: the draft has changed, or its time has passed."


@transaction.atomic
@append_audit_rows_last()
def schedule_render(*, by: Membership, job: Job, seen: Decimal, start: StartTime) -> None:
    """Have the render of a draft start by itself at `start`, if it holds no more than at the price
    that was shown, `seen` credits. A form that is sent twice plans once. Raises `Refusal`."""
    check_permission(by, Permission.RENDER)
    hold = pricing.hold_for_estimate(seen)
    above = lock_spending_rules(by).second_person_above
    if above is not None and hold > above:
        raise Refusal(NEEDS_SECOND_PERSON.format(above=credits(above), hold=credits(hold)))
    job = lock_draft_job(job)
    actions.quote_render(job, seen)
    if job.charges.open().exists():
        raise NotReady(RENDER_OPEN)
    plan = {
        "member_id": by.user_id,
        "limit": hold,
        "settings_digest": settings_digest(job.draft.settings, with_script=True),
        "starts_at": start.starts_at,
        "waits_for_credits": start.gives_up_at is not None,
    }
    store_plan(by, job, plan, start.gives_up_at or start.starts_at + SEND_WITHIN)


def store_plan(by: Membership, job: Job, plan: Mapping[str, Any], expires_at: datetime) -> None:
    """Store the plan in place of another one of the job, which the caller has locked."""
    other = {"script_charge": None, "ended_at": None, "reason": "", "expires_at": expires_at}
    PlannedRender.objects.update_or_create(job=job, defaults={**plan, **other})
    after = {"limit": amount_text(plan["limit"]), "starts_at": str(plan["starts_at"])}
    record_audit_event(by, AuditAction.RENDER_SCHEDULE, job.pk, after=after)
    publish_event(job.tenant_id, EventType.JOB, job.pk)


@transaction.atomic
def cancel_scheduled_render(*, by: Membership, job: Job) -> dict[str, str]:
    """Delete the plan and return what `restore_scheduled_render` needs. Raises `StaleData` if it
    has ended, or its render was sent."""
    check_permission(by, Permission.RENDER)
    lock_draft_job(job)
    plan = PlannedRender.objects.active().filter(job=job, script_charge=None).first()
    if plan is None:
        raise StaleData(PLAN_ENDED)
    plan.delete()
    record_audit_event(by, AuditAction.RENDER_PLAN_END, job.pk)
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return {name: str(getattr(plan, name)) for name in (*KEPT_FIELDS, "expires_at")}


@transaction.atomic
def restore_scheduled_render(*, by: Membership, job: Job, kept: Mapping[str, str]) -> None:
    """Plan a cancelled render again, as it was confirmed. Raises `StaleData` if the draft or its
    plan is another one now, or the time has passed."""
    check_permission(by, Permission.RENDER)
    job, waits = lock_draft_job(job), kept["waits_for_credits"] == "True"
    starts_at = datetime.fromisoformat(kept["starts_at"])
    digest = settings_digest(job.draft.settings, with_script=True)
    has_passed = not waits and starts_at <= timezone.now()
    has_other = PlannedRender.objects.active().filter(job=job).exists()
    if has_passed or has_other or digest != kept["settings_digest"] or job.charges.open().exists():
        raise StaleData(NOT_RESTORED)
    plan = {
        "member_id": int(kept["member_id"]),
        "limit": Decimal(kept["limit"]),
        "settings_digest": digest,
        "starts_at": starts_at,
        "waits_for_credits": waits,
    }
    store_plan(by, job, plan, datetime.fromisoformat(kept["expires_at"]))


def lock_draft_job(job: Job) -> Job:
    Job.objects.select_for_update().get(pk=job.pk)
    return Job.objects.select_related("draft", "account", "token").get(pk=job.pk)
