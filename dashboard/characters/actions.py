"""Actions on characters: start one from a photo, save its steps, preview, train, hide."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from pathlib import PurePath
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, CharacterPhoto, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.charging import CONFIRMED, ConfirmAnswer, require_shown_price, submit_charge
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.pictures import Photo
from proxyapi import pricing, stored_files
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import CHANGEABLE_STATES, KINDS, TRAINING_FIELDS
from proxyapi.models import (
    Charge,
    Draft,
    Job,
    JobKind,
    JobPart,
    StoredFile,
    lock_draft,
)
from proxyapi.operations import PREVIEW_OPERATION, TRAINING_OPERATION
from proxyapi.refusals import NotReady, StaleData

MAX_TITLE_CHARS = 60
PHOTO_WAS_SENT = (
    "The service already has the photo, so it cannot be replaced. Start a new character for "
    "another photo."
)
IS_TRAINED = "This character is trained, or is being trained. It cannot be changed any more."
IS_BEING_TRAINED = "Its training was requested. Wait until it has ended. Nothing was changed."
CHANGED_MEANWHILE = "The character was changed meanwhile. Nothing was sent. Look at it once more."
NO_GENRE = "Choose a genre first. Nothing was sent."
NO_PICTURE = "Choose a picture first. Nothing was sent."
NO_DETAILS = "Fill in name, age and gender first. Nothing was sent."
PRICE_UNKNOWN = (
    "The service’s price list has no price for a training, so nothing was sent. Try again later."
)
OPEN_CHARGE = (
    "“{title}” is not hidden. A request of it waits for an approval or for the service. Wait until "
    "it has ended."
)


@transaction.atomic
def start_character(*, by: Membership, photo: Photo, file_name: str) -> Job:
    """Start a character on the member's own token, from a photo that they may use. It exists only
    here until its first preview. Raises `TokenRefused`."""
    check_permission(by, Permission.RENDER)
    token = require_member_token(by)
    job = Job.objects.create(
        tenant=by.team.tenant,
        account=token.account,
        token=token,
        member=by.user,
        kind=JobKind.CHARACTER,
        title=title_from_file_name(file_name),
    )
    Draft.objects.create(job=job)
    after = store_photo(by, job, photo, file_name)
    record_audit_event(by, AuditAction.CHARACTER_CREATE, job.pk, after=after)
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return job


def title_from_file_name(file_name: str) -> str:
    return " ".join(PurePath(file_name).stem.split())[:MAX_TITLE_CHARS] or "New character"


def store_photo(by: Membership, job: Job, photo: Photo, file_name: str) -> dict[str, object]:
    """Keep the photo until it is sent, and who confirmed the right to use it; return what the audit
    log keeps of both."""
    StoredFile.objects.filter(job=job).delete()
    stored_files.store_file(
        job, name=file_name, content_type=photo.content_type, content=photo.content
    )
    record: dict[str, object] = {
        "name": file_name,
        "sha256": hashlib.sha256(photo.content).hexdigest(),
        "size": len(photo.content),
        "width": photo.width,
        "height": photo.height,
    }
    confirmed = {"confirmed_by": by.user, "confirmed_at": timezone.now()}
    CharacterPhoto.objects.update_or_create(job=job, defaults={**record, **confirmed})
    return {**record, "may_use_it": True}


@transaction.atomic
def replace_photo(*, by: Membership, job: Job, photo: Photo, file_name: str) -> None:
    """Use another photo. Raises `NotReady` once the service has the first one."""
    job = lock_changeable(by, job)
    if job.remote_id is not None or job.charges.open().exists():
        raise NotReady(PHOTO_WAS_SENT)
    after = store_photo(by, job, photo, file_name)
    record_audit_event(by, AuditAction.CHARACTER_PHOTO, job.pk, after=after)
    publish_event(job.tenant_id, EventType.JOB, job.pk)


@transaction.atomic
def save_settings(*, by: Membership, job: Job, changes: Mapping[str, Any]) -> None:
    """Save the genre, the chosen picture or the details. Raises `NotReady`."""
    job = lock_changeable(by, job)
    draft = lock_draft(job)
    if draft is None:
        raise NotReady(IS_TRAINED)
    before = {name: draft.settings.get(name) for name in changes}
    if before == changes:
        return
    draft.settings, draft.edited_at = {**draft.settings, **changes}, timezone.now()
    draft.save(update_fields=["settings", "edited_at"])
    if "name" in changes:
        Job.objects.filter(pk=job.pk).update(title=changes["name"])
    record_audit_event(by, AuditAction.CHARACTER_SAVE, job.pk, before=before, after=dict(changes))
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def choose_preview(*, by: Membership, job: Job, part: JobPart) -> None:
    save_settings(by=by, job=job, changes={"preview_id": part.upstream_id})


def lock_changeable(by: Membership, job: Job) -> Job:
    """Lock a character that is not trained. Raises `NotReady`."""
    check_permission(by, Permission.RENDER)
    locked = Job.objects.select_for_update().get(pk=job.pk)
    if locked.state not in CHANGEABLE_STATES:
        raise NotReady(IS_TRAINED)
    if locked.charges.starting_jobs().exists():
        raise NotReady(IS_BEING_TRAINED)
    return locked


def request_preview(
    *, by: Membership, job: Job, nonce: UUID, seen: Decimal, answer: ConfirmAnswer = CONFIRMED
) -> Charge:
    """Have pictures made in the chosen genre, in the background. Raises `Refusal`."""
    check_permission(by, Permission.RENDER)
    body = {"genre_id": job.chosen_settings.get("genre_id")}
    quote = partial(quote_preview, job, seen)
    return submit_charge(by, job, PREVIEW_OPERATION, nonce, quote, body=body, answer=answer)


def quote_preview(job: Job, seen: Decimal) -> Decimal:
    """Return the price in credits, here and below; raise `Refusal` if nothing can be sent."""
    require_changeable(job)
    if job.chosen_settings.get("genre_id") is None:
        raise NotReady(NO_GENRE)
    price = pricing.listed_price_or_free(job.account, PREVIEW_OPERATION)
    require_shown_price(seen, price)
    return price


def train_character(
    *,
    by: Membership,
    job: Job,
    edited_at: str,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Train the character as the chosen picture, at the price of the service's list. `edited_at` is
    the edit that the question was asked of."""
    check_permission(by, Permission.RENDER)
    body = {name: job.chosen_settings.get(name) for name in TRAINING_FIELDS}
    quote = partial(quote_training, job, seen, edited_at)
    return submit_charge(by, job, TRAINING_OPERATION, nonce, quote, body=body, answer=answer)


