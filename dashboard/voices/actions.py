"""Actions on voices: start, save and create a clone, its samples, its consent; a star."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership, VoiceConsent
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.charging import CONFIRMED, ConfirmAnswer, require_shown_price, submit_charge
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.recordings import Recording
from dashboard.voices.clone_settings import (
    MAX_SAMPLES,
    UNNAMED,
    CloneSettings,
    is_editable,
    parse_clone_settings,
    settings_version,
)
from dashboard.voices.slots import clone_price, load_slots_card
from proxyapi import cloned_voices, stored_files, tasks
from proxyapi.events import EventType, publish_event
from proxyapi.kinds.voice_clone import BUY_SLOT_FIELD, CREATE_CLONE
from proxyapi.models import (
    Account,
    Charge,
    ClonedVoice,
    Draft,
    Job,
    JobKind,
    JobState,
    StoredFile,
    lock_draft,
)
from proxyapi.refusals import BY_OTHERS, NotReady, StaleData

ALREADY_SENT = "This voice was sent, or waits for an approval. Your change was not saved."
CHANGED_MEANWHILE = f"This voice was changed {BY_OTHERS}. Reload the page to see it as it is now."
CHANGED_SINCE_SHOWN = "This voice was changed meanwhile. Nothing was sent. Review it first."
TOO_MANY_SAMPLES = "At most three samples are allowed. Remove one to add another."
INCOMPLETE = "Something is still missing, or the slots are not known. Nothing was sent."
NO_CONSENT = "There is no consent to withdraw."
CONSENT_OPEN = "The voice is being sent. Withdraw the consent when it has arrived."
NOT_DELETABLE = "Only a voice that was not created can be deleted."


@transaction.atomic
def start_voice(*, by: Membership) -> Job:
    """Return the member's empty draft of a voice, or a new one, and have the slots read. Free."""
    check_permission(by, Permission.RENDER)
    token = require_member_token(by)
    unused = Job.objects.visible().filter(
        tenant=by.team.tenant,
        member=by.user,
        token=token,
        kind=JobKind.CLONE,
        state=JobState.DRAFT,
        draft__settings={},
        stored_files=None,
        charges=None,
    )
    job = unused.first()
    if job is None:
        job = Job.objects.create(
            tenant=by.team.tenant,
            account=token.account,
            token=token,
            member=by.user,
            kind=JobKind.CLONE,
            title=UNNAMED,
        )
        Draft.objects.create(job=job)
        record_audit_event(by, AuditAction.DRAFT_START, job.pk)
        publish_event(job.tenant_id, EventType.JOB, job.pk)
    request_slots(token.account)
    return job


def read_slots_again(*, by: Membership, account: Account) -> None:
    check_permission(by, Permission.RECHECK)
    with transaction.atomic():
        request_slots(account)


def request_slots(account: Account) -> None:
    """In the caller's transaction."""
    cloned_voices.request_slot_read(account)
    tasks.enqueue_task_after_commit(tasks.read_voice_slots_task, account.pk)


@transaction.atomic
def save_voice(*, by: Membership, job: Job, chosen: dict[str, Any], seen: str = "") -> None:
    """Save what was entered. `seen` is the version of the settings that the form was built from;
    samples that arrive meanwhile do not count."""
    job, draft = lock_editable_voice(by, job)
    if chosen == draft.settings:
        return
    if seen and seen != settings_version(draft.settings):
        raise StaleData(CHANGED_MEANWHILE)
    fields = sorted(name for name in chosen if chosen[name] != draft.settings.get(name))
    draft.settings = chosen
    job.title = chosen["name"] or UNNAMED
    job.save(update_fields=["title"])
    mark_edited(by, job, draft, fields)


@transaction.atomic
def add_samples(*, by: Membership, job: Job, recordings: Sequence[tuple[str, Recording]]) -> None:
    """Keep recordings, encrypted, until the voice is created."""
    job, draft = lock_editable_voice(by, job)
    if job.stored_files.count() + len(recordings) > MAX_SAMPLES:
        raise NotReady(TOO_MANY_SAMPLES)
    for name, recording in recordings:
        stored_files.store_file(
            job,
            name=name,
            content_type=recording.content_type,
            content=recording.content,
            seconds=recording.seconds,
        )
    mark_edited(by, job, draft, ["samples"])


@transaction.atomic
def remove_sample(*, by: Membership, job: Job, file: StoredFile) -> None:
    job, draft = lock_editable_voice(by, job)
    file.delete()
    mark_edited(by, job, draft, ["samples"])


def lock_editable_voice(by: Membership, job: Job) -> tuple[Job, Draft]:
    """Return job and draft, locked. Raises `NotReady` if the voice cannot be changed any more."""
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update().get(pk=job.pk)
    draft = lock_draft(job)
    if draft is None or not is_editable(job):
        raise NotReady(ALREADY_SENT)
    return job, draft


def mark_edited(by: Membership, job: Job, draft: Draft, fields: list[str]) -> None:
    draft.edited_at = timezone.now()
    draft.save(update_fields=["settings", "edited_at"])
    record_audit_event(by, AuditAction.DRAFT_SAVE, job.pk, fields=fields)


