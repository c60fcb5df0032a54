"""Actions on videos of the library: retry, import, hide, show again, and labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils import timezone

from dashboard.models import AuditAction, Label, Membership, VideoLabel
from dashboard.models.label import (
    MAX_LABEL_NAME_CHARS,
    MAX_LABELS_PER_TEAM,
    MAX_LABELS_PER_VIDEO,
    label_key,
)
from dashboard.shared.access import check_permission, has_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.charging import (
    CONFIRMED,
    PRICE_MISSING,
    ConfirmAnswer,
    require_shown_price,
    require_voice_consent,
    submit_charge,
)
from dashboard.shared.member_token import require_token_of_each_account
from dashboard.shared.roles import Permission
from dashboard.shared.text_validation import clean_line
from proxyapi import pricing
from proxyapi.events import EventType, publish_event
from proxyapi.job_import import ImportNotFound, import_job
from proxyapi.models import Charge, Job, JobKind, JobState, Token
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES
from proxyapi.operations import retry_operation_of
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import NotReady, Refusal, StaleData

NOT_RETRYABLE = "The service has no retry for this kind of video. Nothing was sent."
NOT_FAILED = "Only a failed render can be retried. This one did not fail."
FAILURE_NOT_LATEST = (
    "Not sent. This video has failed again since you opened the dialog. Nothing was charged. The "
    "latest failure is shown above."
)
OPEN_CHARGE = (
    "Nothing was hidden. A request of the draft “{title}” waits for an approval or for the "
    "service. Withdraw it or wait until it has ended."
)

TOO_MANY_LABELS = (
    f"A team can have {MAX_LABELS_PER_TEAM} labels. Delete one that is not used any more."
)
TOO_MANY_LABELS_ON_VIDEO = (
    f"A video can have {MAX_LABELS_PER_VIDEO} labels, and “{{title}}” would have more. Nothing was "
    "changed."
)
LABEL_HAS_BUDGET = (
    "The label “{name}” has a budget. A treasurer or owner has to remove that first. Nothing was "
    "deleted."
)
LABEL_BUDGET_COUNTS = (
    "The budget of the label “{name}” counts what was spent on a video that has it. An owner can "
    "take the label off. Nothing was changed."
)
LABEL_NAME_TAKEN = "There is already a label “{name}”."
LABEL_NAME_TOO_LONG = f"At most {MAX_LABEL_NAME_CHARS} characters are allowed (now {{length}})."


def retry_video(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    failed_at: str,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Run a render again that failed, or no longer moves. It is charged again, at about the cost of
    the last run.

    `failed_at` is `Job.last_run_at` as it was shown, ISO 8601; for another run nothing is sent.
    """
    check_permission(by, Permission.RENDER)
    operation = retry_operation_of(job.kind)
    if operation is None:
        raise NotReady(NOT_RETRYABLE)
    quote = partial(quote_retry, job, seen, failed_at)
    return submit_charge(by, job, operation, nonce, quote, answer=answer)


def quote_retry(job: Job, seen: Decimal, failed_at: str) -> Decimal:
    """Return the price in credits; raise `Refusal` if nothing can be sent."""
    if job.state != JobState.FAILED and not job.is_stalled:
        raise NotReady(NOT_FAILED)
    require_latest_failure(failed_at, job)
    require_voice_consent(job)
    price = pricing.estimate_retry_price(job)
    if price is None:
        raise NotReady(PRICE_MISSING)
    require_shown_price(seen, price)
    return price


def import_video(
    *,
    by: Membership,
    kind: JobKind,
    upstream_id: str,
    token: Token | None = None,
    priority: Priority = Priority.PERSON,
) -> tuple[Job, bool]:
    """Add a video that exists at the service under a token of the member, and return it, and
    whether it is new here. Free of charge. With `token` only its account is asked. Raises
    `Refusal`."""
    check_permission(by, Permission.RENDER)

    def record_import(job: Job) -> None:
        after = {"kind": job.kind, "upstream_id": job.remote_id}
        record_audit_event(by, AuditAction.VIDEO_IMPORT, job.pk, after=after)

    *others, last = [token] if token else require_token_of_each_account(by)
    for other in others:
        with suppress(ImportNotFound):
            return import_job(other, kind, upstream_id, by.user_id, record_import, priority)
    return import_job(last, kind, upstream_id, by.user_id, record_import, priority)


def hide_video(*, by: Membership, job: Job) -> None:
    """Hide a video from the library. The service cannot delete it, and no credits are refunded."""
    set_videos_hidden(by=by, job_ids=[job.pk], is_hidden=True)