def quote_training(job: Job, seen: Decimal, edited_at: str) -> Decimal:
    require_changeable(job)
    draft = job.draft_or_none
    if draft is None or edited_at != draft.edited_at.isoformat():
        raise StaleData(CHANGED_MEANWHILE)
    if job.chosen_settings.get("preview_id") is None:
        raise NotReady(NO_PICTURE)
    if KINDS[job.kind].preconditions(job.chosen_settings):
        raise NotReady(NO_DETAILS)
    price = pricing.fixed_price(job.account, TRAINING_OPERATION)
    if price is None:
        raise NotReady(PRICE_UNKNOWN)
    require_shown_price(seen, price)
    return price


def require_changeable(job: Job) -> None:
    if job.state not in CHANGEABLE_STATES:
        raise NotReady(IS_TRAINED)


@transaction.atomic
def set_character_hidden(*, by: Membership, job: Job, is_hidden: bool) -> None:
    """Hide a character for the team, or show it again; the service keeps it. Raises `NotReady`
    while a charge of one that is not trained is open."""
    check_permission(by, Permission.RENDER)
    locked = Job.objects.select_for_update().get(pk=job.pk)
    if (locked.hidden_at is not None) == is_hidden:
        return
    if is_hidden and locked.state in CHANGEABLE_STATES and locked.charges.open().exists():
        raise NotReady(OPEN_CHARGE.format(title=locked.title))
    Job.objects.filter(pk=locked.pk).update(hidden_at=timezone.now() if is_hidden else None)
    action = AuditAction.CHARACTER_HIDE if is_hidden else AuditAction.CHARACTER_UNHIDE
    record_audit_event(by, action, locked.pk)
    publish_event(locked.tenant_id, EventType.JOB, locked.pk)
