"""Drafts: a person's choices are stored here first, and sent upstream for a price or a render.

So no choice is lost while the upstream is unavailable, and a step of the studio costs no request
until all required settings are chosen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import redis
from django.db import transaction
from django.utils import timezone
from redis.lock import Lock

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.kinds.draft_creation import (
    check_creation_delay,
    draft_lock,
    schedule_creation_retry,
)
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState, ScriptVersion
from proxyapi.models.draft import UNCONFIRMED_SETTING
from proxyapi.models.job_part import ASSETS, EXPORTS
from proxyapi.operations import SCRIPT_OPERATIONS, get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors, response_parsing

QUOTE_RETRY_S = 240.0  # seconds until a script or a new price is requested again
CREATE_OPERATION, READ_OPERATION = "faceless.create", "faceless.get"
SCRIPT_OPERATION, PAGE_SCRIPT_OPERATION = "faceless.scripts", "faceless.scrape_script"
RENDER_OPERATION, CHANGE_OPERATION = "faceless.render", "faceless.patch"
MAX_PRICE_AGE = timedelta(days=1)  # an older price is requested again while approval is pending
QUOTE_RETRY_WHILE_CHARGED_S = 10.0  # seconds until the next attempt while a charge is open
# The draft's current settings are invalid.
INVALID_DRAFT_ERRORS = (
    errors.NotFound,
    errors.PreconditionFailed,
    errors.ValidationFailed,
)
PART_LISTS = (ASSETS, EXPORTS)
TYPES_WITH_GENRE = ("ai-visuals", "ai-clips")
# The fields that POST /faceless is known to accept; all others are sent by PATCH.
CREATE_FIELDS = ("type", "title", "topic")
# Fields of `captions` where the service takes it as an object, and the settings that they are.
CAPTION_FIELDS = {"font_family": "font", "position": "caption_position"}


def missing_render_fields(chosen: dict[str, Any]) -> list[str]:
    """The render preconditions of the spec that a draft does not meet yet, as field names."""
    needs = ["script", "voice_id"]
    if chosen.get("type") in TYPES_WITH_GENRE:
        needs.append("genre_id")
    if chosen.get("type") == "url-based":
        needs.append("assets")  # its images, as PATCH takes them in the sandbox
    return [name for name in needs if not chosen.get(name)]


def sync_draft(job: Job, lane: Priority | None = None, patience: float = 2) -> dict[str, Any]:
    """Send the draft's unsent settings upstream and return the upstream's record of it.

    Free of charge, so it may be repeated. Raises `errors.UpstreamError` or `RateLimitExhausted`.
    """
    with draft_lock(job) as held:
        return push_draft_changes(job, lane or calls.priority_of(job), patience, held)


def push_draft_changes(job: Job, lane: Priority, patience: float, held: Lock) -> dict[str, Any]:
    if job.remote_id is None:
        create_upstream_draft(job, lane, patience)
        with suppress(redis.RedisError):
            held.reacquire()
    draft = job.draft
    changes = draft.unsent_settings()
    if has_unread_script(job):
        changes.pop("script", None)  # it would overwrite the unread one
    if not changes:
        return fetch_draft(job, lane, patience)
    # Until the answer arrives the upstream's value is unknown, so undoing the change must also be
    # sent.
    unconfirmed = dict.fromkeys(changes, UNCONFIRMED_SETTING)
    draft.sent_settings = {**draft.sent_settings, **unconfirmed}
    draft.save(update_fields=["sent_settings"])
    try:
        record = patch_draft(job, changes, lane, patience)
    except errors.ValidationFailed as error:
        if "captions" not in (error.field_messages or {}):
            raise
        changes["captions"] = captions_object(None, draft.settings) or None
        record = patch_draft(job, changes, lane, patience)
    draft.sent_settings = {**draft.sent_settings, **changes}
    if captions := unsent_captions(draft, record):
        # A service that shows none may take no object either: the settings above were taken.
        with suppress(errors.ValidationFailed):
            record = patch_draft(job, {"captions": captions}, lane, patience)
        draft.sent_settings = {**draft.sent_settings, "captions": captions}
    draft.save(update_fields=["sent_settings"])
    return record


def patch_draft(
    job: Job, changes: dict[str, Any], lane: Priority, patience: float
) -> dict[str, Any]:
    path, requested_at = {"faceless": str(job.remote_id)}, timezone.now()
    reply = calls.call_upstream(
        job.token, CHANGE_OPERATION, lane, patience=patience, path=path, json=changes
    )
    return read_record(job, reply.data, requested_at)


def unsent_captions(draft: Draft, record: dict[str, Any]) -> dict[str, Any]:
    """The captions that the record does not show as they were chosen, and that were not sent."""
    shown = record.get("captions", False)
    captions = captions_object(shown, draft.settings)
    return {} if captions in (shown, draft.sent_settings.get("captions")) else captions


def captions_object(shown: Any, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The captions to send to a service whose record shows them as an object or null: the chosen
    settings over those that are shown. Empty if it shows another shape, or if none are chosen. An
    empty object may arrive as a list."""
    if not (shown is None or isinstance(shown, dict | list)):
        return {}
    fields = {field: chosen.get(name) for field, name in CAPTION_FIELDS.items()}
    captions = {field: value for field, value in fields.items() if value}
    return {**response_parsing.as_mapping(shown), **captions} if captions else {}