def unhide_video(*, by: Membership, job: Job) -> None:
    """Show a hidden video in the library again; a visible one stays unchanged."""
    set_videos_hidden(by=by, job_ids=[job.pk], is_hidden=False)


@transaction.atomic
def set_videos_hidden(*, by: Membership, job_ids: Collection[UUID], is_hidden: bool) -> list[UUID]:
    """Hide videos of the team or show them again; return the ids of those that this changed.

    Raises `NotReady`, and hides none, while a charge of a draft among them is open.
    """
    check_permission(by, Permission.RENDER)
    jobs = Job.objects.filter(tenant=by.team.tenant_id, hidden_at__isnull=is_hidden)
    locked = jobs.filter(pk__in=job_ids).order_by("pk").select_for_update()
    changed = list(locked.values_list("pk", flat=True))
    if is_hidden:
        require_no_open_charge(changed)
    Job.objects.filter(pk__in=changed).update(hidden_at=timezone.now() if is_hidden else None)
    action = AuditAction.VIDEO_HIDE if is_hidden else AuditAction.VIDEO_UNHIDE
    for pk in changed:
        publish_event(by.team.tenant_id, EventType.JOB, pk)
        record_audit_event(by, action, pk)
    return changed


def require_no_open_charge(job_ids: Collection[UUID]) -> None:
    """Raise `NotReady` if one of these jobs, which the caller has locked, is a draft with an open
    charge."""
    drafts = Job.objects.filter(pk__in=job_ids, state=JobState.DRAFT)
    busy = drafts.filter(pk__in=Charge.objects.open().filter(job__in=job_ids).values("job"))
    if job := busy.order_by("created_at").first():
        raise NotReady(OPEN_CHARGE.format(title=job.title))


@dataclass(frozen=True, slots=True)
class LabelChange:
    """The labels that were added to and removed from videos, as pairs of label id and job id."""

    added: tuple[tuple[UUID, UUID], ...] = ()
    removed: tuple[tuple[UUID, UUID], ...] = ()


@transaction.atomic
def find_or_create_label(*, by: Membership, name: str) -> Label:
    """Return the team's label with this name, in any case; create it if there is none. Raises
    `Refusal`."""
    check_permission(by, Permission.RENDER)
    name = require_label_name(name)
    label = by.team.labels.filter(key=label_key(name)).first()
    if label is not None:
        return label
    if by.team.labels.count() >= MAX_LABELS_PER_TEAM:
        raise Refusal(TOO_MANY_LABELS, field="name")
    values = {"name": name, "created_by": by.user}
    label, is_new = Label.objects.get_or_create(team=by.team, key=label_key(name), defaults=values)
    if is_new:
        record_audit_event(by, AuditAction.LABEL_ADD, label.pk, after={"name": name})
    return label


@transaction.atomic
def rename_label(*, by: Membership, label: Label, name: str) -> None:
    """Raises `Refusal` if another label of the team has this name."""
    check_permission(by, Permission.RENDER)
    before, label.name = label.name, require_label_name(name)
    try:
        with transaction.atomic():
            label.save(update_fields=["name", "key"])
    except IntegrityError:
        raise Refusal(LABEL_NAME_TAKEN.format(name=label.name), field="name") from None
    values = {"before": {"name": before}, "after": {"name": label.name}}
    record_audit_event(by, AuditAction.LABEL_CHANGE, label.pk, **values)
    publish_label_events(by, label.video_labels.values_list("job", flat=True))


@transaction.atomic
def delete_label(*, by: Membership, label: Label) -> int:
    """Delete a label; return how many videos had it. The videos stay. Raises `Refusal` while a
    budget counts by it."""
    check_permission(by, Permission.RENDER)
    if label.budgets.filter(active=True).exists():
        raise Refusal(LABEL_HAS_BUDGET.format(name=label.name))
    job_ids = list(label.video_labels.values_list("job", flat=True))
    label_id = label.pk
    label.delete()
    before = {"name": label.name}
    record_audit_event(by, AuditAction.LABEL_REMOVE, label_id, before=before, videos=len(job_ids))
    publish_label_events(by, job_ids)
    return len(job_ids)


