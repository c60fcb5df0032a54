"""Planned renders: confirmed together with a script, sent by themselves when it is written, or
confirmed alone, for a time or for when the credits are free (`scheduled_renders.py`).

The script's charge is admitted as always, and the plan is stored with it. `continue_planned_render`
runs whenever the script or its price may have arrived, and a sweep repeats it, so a lost task loses
nothing. The charge of the render is admitted like a person's, by the same checks, in the
transaction that ends the plan: it is admitted at most once. Whatever stands in its way ends the
plan with a sentence instead; nothing is tried again without a person.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import partial
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from dashboard.models import (
    PLAN_LIFETIME,
    AuditAction,
    Membership,
    PlannedRender,
    settings_digest,
)
from dashboard.models.planned_render import PlannedRenderQuerySet
from dashboard.shared import enqueue
from dashboard.shared.access import check_permission, has_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event, system_actor
from dashboard.shared.charging import CREDITS_MISSING, credits_allow, submit_charge
from dashboard.shared.formatting import credits
from dashboard.shared.key_limits import require_usable_key
from dashboard.shared.roles import Permission
from dashboard.shared.start_times import CREDITS_NOT_FREE
from dashboard.studio import actions
from dashboard.studio.flows import flow_of
from dashboard.studio.queries.price import price_state_and_reason, token_requirement
from proxyapi import pricing
from proxyapi.events import EventType, publish_event
from proxyapi.models import ApiKey, Charge, ChargeState, Draft, Job, JobState
from proxyapi.models.account import amount_text
from proxyapi.models.charge import IN_PROGRESS_STATES
from proxyapi.refusals import NotReady, Refusal, StaleData

SETTINGS_CHANGED = "Nothing was sent. The settings of this draft have changed. Confirm again."
PRICE_MAX_AGE = timedelta(minutes=15)  # of a render that was scheduled
TIME_MISSED = "It could not be sent within 24 hours of its time."
PLAN_EXPIRED = "Its script or its price did not arrive within 24 hours."
MEMBER_GONE = "{name} is no longer in the team, or may no longer render."
SCRIPT_NOT_WRITTEN = "The script was not written: {reason}"
SCRIPT_UNCERTAIN = (
    "The service’s answer to the request of the script was lost or incomplete. Review the script "
    "first."
)
DRAFT_GONE = "The draft was deleted, or sent to render meanwhile."
ABOVE_LIMIT = (
    "The script is written. For its render {hold} cr would be held, more than the {limit} cr that "
    "were confirmed. Look at the price and press Render."
)
PLAN_ENDED = "The planned render has started or ended already."


@transaction.atomic
@append_audit_rows_last()
def plan_render(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    chosen: dict[str, object],
    limit: Decimal,
    digest: str,
    key: ApiKey | None = None,
) -> Charge:
    """Let the service write the script, as `actions.write_script` does, and have the render start
    when it is written, if it holds at most `limit` credits.

    `digest` is that of the settings that were shown. With a `key` both charges are those of its
    script. A form that is sent twice plans once. Raises
    `Refusal`.
    """
    is_repeated = Charge.objects.filter(tenant=job.tenant_id, nonce=nonce).exists()
    charge = actions.write_script(by=by, job=job, nonce=nonce, seen=seen, chosen=chosen, key=key)
    Job.objects.select_for_update().get(pk=job.pk)
    if is_repeated or PlannedRender.objects.filter(script_charge=charge).exists():
        return charge
    if settings_digest(Draft.objects.get(pk=job.pk).settings) != digest:
        raise StaleData(SETTINGS_CHANGED)
    PlannedRender.objects.create(
        job=job,
        member=by.user,
        script_charge=charge,
        limit=limit,
        settings_digest=digest,
        expires_at=timezone.now() + PLAN_LIFETIME,
    )
    after = {"script": str(charge.pk), "limit": amount_text(limit)}
    record_audit_event(by, AuditAction.RENDER_PLAN_CREATE, job.pk, after=after)
    return charge


@transaction.atomic
def stop_planned_render(*, by: Membership, job: Job) -> None:
    """End the plan of a draft; its script is written all the same. Raises `StaleData` if it has
    ended already: its render may have been sent."""
    check_permission(by, Permission.RENDER)
    Job.objects.select_for_update().get(pk=job.pk)
    if not PlannedRender.objects.filter(job=job).remove_active():
        raise StaleData(PLAN_ENDED)
    record_audit_event(by, AuditAction.RENDER_PLAN_END, job.pk)
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def continue_planned_render(job_id: UUID) -> None:
    """Send the render of an active plan if its script and its price are there; end the plan if
    anything stands in its way; otherwise wait."""
    related = ("script_charge__api_key", "member", "job__draft", "job__account", "job__token")
    plans = PlannedRender.objects.active().select_related(*related, "job__tenant__team")
    plan = plans.filter(pk=job_id).first()
    if plan is None or (plan.starts_at is not None and plan.starts_at > timezone.now()):
        return
    try:
        by = find_planner(plan)
        is_ready = is_script_written(plan) and (plan.starts_at is None or is_ready_now(plan, by))
        if is_ready and (price := find_price(plan)) is not None:
            send_planned_render(plan, by, price)
    except Refusal as refusal:
        if not (plan.waits_for_credits and isinstance(refusal, CREDITS_MISSING)):
            end_plan(plan, refusal.sentence)


def is_ready_now(plan: PlannedRender, by: Membership) -> bool:
    """Whether a scheduled render that is due has its credits, if it waits for them, and a price of
    these minutes, which is requested if there is none."""
    job = plan.job
    if plan.waits_for_credits and not credits_allow(by, job.account_id, plan.limit, job):
        return False
    if job.draft.estimate is None:
        return True  # it is requested, or there is none: `find_price` says so
    as_of = job.draft.estimate_as_of
    if as_of is not None and as_of > timezone.now() - PRICE_MAX_AGE:
        return True
    actions.request_draft_price(by=by, job=job)
    return False


def find_planner(plan: PlannedRender) -> Membership:
    """Return the member who confirmed it. Raises `NotReady` if they may not render any more, if the
    draft is none any more, and when the plan expires."""
    if plan.expires_at <= timezone.now():
        raise NotReady(expiry_text(plan))
    if plan.job.state != JobState.DRAFT or plan.job.hidden_at is not None:
        raise NotReady(DRAFT_GONE)
    members = Membership.objects.select_related("team__tenant", "user")
    by = members.filter(team__tenant=plan.job.tenant_id, user=plan.member_id).first()
    if by is None or not by.user.is_active or not has_permission(by, Permission.RENDER):
        raise NotReady(MEMBER_GONE.format(name=plan.member.first_name))
    if stopped := token_requirement(plan.job):
        raise NotReady(f"{stopped.label}.")
    require_usable_key(plan.key, plan.job.token)
    return by


def expiry_text(plan: PlannedRender) -> str:
    if plan.waits_for_credits:
        return CREDITS_NOT_FREE
    return PLAN_EXPIRED if plan.starts_at is None else TIME_MISSED


def is_script_written(plan: PlannedRender) -> bool:
    """Whether its script is there; False while it may come. Raises `NotReady` if it was refused, or
    if its answer is no proof (rule 2): a script that was read back is for a person to review."""
    charge = plan.script_charge
    if charge is None:
        if settings_digest(plan.job.draft.settings, with_script=True) != plan.settings_digest:
            raise NotReady(actions.PLAN_ENDED_BY_CHANGE)
        return True
    if charge.state in IN_PROGRESS_STATES:
        return False
    if charge.state == ChargeState.REFUSED:
        raise NotReady(SCRIPT_NOT_WRITTEN.format(reason=charge.reason or "it was refused."))
    if charge.state != ChargeState.CONFIRMED:
        raise NotReady(SCRIPT_UNCERTAIN)
    version, chosen = getattr(charge, "script_version", None), plan.job.draft.settings
    if version is None:
        raise NotReady(SCRIPT_UNCERTAIN)
    if version.text != chosen.get("script") or settings_digest(chosen) != plan.settings_digest:
        raise NotReady(actions.PLAN_ENDED_BY_CHANGE)
    return True


def find_price(plan: PlannedRender) -> Decimal | None:
    """Return the price in credits of what the draft is now; None while it is requested. Raises
    `NotReady` if there is none, or if its hold is above the limit."""
    draft = plan.job.draft
    state, reason = price_state_and_reason(plan.job)
    if state == "none":
        raise NotReady(reason)
    if state == "pending" or draft.estimate is None:
        return None
    hold = pricing.hold_for_estimate(draft.estimate)
    if hold > plan.limit:
        raise NotReady(ABOVE_LIMIT.format(hold=credits(hold), limit=credits(plan.limit)))
    return draft.estimate


@transaction.atomic
@append_audit_rows_last()
def send_planned_render(plan: PlannedRender, by: Membership, price: Decimal) -> Charge:
    """Admit the charge of the render and end the plan, both or neither.

    The charge gets a key of its own each time: after a restored backup the charge log may have this
    render already, and must be able to restore it beside this one, which it refuses as unsent.
    Raises `Refusal`, also if a person or another worker has ended the plan meanwhile.
    """
    job = plan.job
    check_permission(by, Permission.RENDER)
    quote = partial(actions.quote_render, job, price)
    operation, key = flow_of(job).render_operation, plan.key
    charge = submit_charge(by, job, operation, uuid4(), quote, key=key)
    # The job is locked since the admission, and was unchanged (`check_job_unchanged`).
    if not same_plan(plan).remove_active():
        raise StaleData(PLAN_ENDED)
    return charge


@transaction.atomic
def end_plan(plan: PlannedRender, reason: str) -> None:
    """End the plan, unless it has ended, and have its person notified."""
    Job.objects.select_for_update().get(pk=plan.job_id)
    if not same_plan(plan).end(reason):
        return
    team = plan.job.tenant.team
    actor = system_actor(team, "Planned renders")
    record_audit_event(actor, AuditAction.RENDER_PLAN_END, plan.job_id, reason=reason)
    publish_event(plan.job.tenant_id, EventType.JOB, plan.job_id)
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, team.pk)


def same_plan(plan: PlannedRender) -> PlannedRenderQuerySet:
    """Return the plan's row as long as it is this one: a later script, or another time, may have
    brought another."""
    same = {"script_charge": plan.script_charge_id, "expires_at": plan.expires_at}
    return PlannedRender.objects.filter(pk=plan.pk, **same)