def export_captions(charge: Charge) -> dict[str, Any]:
    """The captions of an export, in the shape that the record showed before it is sent, or that the
    service took in the last change of the draft."""
    draft = charge.job.draft_or_none if charge.job else None
    shown = charge.before.get("captions", False)
    if shown is False and draft is not None:
        shown = draft.sent_settings.get("captions", False)
    return captions_object(shown, charge.body)


def fetch_draft(job: Job, lane: Priority, patience: float) -> dict[str, Any]:
    path, requested_at = {"id": str(job.remote_id)}, timezone.now()
    reply = calls.call_upstream(job.token, READ_OPERATION, lane, patience=patience, path=path)
    return read_record(job, reply.data, requested_at)


def read_record(job: Job, data: Any, requested_at: datetime) -> dict[str, Any]:
    """The faceless record in an answer, whose lists are stored as parts of the job."""
    record = faceless_record(data)
    store_parts(job, record, PART_LISTS, requested_at)
    return record


def create_upstream_draft(job: Job, lane: Priority, patience: float) -> None:
    draft = job.draft
    check_creation_delay(draft, CREATE_OPERATION)
    first = {name: value for name in CREATE_FIELDS if (value := draft.settings.get(name))}
    try:
        reply = calls.call_upstream(
            job.token, CREATE_OPERATION, lane, patience=patience, json=first
        )
        remote_id = created_draft_id(job, faceless_record(reply.data))
    except errors.UpstreamError as error:
        if error.outcome is errors.ErrorOutcome.UNKNOWN:
            schedule_creation_retry(draft)
        raise
    # The lock may have been lost with Redis. The first draft is kept, because it may be paid for.
    uncreated = Job.objects.filter(pk=job.pk, remote_id__isnull=True)
    with transaction.atomic():
        if uncreated.update(remote_id=remote_id):
            Draft.objects.filter(pk=draft.pk).update(sent_settings=first)
    job.refresh_from_db(fields=["remote_id"])
    draft.refresh_from_db(fields=["sent_settings"])


def created_draft_id(job: Job, record: dict[str, Any]) -> str:
    id = record.get("id")
    if not response_parsing.is_resource_id(id) or job.is_remote_id_taken(str(id)):
        raise errors.ResponseLost(get_operation(CREATE_OPERATION))
    return str(id)


def faceless_record(data: Any) -> dict[str, Any]:
    """The faceless record, in `data` itself or one level below."""
    if not isinstance(data, dict):
        return {}
    inner = data.get("faceless")
    return inner if isinstance(inner, dict) else data


def unread_script_marker(page: str) -> dict[str, str]:
    """The marker in `sent_settings` for an ordered script that was not read yet; `page` is the
    script that the page showed at the order."""
    return {"unread beside": page}


def has_unread_script(job: Job) -> bool:
    """Whether a script has to be read: one was ordered, and the page's script is unchanged
    since."""
    draft = job.draft
    marker = unread_script_marker(draft.settings.get("script") or "")
    return job.remote_id is not None and draft.sent_settings.get("script") == marker


def fetch_script(job: Job) -> None:
    """Store the upstream's script of this draft, which was or may have been paid for.

    With the draft's lock held. Raises `errors.UpstreamError` or `RateLimitExhausted`.
    """
    try:
        record = fetch_draft(job, calls.priority_of(job), 2)
    except errors.NotFound:
        record = {"script": ""}
    if "script" not in record:
        raise errors.ResponseLost(get_operation(READ_OPERATION))
    draft, now = job.draft, timezone.now()
    chosen, sent = draft.settings, draft.sent_settings
    sent = {name: value for name, value in sent.items() if name != "script"}
    if isinstance(script := record["script"], str) and script:
        keep_fetched_script(job, script)
        chosen, sent = {**chosen, "script": script}, {**sent, "script": script}
    fields = {"settings": chosen, "sent_settings": sent, "edited_at": now, "quote_due_at": now}
    # A script that a person changed meanwhile is kept.
    unedited = Draft.objects.filter(pk=draft.pk, edited_at=draft.edited_at)
    unedited.update(quote_error="", **fields)
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def keep_fetched_script(job: Job, script: str) -> None:
    """Keep a script that was read back, and the text that it replaces in the draft."""
    charges = job.charges.filter(operation__in=SCRIPT_OPERATIONS, sent_at__isnull=False)
    charge = charges.filter(script_version=None).order_by("-sent_at").first()
    if charge and script_digest(script) != charge.before.get("script"):
        ScriptVersion.objects.keep_current_script(job.draft)
        ScriptVersion.objects.keep_paid_script(job, charge, script)


