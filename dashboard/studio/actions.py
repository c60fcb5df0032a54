"""Actions of the studio: start a draft, copy one, save a step, request a script, render, retry."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, BrandKit, Membership, PlannedRender, Preset
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.charging import (
    CONFIRMED,
    NOTHING_BESIDE,
    PRICE_MISSING,
    ConfirmAnswer,
    require_job_state,
    require_shown_price,
    submit_charge,
)
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import account_options
from dashboard.studio.flows import flow_of, lacks_priced_choice, settings_put_aside, type_refusal
from dashboard.studio.kept_settings.new_drafts import DraftStart, build_draft_start
from proxyapi import pricing, tasks
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS, awaits_approval, has_unread_script, page_reading
from proxyapi.models import (
    ApiKey,
    Charge,
    Draft,
    Idea,
    Job,
    JobKind,
    JobState,
    PageRead,
    ScriptVersion,
    lock_draft,
)
from proxyapi.refusals import BY_OTHERS, NotReady, StaleData

DRAFT_CHANGED_REASON = ": the draft was changed or got a new price."
TYPE_FIXED = (
    "The type cannot be changed after the first render. Create a new draft for another type."
)
NO_PAGE = "This draft is of another type now, which reads no web page."
ORDER_OF_PAGE = "The service shows the images in the order of the page."
IMAGES_CHANGED = "Not saved. The images were changed meanwhile; they are shown as they are now."
RENDER_CONFIRMED = (
    "This video was sent, or waits for an approval. The page was not read, and its images are "
    "unchanged."
)
PAGE_NOT_READ = "Read the page first. Nothing was sent."
NO_DRAFT = "This video was not made in the studio. Its settings cannot be changed here."
NO_SETTINGS = "This video was not made in the studio, so its settings are not known here."
OPEN_CHARGE = (
    "Not deleted. A request of this draft waits for an approval or for the service. Withdraw it or "
    "wait until it has ended."
)
PLAN_ENDED_BY_CHANGE = "The draft was changed since it was confirmed."
RENDER_ALREADY_SENT = "This video was already sent to render. Nothing was sent twice."


@transaction.atomic
def start_draft(
    *,
    by: Membership,
    title: str,
    chosen: dict[str, Any],
    script_request: dict[str, Any] | None = None,
    preset: Preset | None = None,
    idea: Idea | None = None,
    fallback: dict[str, Any] | None = None,
) -> Job:
    """Create a draft on the member's own token. It costs nothing and exists only here until it is
    priced.

    `script_request` has the length, style, tone and language that the form of a script starts with;
    `idea` is what it is made of.
    With a `preset` or a `fallback`, even an empty one, it is no copy: under the chosen settings lie
    those of the preset (else of the member's default preset), of the brand kit if the team says so,
    and of the fallback; the type is then optional.
    """
    check_permission(by, Permission.RENDER)
    token = require_member_token(by)
    job = Job.objects.create(
        tenant=by.team.tenant,
        account=token.account,
        token=token,
        member=by.user,
        kind=JobKind.FACELESS,
        title=title,
    )
    start = DraftStart(chosen)
    if preset is not None or fallback is not None:
        kit = BrandKit.objects.filter(team=by.team_id).first()
        start = build_draft_start(by, token.account, chosen, preset, fallback or {}, kit)
    request = {**start.script_request, **(script_request or {})}
    start = replace(start, script_request=request, idea=idea)
    Draft.objects.create(job=job, settings={**start.settings, "title": title})
    start.save_origin(job)
    record_audit_event(by, AuditAction.DRAFT_START, job.pk)
    publish_event(job.tenant_id, EventType.DRAFT, job.pk)
    request_draft_price(by=by, job=job)
    return job


@transaction.atomic
def copy_draft(
    *,
    by: Membership,
    job: Job,
    type_: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Job:
    """Create a draft with the title, script and settings of any video or draft of the studio, and
    request its price.

    For another type it leaves out the settings that the type does not have; `changes` replace
    settings. Free of charge.
    """
    if job.draft_or_none is None:
        raise NotReady(NO_SETTINGS)
    chosen, type_ = job.chosen_settings, type_ or flow_of(job).type
    left_out = {setting.name for setting in settings_put_aside(job, type_)}
    left_out.add("assets")  # the images are the other video's
    kept = {name: value for name, value in chosen.items() if name not in left_out}
    chosen = {**kept, "type": type_, **(changes or {})}
    copy = start_draft(by=by, title=job.title, chosen=chosen)
    row = PageRead.objects.filter(job=job).first()
    if row and flow_of(copy).reads_page:
        page_reading.request_page_read(copy, row.read_url or row.url)
    return copy


@transaction.atomic
def delete_draft(*, by: Membership, job: Job) -> None:
    """Hide a draft from all lists but the library's hidden videos. The service cannot delete it.

    Raises `NotReady` while a charge of it is open, and after a render.
    """
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update().get(pk=job.pk)
    require_job_state(job, JobState.DRAFT, "This video was already sent. It is in the library.")
    if job.charges.open().exists():
        raise NotReady(OPEN_CHARGE)
    PlannedRender.objects.filter(job=job).delete()
    Job.objects.filter(pk=job.pk).update(hidden_at=timezone.now())
    record_audit_event(by, AuditAction.DRAFT_DELETE, job.pk)
    publish_event(job.tenant_id, EventType.DRAFT, job.pk)


@transaction.atomic
def restore_draft(*, by: Membership, job: Job) -> None:
    """Undo a deletion; a draft that is not deleted stays unchanged."""
    check_permission(by, Permission.RENDER)
    if Job.objects.filter(pk=job.pk, hidden_at__isnull=False).update(hidden_at=None):
        record_audit_event(by, AuditAction.DRAFT_RESTORE, job.pk)
        publish_event(job.tenant_id, EventType.DRAFT, job.pk)


@transaction.atomic
def save_draft_step(
    *,
    by: Membership,
    job: Job,
    changes: dict[str, Any],
    removals: Collection[str] = (),
    edited_at: str = "",
) -> Job:
    """Save the changed settings of a step and request a new price.

    `removals` are settings that the service does not have yet. `edited_at` is the edit that the
    form was built from. Raises `StaleData` if the draft was edited since, and `NotReady` if it
    cannot be changed any more.
    """
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update().get(pk=job.pk)
    draft = lock_draft(job)
    if draft is None:
        raise NotReady(NO_DRAFT)
    is_same = changes == {name: draft.settings.get(name) for name in changes}
    if is_same and not draft.settings.keys() & set(removals):
        return job
    if edited_at and edited_at != draft.edited_at.isoformat():
        raise StaleData(
            f"This draft was changed {BY_OTHERS}. Your values are below. Review them and save "
            "again."
        )
    # A render in progress was priced with the present settings: a change would be charged too.
    if job.state not in (JobState.DRAFT, JobState.FAILED) or job.charges.starting_jobs().exists():
        raise NotReady("This video was sent, or waits for an approval. Your change was not saved.")
    removed = settings_removed_by(job, changes) | set(removals)
    remaining = {name: value for name, value in draft.settings.items() if name not in removed}
    draft.settings = {**remaining, **changes}
    draft.estimate, draft.quote_error, draft.edited_at = None, "", timezone.now()
    draft.save()
    plan = PlannedRender.objects.filter(job=job)
    if not plan.end(PLAN_ENDED_BY_CHANGE):
        plan.exclude(reason=PLAN_ENDED_BY_CHANGE).delete()  # its reason may not hold any more
    job.title = str(draft.settings.get("title") or job.title)[:200]
    job.save(update_fields=["title"])
    record_audit_event(by, AuditAction.DRAFT_SAVE, job.pk, fields=sorted({*changes, *removals}))
    publish_event(job.tenant_id, EventType.DRAFT, job.pk)
    request_draft_price(by=by, job=job)
    return job


@transaction.atomic
def read_web_page(*, by: Membership, job: Job, url: str) -> None:
    """Request the images of a web page in the background; free. `url` was checked by the form."""
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update(of=("self",)).select_related("draft").get(pk=job.pk)
    require_job_state(job, JobState.DRAFT, RENDER_ALREADY_SENT)
    if not flow_of(job).reads_page:
        raise NotReady(NO_PAGE)
    if job.charges.starting_jobs().exists():
        raise NotReady(RENDER_CONFIRMED)
    page_reading.request_page_read(job, url)


def stop_reading(*, by: Membership, job: Job) -> None:
    check_permission(by, Permission.RENDER)
    page_reading.stop_page_read(job)


@transaction.atomic
def arrange_images(*, by: Membership, job: Job, wanted: list[str], seen: str) -> Job:
    """Use these images of the page, in this order, and no others; free.

    `seen` is the order that the page showed, as ids with commas. Raises `StaleData` if it is
    another one now.
    """
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update(of=("self",)).select_related("draft").get(pk=job.pk)
    row = PageRead.objects.filter(job=job, takes_order=True).first()
    if row is None:
        raise NotReady(ORDER_OF_PAGE)
    if seen != ",".join(str(id) for id in job.draft.settings.get("assets") or []):
        raise StaleData(IMAGES_CHANGED)
    known = {str(id): id for id in row.image_ids}
    order = [known[id] for id in dict.fromkeys(wanted) if id in known]
    return save_draft_step(by=by, job=job, changes={"assets": order})


@transaction.atomic
def restore_script(*, by: Membership, job: Job, version: ScriptVersion) -> Job:
    """Make an earlier script the draft's script again; free. The text that it replaces is kept, so
    that it can be restored in turn."""
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update().get(pk=job.pk)
    if draft := lock_draft(job):
        ScriptVersion.objects.keep_current_script(draft)
    return save_draft_step(by=by, job=job, changes={"script": version.text})


def settings_removed_by(job: Job, changes: dict[str, Any]) -> set[str]:
    """Return the names of the settings that a change of the type removes.

    Raises `NotReady` after a render: the service accepts another type only before (spec, What the
    service does), and never to or from a web page.
    """
    if "type" not in changes:
        return set()
    require_job_state(job, JobState.DRAFT, TYPE_FIXED)
    if refusal := type_refusal(job, changes["type"]):
        raise NotReady(refusal)
    return {setting.name for setting in settings_put_aside(job, changes["type"])}


def request_draft_price(*, by: Membership, job: Job) -> None:
    """Request the price in the background if the draft has all settings that the service needs.

    While an approval is pending, the shown price is kept until there is a new one: without a price
    the approval would end as if the video had changed.
    """
    check_permission(by, Permission.RENDER)
    draft = job.draft
    is_complete = not KINDS[job.kind].preconditions(draft.settings) and not lacks_priced_choice(job)
    if is_complete or has_unread_script(job):
        due_at = timezone.now() + tasks.TICK_DELAY
        keeps_estimate = draft.has_current_estimate and awaits_approval(job)
        cleared = {} if keeps_estimate else {"estimate": None}
        Draft.objects.filter(pk=draft.pk).update(quote_error="", quote_due_at=due_at, **cleared)
        tasks.enqueue_task_after_commit(tasks.quote_draft_task, job.pk)


@transaction.atomic
@append_audit_rows_last()
def write_script(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    chosen: dict[str, Any],
    answer: ConfirmAnswer = CONFIRMED,
    key: ApiKey | None = None,
) -> Charge:
    """Let the service write the script. It charges each time (spec, Credit charges).

    `chosen` has duration, style, tone and language, and the topic or the address of the page.

    `seen`, here and below, is the price that was shown, in credits: nothing is sent at another
    price. With a note in the answer, here and below, an approval is requested instead, because the
    charge is over budget. With a `key`, here and below, the charge is that of its script.
    """
    check_permission(by, Permission.RENDER)
    body = {name: value for name, value in chosen.items() if value not in ("", None)}
    if flow_of(job).reads_page and not body.get("url"):
        raise NotReady(PAGE_NOT_READ)
    operation, quote = flow_of(job).script_operation, partial(quote_script, job, seen)
    charge = submit_charge(by, job, operation, nonce, quote, body=body, answer=answer, key=key)
    PlannedRender.objects.filter(job=job).exclude(script_charge=charge).delete()
    return charge


def quote_script(job: Job, seen: Decimal) -> Decimal:
    """Return the price in credits, here and below; raise `Refusal` if nothing can be sent."""
    require_job_state(
        job,
        JobState.DRAFT,
        "This video was already rendered. Create a new one for a new script.",
    )
    price = pricing.script_credits(job.account)
    require_shown_price(seen, price)
    return price


@transaction.atomic
@append_audit_rows_last()
def render_video(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
    beside: Decimal = NOTHING_BESIDE,
    key: ApiKey | None = None,
) -> Charge:
    """Render the draft at its estimate, with a hold slightly above it. `beside` is as in
    `request_approval`."""
    check_permission(by, Permission.RENDER)
    operation, quote = flow_of(job).render_operation, partial(quote_render, job, seen)
    charge = submit_charge(by, job, operation, nonce, quote, answer=answer, beside=beside, key=key)
    PlannedRender.objects.filter(job=job).delete()
    return charge


def quote_render(job: Job, seen: Decimal) -> Decimal:
    require_job_state(job, JobState.DRAFT, RENDER_ALREADY_SENT)
    options = account_options(job.account)
    for need in flow_of(job).preconditions:
        if refusal := need.find_refusal(job.draft.settings, options):
            raise NotReady(refusal)
    draft = job.draft
    if not draft.has_current_estimate or draft.estimate is None:
        raise NotReady(PRICE_MISSING)
    require_shown_price(seen, draft.estimate, DRAFT_CHANGED_REASON)
    return draft.estimate
