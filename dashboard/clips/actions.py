"""Actions on clips: keep what is composed, request its price, and have the clip generated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.clips.readiness import find_unmet, is_composable
from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.charging import CONFIRMED, PRICE_MISSING, ConfirmAnswer, submit_charge
from dashboard.shared.clip_models import account_clip_models, find_clip_model
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.media_files import MediaFile
from proxyapi import stored_files, tasks
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import (
    ADDRESS_KEY,
    CREATE_CLIP_OPERATION,
    FILE_KEY,
    REFERENCE_FIELDS,
    clip_body,
    clip_parameters,
)
from proxyapi.models import Charge, Draft, Job, JobKind, StoredFile, Upload, lock_draft
from proxyapi.refusals import BY_OTHERS, NotReady, StaleData, format_credits

UNTITLED = "Untitled clip"
TITLE_CHARACTERS = 120
UNUSED_REFERENCES_KEY = "kept_references"  # of settings
ALREADY_SENT = (
    "This clip was sent, or waits for an approval. Your change was not saved. Your text is still "
    "here: start a new clip to use it."
)
SENT_BEFORE = (
    "This clip was sent before, or waits for an approval. Nothing was sent twice. Use Same again "
    "for another one."
)
CHANGED_ELSEWHERE = (
    f"This draft was changed {BY_OTHERS}. Your text is still here and not saved. Reload to see the "
    "other one."
)
CHANGED_SINCE_SHOWN = (
    "The clip was changed since this was shown. Nothing was sent. Review it first."
)
FILE_GONE = "The file of the {name} is no longer kept here. Add it again. Nothing was sent."
PRICE_MOVED = "The price is now {now} cr, it was {seen} cr when you opened this. Nothing was sent."


@dataclass(frozen=True, slots=True)
class ComposedClip:
    """What a form says of a draft: its prompt and options, references to set or (None) to remove,
    the references that its model takes, and the edit that the form was built from.

    `origins` are kept beside uploaded frames: the film that each is from. `source` is the clip
    whose references a new draft starts with.
    """

    job_id: UUID
    settings: Mapping[str, Any]
    references: Mapping[str, Mapping[str, Any] | MediaFile | None]
    slot_names: frozenset[str]
    edited_at: str = ""
    source: Job | None = None
    origins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@transaction.atomic
def save_clip_draft(*, by: Membership, job: Job | None, composed: ComposedClip) -> Job:
    """Save what is composed, and request the price if a priced parameter changed. Costs nothing.

    Without a `job` the draft is created, with the id that its page already has, so that a form
    that is sent twice creates one. Raises `StaleData` if it was edited elsewhere since, and
    `NotReady` if it was sent.
    """
    check_permission(by, Permission.RENDER)
    source = composed.source
    job = create_clip_draft(by, composed) if job is None else lock_composable(job, composed)
    draft, before = job.draft, job.draft.settings
    references = copy_references(job, source) if source else all_references(before)
    for name, reference in composed.references.items():
        references.pop(name, None)
        if reference is not None:
            references[name] = keep_reference(job, name, reference, composed.origins.get(name))
    chosen = {**composed.settings, **place_references(references, composed.slot_names)}
    if chosen == before:
        return job
    is_same_price = clip_parameters(chosen) == clip_parameters(before)
    was_priced = draft.has_current_estimate
    draft.settings, draft.edited_at = chosen, timezone.now()
    draft.sent_settings = chosen if is_same_price and was_priced else {}
    draft.save()
    job.title = clip_title(chosen.get("prompt"))
    job.save(update_fields=["title"])
    changed = sorted(name for name in chosen if chosen[name] != before.get(name))
    if changed != ["prompt"]:  # not at each pause in typing: the charge keeps the prompt
        record_audit_event(by, AuditAction.DRAFT_SAVE, job.pk, fields=changed)
    if not is_same_price or not was_priced:
        request_clip_price(by=by, job=job)
    return job


def create_clip_draft(by: Membership, composed: ComposedClip) -> Job:
    token = require_member_token(by)
    job = Job.objects.create(
        pk=composed.job_id,
        tenant=by.team.tenant,
        account=token.account,
        token=token,
        member=by.user,
        kind=JobKind.CLIP,
        title=UNTITLED,
    )
    Draft.objects.create(job=job)
    record_audit_event(by, AuditAction.DRAFT_START, job.pk)
    publish_event(job.tenant_id, EventType.DRAFT, job.pk)
    return job


def lock_composable(job: Job, composed: ComposedClip) -> Job:
    """Lock the job and its draft. Raises `NotReady` or `StaleData`."""
    job = Job.objects.select_for_update().get(pk=job.pk)
    draft = lock_draft(job)
    if draft is None or not is_composable(job):
        raise NotReady(ALREADY_SENT)
    job.draft = draft
    if composed.edited_at != draft.edited_at.isoformat():
        raise StaleData(CHANGED_ELSEWHERE)
    return job


def all_references(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The references of a draft, with those that are kept for another model."""
    used = {name: settings[name] for name in REFERENCE_FIELDS if settings.get(name)}
    return {**settings.get(UNUSED_REFERENCES_KEY, {}), **used}