@transaction.atomic
def create_voice(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    edited_at: str,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Send the voice with its samples. The consent is recorded in the same transaction, so nothing
    is sent without it.

    `seen` is the price that was shown, in credits, `edited_at` the version of the draft. With a
    note in the answer an approval is requested instead.
    """
    check_permission(by, Permission.RENDER)
    chosen = parse_clone_settings(job.chosen_settings)
    quote = partial(quote_voice, job, chosen, seen, edited_at)
    with append_audit_rows_last():
        charge = submit_charge(
            by, job, CREATE_CLONE, nonce, quote, body=clone_body(chosen, seen), answer=answer
        )
        record_consent(by, job, chosen, charge)
    return charge


def clone_body(chosen: CloneSettings, price: Decimal) -> dict[str, object]:
    """The form fields beside the samples; a slot is bought only at a price that was shown."""
    body = {"terms": True, "name": chosen.name, "gender": chosen.gender}
    return {**body, BUY_SLOT_FIELD: True} if price else body


def quote_voice(job: Job, chosen: CloneSettings, seen: Decimal, edited_at: str) -> Decimal:
    """Return the price in credits; raise `Refusal` if nothing can be sent."""
    if not is_editable(job):
        raise NotReady(ALREADY_SENT)
    if job.draft.edited_at.isoformat() != edited_at:
        raise StaleData(CHANGED_SINCE_SHOWN)
    is_complete = chosen.name and chosen.gender and chosen.is_speaker_known and chosen.has_consent
    price = clone_price(chosen, load_slots_card(job.account))
    if not is_complete or price is None or not job.stored_files.exists():
        raise NotReady(INCOMPLETE)
    require_shown_price(seen, price)
    Draft.objects.filter(pk=job.pk).update(estimate=price)  # what an approval is checked against
    return price


def record_consent(by: Membership, job: Job, chosen: CloneSettings, charge: Charge) -> None:
    """Once for each request: a form that is submitted twice has one record."""
    if VoiceConsent.objects.filter(charge=charge).exists():
        return
    samples = [
        {"name": file.name, "size": file.size, "seconds": file.seconds, "sha256": file.sha256}
        for file in job.stored_files.defer("ciphertext")
    ]
    consent = VoiceConsent.objects.create(
        team=by.team,
        job=job,
        charge=charge,
        voice_name=chosen.name,
        is_own=chosen.is_own,
        speaker=str(by.user)[:100] if chosen.is_own else chosen.speaker,
        agreed_on=None if chosen.is_own else chosen.agreed_on,
        confirmed_by=by.user,
        samples=samples,
    )
    known = sorted(cloned_voices.listed_voices(job.account))
    ClonedVoice.objects.update_or_create(
        job=job, defaults={"known_voice_ids": known, "voice_id": "", "withdrawn_at": None}
    )
    after = {"job": str(job.pk), "speaker": consent.speaker, "samples": samples}
    record_audit_event(by, AuditAction.VOICE_CONSENT, consent.pk, after=after)


@transaction.atomic
def withdraw_consent(*, by: Membership, job: Job) -> None:
    """Stop offering the voice; its records of consent stay. Samples that wait are deleted."""
    check_permission(by, Permission.RENDER)
    now = timezone.now()
    job = Job.objects.select_for_update(of=("self",)).select_related("account").get(pk=job.pk)
    valid = VoiceConsent.objects.filter(job=job, withdrawn_at=None)
    consents = list(valid)
    if not consents:
        raise NotReady(NO_CONSENT)
    if job.charges.open().filter(applied_at=None, unidentified_at=None).exists():
        raise NotReady(CONSENT_OPEN)
    valid.update(withdrawn_at=now, withdrawn_by=by.user)
    ClonedVoice.objects.filter(job=job).update(withdrawn_at=now)
    job.stored_files.all().delete()
    cloned_voices.store_withdrawn_voices(job.account)
    for consent in consents:
        record_audit_event(by, AuditAction.VOICE_CONSENT_WITHDRAW, consent.pk, job=str(job.pk))
    publish_event(job.tenant_id, EventType.JOB, job.pk)


@transaction.atomic
def delete_voice(*, by: Membership, job: Job) -> None:
    """Hide a voice that was not created, and delete its samples. Its consents stay."""
    check_permission(by, Permission.RENDER)
    job = Job.objects.select_for_update().get(pk=job.pk)
    if not is_editable(job):
        raise NotReady(NOT_DELETABLE)
    Job.objects.filter(pk=job.pk).update(hidden_at=timezone.now())
    job.stored_files.all().delete()
    record_audit_event(by, AuditAction.DRAFT_DELETE, job.pk)
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def set_favourite(*, by: Membership, account: Account, voice_id: str, is_favourite: bool) -> None:
    """Put a star on a voice, or take it off; each member has their own."""
    with transaction.atomic():
        row = Membership.objects.select_for_update(of=("self",)).get(pk=by.pk)
        others = row.favourite_voices_of(account.environment) - {voice_id}
        starred = sorted(others | {voice_id} if is_favourite else others)
        row.favourite_voices = {**row.favourite_voices, account.environment: starred}
        row.save(update_fields=["favourite_voices"])
    by.favourite_voices = row.favourite_voices