@transaction.atomic
def change_labels(
    *,
    by: Membership,
    job_ids: Collection[UUID],
    add: Collection[UUID] = (),
    remove: Collection[UUID] = (),
    new_name: str = "",
) -> LabelChange:
    """Add labels to videos and remove labels from them, all of the team; return what changed.

    `new_name` names a further label to add, which is created if the team does not have it. Raises
    `Refusal` if a video would have too many labels; then nothing is changed.
    """
    if new_name.strip():
        add = {*add, find_or_create_label(by=by, name=new_name).pk}
    pairs = {(label, job) for label in add for job in job_ids}
    no_pairs = {(label, job) for label in remove for job in job_ids}
    return set_video_labels(by=by, add=pairs, remove=no_pairs - pairs)


@transaction.atomic
def set_video_labels(
    *, by: Membership, add: Collection[tuple[UUID, UUID]], remove: Collection[tuple[UUID, UUID]]
) -> LabelChange:
    """As `change_labels`, for pairs of label id and job id. Labels and videos that do not exist in
    the team any more are left out. Raises `Refusal`, too, for a label whose budget counts a video
    (`check_budgets_keep_spend`)."""
    check_permission(by, Permission.RENDER)
    named = {label for label, _ in (*add, *remove)}
    labels = by.team.labels.filter(pk__in=named).order_by("pk").select_for_update()
    names = {label.pk: label.name for label in labels}
    jobs = Job.objects.filter(tenant=by.team.tenant_id, pk__in={job for _, job in (*add, *remove)})
    job_ids = set(jobs.values_list("pk", flat=True))
    links = VideoLabel.objects.filter(label__in=names, job__in=job_ids)
    present = set(links.values_list("label_id", "job_id"))
    added = {(label, job) for label, job in add if label in names and job in job_ids} - present
    removed = present & set(remove)
    check_budgets_keep_spend(by, removed)
    rows = [VideoLabel(label_id=label, job_id=job) for label, job in sorted(added)]
    VideoLabel.objects.bulk_create(rows, ignore_conflicts=True)
    for label in {label for label, _ in removed}:
        links.filter(label=label, job__in=[job for one, job in removed if one == label]).delete()
    require_few_labels({job for _, job in added})
    for pk in sorted({label for label, _ in added | removed}):
        to_label, from_label = (
            [str(job) for label, job in sorted(changed) if label == pk]
            for changed in (added, removed)
        )
        record_audit_event(
            by, AuditAction.VIDEO_LABEL, pk, label=names[pk], added=to_label, removed=from_label
        )
    publish_label_events(by, {job for _, job in added | removed})
    return LabelChange(tuple(sorted(added)), tuple(sorted(removed)))


def check_budgets_keep_spend(by: Membership, removed: Collection[tuple[UUID, UUID]]) -> None:
    """Raise `Refusal` if who manages no budgets would take a video that was charged, or is being
    charged, out of the budget of a label."""
    if has_permission(by, Permission.MANAGE_MONEY):
        return
    budgeted = by.team.labels.filter(pk__in={label for label, _ in removed}, budgets__active=True)
    for label in budgeted.distinct():
        job_ids = [job for one, job in removed if one == label.pk]
        charges = Charge.objects.filter(job__in=job_ids, refunded_at=None)
        if charges.filter(state__in=(*HOLDING_STATES, *CHARGED_STATES)).exists():
            raise Refusal(LABEL_BUDGET_COUNTS.format(name=label.name))


def require_label_name(name: str) -> str:
    """Return the name without needless white space. Raises `Refusal`."""
    name = " ".join(name.split())
    if not name:
        raise Refusal("Enter a name.", field="name")
    if len(name) > MAX_LABEL_NAME_CHARS:
        raise Refusal(LABEL_NAME_TOO_LONG.format(length=len(name)), field="name")
    return clean_line(name, max_length=MAX_LABEL_NAME_CHARS, field="name")


def require_few_labels(job_ids: Collection[UUID]) -> None:
    """Raise `Refusal` if one of these videos has more labels than a video may have."""
    counts = Job.objects.filter(pk__in=job_ids).annotate(label_count=Count("labels"))
    full = counts.filter(label_count__gt=MAX_LABELS_PER_VIDEO).order_by("created_at").first()
    if full is not None:
        raise Refusal(TOO_MANY_LABELS_ON_VIDEO.format(title=full.title))


def publish_label_events(by: Membership, job_ids: Iterable[UUID]) -> None:
    for pk in job_ids:
        publish_event(by.team.tenant_id, EventType.JOB, pk)


def require_latest_failure(shown: str, job: Job) -> None:
    """Raise `StaleData` if the job has failed again since the shown failure, so that nobody pays
    for a failure they did not see. Only its time identifies a failure."""
    if shown != (job.last_run_at.isoformat() if job.last_run_at else ""):
        raise StaleData(FAILURE_NOT_LATEST)