def copy_references(job: Job, source: Job) -> dict[str, Any]:
    """The references of another clip; its files are stored again, those that are gone left out."""
    copied = {}
    for name, reference in all_references(source.chosen_settings).items():
        if not reference.get(FILE_KEY):
            copied[name] = reference
        elif file := StoredFile.objects.filter(job=source, pk=reference[FILE_KEY]).first():
            content, type_ = stored_files.read_stored_file(file), file.content_type
            extension = file.name.rpartition(".")[2]
            copied[name] = keep_reference(
                job, name, MediaFile(content, type_, extension), reference
            )
    return copied


def place_references(references: Mapping[str, Any], slot_names: frozenset[str]) -> dict[str, Any]:
    """The references as settings: those that the model does not take are kept beside them, and are
    not sent."""
    unused = {name: value for name, value in references.items() if name not in slot_names}
    used = {name: value for name, value in references.items() if name in slot_names}
    return {**used, UNUSED_REFERENCES_KEY: unused} if unused else used


def keep_reference(
    job: Job,
    name: str,
    reference: Mapping[str, Any] | MediaFile,
    origin: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The reference as the settings keep it; a file is stored, encrypted, in place of the last."""
    if not isinstance(reference, MediaFile):
        return dict(reference)
    file_name = f"{name}.{reference.extension}"
    StoredFile.objects.filter(job=job, name__startswith=f"{name}.").delete()
    stored = stored_files.store_file(
        job, name=file_name, content_type=reference.content_type, content=reference.content
    )
    return {**(origin or {}), FILE_KEY: str(stored.pk), "name": file_name}


def clip_title(prompt: object) -> str:
    words = " ".join(str(prompt or "").split())
    if len(words) <= TITLE_CHARACTERS:
        return words or UNTITLED
    return f"{words[:TITLE_CHARACTERS].rpartition(' ')[0] or words[:TITLE_CHARACTERS]}…"


@transaction.atomic
def request_clip_price(*, by: Membership, job: Job) -> None:
    """Have a worker ask for the price, free of charge; the page shows it when it is there."""
    check_permission(by, Permission.RENDER)
    due_at = timezone.now() + tasks.TICK_DELAY
    drafts = Draft.objects.filter(pk=job.pk)
    drafts.update(estimate=None, quote_error="", quote_fields=None, quote_due_at=due_at)
    tasks.enqueue_task_after_commit(tasks.quote_draft_task, job.pk)


def generate_clip(
    *,
    by: Membership,
    job: Job,
    edited_at: str,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Have the clip generated, at exactly the price `seen` (credits) and as it was when the
    question was shown (`edited_at`). If the answer has a note, an approval is requested instead."""
    check_permission(by, Permission.RENDER)
    return submit_charge(
        by,
        job,
        CREATE_CLIP_OPERATION,
        nonce,
        partial(quote_clip_creation, job, seen, edited_at),
        body=clip_body(job.draft.settings),
        uploads=tuple(build_uploads(job)),
        answer=answer,
    )


def quote_clip_creation(job: Job, seen: Decimal, edited_at: str) -> Decimal:
    """Return the price in credits; raise `Refusal` if nothing can be sent."""
    draft = job.draft
    if not is_composable(job):
        raise NotReady(SENT_BEFORE)
    if edited_at != draft.edited_at.isoformat():
        raise StaleData(CHANGED_SINCE_SHOWN)
    model = find_clip_model(account_clip_models(job.account), draft.settings.get("model"))
    if unmet := find_unmet(draft.settings, model):
        raise NotReady(f"{unmet} Nothing was sent.")
    if draft.estimate is None or not draft.has_current_estimate:
        raise NotReady(PRICE_MISSING)
    if draft.estimate != seen:
        now_text, seen_text = format_credits(draft.estimate), format_credits(seen)
        raise StaleData(PRICE_MOVED.format(now=now_text, seen=seen_text))
    return draft.estimate


def build_uploads(job: Job) -> list[Upload]:
    """The files that go with the clip. Raises `NotReady` if one is no longer kept."""
    uploads = []
    for name in REFERENCE_FIELDS:
        reference = job.draft.settings.get(name) or {}
        if not reference.get(FILE_KEY) or reference.get(ADDRESS_KEY):
            continue
        file = StoredFile.objects.filter(job=job, pk=reference[FILE_KEY]).first()
        if file is None:
            raise NotReady(FILE_GONE.format(name=name.replace("_", " ")))
        content = stored_files.read_stored_file(file)
        uploads.append(
            Upload(field=name, name=file.name, content_type=file.content_type, content=content)
        )
    return uploads
