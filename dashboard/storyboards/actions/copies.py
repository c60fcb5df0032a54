"""Put a storyboard in a copy for the service: the current one if it can take what changed, else a
new one. Nothing is sent here; a worker sends the difference before a price, clips or a render.

Locks: the account, the copy's job, its draft, then the storyboard, as an answer of the service
takes them (`proxyapi.charges.transitions`).
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.member_token import require_member_token, token_owner_ids
from dashboard.shared.roles import Permission
from dashboard.storyboards.readiness.content import build_content
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import WRITING_OPERATION, can_take
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    Draft,
    Job,
    JobKind,
    JobState,
    Storyboard,
    StoryboardCopy,
    StoryboardMode,
    Token,
    lock_draft,
)
from proxyapi.models.job_part import SCENE_CLIPS, PartState
from proxyapi.refusals import NotReady, TokenRefused

UNUSED_CHARGE_STATES = (ChargeState.REFUSED,)
NO_SCENES = "This storyboard has no scenes yet. Add one first. Nothing was sent."
SCENES_BEING_WRITTEN = (
    "The service is asked to write the scenes of this storyboard. Wait until it has answered. "
    "Nothing was sent."
)
FILM_BEING_RENDERED = (
    "The film of this storyboard is rendering. Wait until it has ended. Nothing was sent."
)
REQUEST_OPEN = (
    "Clips or the film of this storyboard were just requested. Wait until the service has "
    "answered. Nothing was sent."
)
APPROVAL_PENDING = (
    "A request for this storyboard waits for an approval of what it was before. Decide or withdraw "
    "it first. Nothing was sent."
)
CLIP_BEING_MADE = (
    "Clips of this storyboard are being made, and this change sends the film anew. Wait until they "
    "have ended. Nothing was sent."
)
OTHER_ACCOUNT = (
    "The token of this storyboard cannot be used any more, and yours opens another account. "
    "Nothing was sent. Add a token of its account, or duplicate the storyboard."
)


@transaction.atomic
def place_in_copy(*, by: Membership, storyboard: Storyboard) -> Job:
    """Return the job of a copy that contains the storyboard as it is now; `storyboard.copy` is
    that job afterwards.

    A scene that cannot be sent yet is left out until it can; clips of others can be made. Raises
    `NotReady` if the copy cannot be changed or replaced now, `TokenRefused` without a token.
    """
    check_permission(by, Permission.RENDER)
    job = lock_current_copy(storyboard)
    scenes = list(storyboard.scenes.all())
    if not scenes:
        raise NotReady(NO_SCENES)
    check_not_being_written(storyboard)
    if job and job.state == JobState.RUNNING:
        raise NotReady(FILM_BEING_RENDERED)
    if job and job.state != JobState.COMPLETED:
        content, sent = build_content(storyboard, scenes, job.draft), job.draft.sent_settings
        if can_take(sent, content):
            return change_copy(job, content)
    if job:
        check_replaceable(job)
    job = create_copy(by, storyboard, build_content(storyboard, scenes))
    make_current(storyboard, job)
    return job


@transaction.atomic
def place_for_writing(*, by: Membership, storyboard: Storyboard) -> Job:
    """Return the job of an empty copy in which the service writes the scenes.

    The storyboard keeps its current copy, whose clips can still be seen, until the scenes are
    written; then the new one takes its place. Raises as `place_in_copy`.
    """
    check_permission(by, Permission.RENDER)
    current = lock_current_copy(storyboard)
    check_not_being_written(storyboard)
    if current and current.state == JobState.RUNNING:
        raise NotReady(FILM_BEING_RENDERED)
    if current:
        check_replaceable(current)
    content = build_content(storyboard, (), mode=StoryboardMode.WIZARD)
    for job in Job.objects.filter(storyboard_copy__storyboard=storyboard).select_related("draft"):
        is_unused = not job.charges.exclude(state__in=UNUSED_CHARGE_STATES).exists()
        if (
            is_unused
            and job.draft.settings == content
            and not job.draft.sent_settings.get("scenes")
        ):
            return job  # of a writing that was refused
    job = create_copy(by, storyboard, content)
    if current is None:
        make_current(storyboard, job)
    return job


def is_placed(storyboard: Storyboard) -> bool:
    """Whether the current copy is to contain exactly what the storyboard is now, so that a price
    of the copy is one of the storyboard."""
    job = storyboard.copy
    if job is None or job.draft_or_none is None or job.state == JobState.COMPLETED:
        return False
    try:
        content = build_content(storyboard, storyboard.scenes.all(), job.draft)
    except NotReady:
        return False
    return bool(content == job.draft.settings)


def lock_current_copy(storyboard: Storyboard) -> Job | None:
    """Lock the storyboard and its copy; return the copy with its draft, as it is now."""
    Account.objects.lock_upstream_account(storyboard.account_id)
    # `copy` changes only under the account's lock or this job's.
    copies = Job.objects.select_for_update(of=("self",)).filter(current_storyboard=storyboard.pk)
    job = copies.select_related("account", "token").first()
    if job:
        job.draft = lock_draft(job)
    Storyboard.objects.select_for_update(of=("self",)).get(pk=storyboard.pk)
    storyboard.refresh_from_db()
    storyboard.copy = job
    return job


def check_not_being_written(storyboard: Storyboard) -> None:
    writings = Charge.objects.open().filter(operation=WRITING_OPERATION, applied_at=None)
    if writings.filter(job__storyboard_copy__storyboard=storyboard).exists():
        raise NotReady(SCENES_BEING_WRITTEN)


def check_replaceable(job: Job) -> None:
    """Raise `NotReady` if something of the copy is in progress that a new copy would lose sight
    of."""
    check_no_open_request(job)
    if job.charges.filter(state=ChargeState.DRAFT).exists():
        raise NotReady(APPROVAL_PENDING)
    parts = job.parts.filter(list_name=SCENE_CLIPS)
    if any(part.state == PartState.RUNNING for part in parts):
        raise NotReady(CLIP_BEING_MADE)


def check_no_open_request(job: Job) -> None:
    """What was carried out, and of which only the cost is unknown, is no longer in progress."""
    if job.charges.holding().filter(applied_at=None).exists():
        raise NotReady(REQUEST_OPEN)


def change_copy(job: Job, content: dict[str, Any]) -> Job:
    """Have the copy contain this; a price for what it contained before is dropped."""
    if job.draft.settings == content:
        return job
    check_no_open_request(job)
    draft, now = job.draft, timezone.now()
    draft.settings, draft.edited_at = content, now
    draft.estimate, draft.quote_error, draft.quote_fields = None, "", None
    draft.quote_due_at = None
    changed = ("settings", "edited_at", "estimate", "quote_error", "quote_fields", "quote_due_at")
    draft.save(update_fields=changed)
    job.title = content["title"]
    job.save(update_fields=["title"])
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return job


def create_copy(by: Membership, storyboard: Storyboard, content: dict[str, Any]) -> Job:
    token = find_token(by, storyboard)
    job = Job.objects.create(
        tenant=storyboard.tenant,
        account=storyboard.account,
        token=token,
        member=by.user,
        kind=JobKind.STORYBOARD,
        title=storyboard.title,
    )
    Draft.objects.create(job=job, settings=content)
    StoryboardCopy.objects.create(job=job, storyboard=storyboard)
    record_audit_event(by, AuditAction.DRAFT_START, job.pk)
    return job


def make_current(storyboard: Storyboard, job: Job) -> None:
    storyboard.copy = job
    storyboard.save(update_fields=["copy"])
    publish_event(storyboard.tenant_id, EventType.STORYBOARD, storyboard.pk)


def find_token(by: Membership, storyboard: Storyboard) -> Token:
    """Return the member's token of the storyboard's account, else the storyboard's own if its owner
    is an active member. Raises `TokenRefused` if neither can be used: a token of another account
    would pay with credits of which nothing is held."""
    usable = Token.objects.usable().filter(
        tenant=storyboard.tenant_id, account=storyboard.account_id
    )
    own = token_vault.first_decryptable(usable.filter(owner=by.user).best_first())
    stored = usable.filter(pk=storyboard.token_id, owner__in=token_owner_ids(by.team))
    if token := own or stored.first():
        return token
    require_member_token(by)
    raise TokenRefused(OTHER_ACCOUNT)