def script_digest(script: object) -> str:
    return hashlib.sha256(str(script or "").encode()).hexdigest()


def quote_draft(job: Job) -> None:
    """Request the price of the current settings; an error is stored as a sentence, not raised.

    Several changes cost one request. It stays due while the account is of another upstream.
    """
    if not job.account.is_of_current_upstream:
        return
    draft, requested_at, edited_at = job.draft, timezone.now(), job.draft.edited_at
    quote: dict[str, object] = dict.fromkeys(("estimate", "quote_due_at", "quote_fields"))
    quote["quote_error"] = ""
    is_incomplete = bool(missing_render_fields(draft.settings)) and not has_unread_script(job)
    is_known = draft.has_current_estimate and not needs_new_quote(job, requested_at)
    if job.state not in (JobState.DRAFT, JobState.FAILED) or is_incomplete or is_known:
        Draft.objects.filter(pk=draft.pk, edited_at=edited_at).update(quote_due_at=None)
        return
    try:
        with draft_lock(job) as held:
            if job.charges.holding().exists():  # a charge that waits for approval does not count
                # The charge's evidence is the draft before the send, so the draft must not change.
                defer_quote(draft, requested_at, QUOTE_RETRY_WHILE_CHARGED_S)
                return
            edited_at = draft.edited_at
            if has_unread_script(job):
                fetch_script(job)  # the next call requests the price
                return
            push_draft_changes(job, calls.priority_of(job), 2, held)
        path = {"faceless": str(job.remote_id)}
        reply = calls.call_upstream(
            job.token, "faceless.estimate", calls.priority_of(job), patience=2, path=path
        )
        quote["estimate"] = parse_estimate_credits(reply.data)
        if quote["estimate"] is None:
            quote["quote_error"] = "The service returned no readable price."
    except RateLimitExhausted as exhausted:
        defer_quote(draft, requested_at, max(1.0, exhausted.wait))
        return
    except errors.UpstreamError as error:
        if draft.has_current_estimate and not isinstance(error, INVALID_DRAFT_ERRORS):
            defer_quote(draft, requested_at, QUOTE_RETRY_S)  # the old price keeps its age
            return
        quote["quote_error"] = error.user_message
        if isinstance(error, errors.ValidationFailed):
            quote["quote_fields"] = error.field_messages
        if has_unread_script(job) and not isinstance(error, calls.PERMANENT_ERRORS):
            quote["quote_due_at"] = requested_at + timedelta(seconds=QUOTE_RETRY_S)
    # A change meanwhile has requested another price; this one does not apply to it.
    unedited = Draft.objects.filter(pk=draft.pk, edited_at=edited_at)
    unedited.update(**quote, estimate_as_of=requested_at)
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def needs_new_quote(job: Job, now: datetime) -> bool:
    """Whether an approval is pending for a price that is old, or that was requested again."""
    draft = job.draft
    is_old = draft.estimate_as_of is not None and draft.estimate_as_of < now - MAX_PRICE_AGE
    return (is_old or draft.quote_due_at is not None) and awaits_approval(job)


def awaits_approval(job: Job) -> bool:
    """Whether an approval of the price was requested and is not decided yet."""
    return job.charges.filter(state=ChargeState.DRAFT).exists()


def defer_quote(draft: Draft, requested_at: datetime, seconds: float) -> None:
    due_at = requested_at + timedelta(seconds=seconds)
    Draft.objects.filter(pk=draft.pk).update(quote_due_at=due_at)


def parse_estimate_credits(data: Any) -> Decimal | None:
    """The credits in an estimate, whose exact shape the spec does not document."""
    if (amount := response_parsing.parse_credit_amount(data)) is not None:
        return amount if amount >= 0 else None
    if isinstance(data, dict):
        for name in ("credits", "cost", "estimate", "estimated_credits", "required", "total"):
            credits = parse_estimate_credits(data.get(name))
            if credits is not None:
                return credits
    return None
