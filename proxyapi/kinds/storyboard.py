"""Storyboards, from text to scene. What a team edits is in the portal; a job of this kind is a copy
of it at the service (`storyboard_copy`), sent by `storyboard_sync`.

The spec documents no failed status and no video URL: an empty URL means that the video is not ready
yet.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import (
    storyboard_clips,
    storyboard_record,
    storyboard_requests,
    storyboard_sync,
    storyboard_writing,
)
from proxyapi.kinds.declaration import KindSpec, UpstreamRecord
from proxyapi.kinds.faceless_draft import parse_estimate_credits
from proxyapi.kinds.storyboard_copy import (
    SCENE_CLIPS_OPERATION,
    STORYBOARD_RENDER_OPERATION,
    WRITING_OPERATION,
    scenes_by_id,
)
from proxyapi.models import Charge, Draft, Job, JobState, lock_draft
from proxyapi.models.job_part import SCENE_CLIPS
from proxyapi.operations import JobKind, Operation, get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.refusals import format_credits
from proxyapi.upstream import errors

PATIENCE_S = 2.0  # seconds to wait for a permit
# One request for a price, with the scenes and frames that are sent before it
QUOTE_LEASE = timedelta(minutes=2)
QUOTE_RETRY = timedelta(seconds=30)  # until a price that did not come is requested again
QUOTE_RETRY_WHILE_CHARGED = timedelta(seconds=10)
UNREADABLE_PRICE = "The service returned no readable price. Nothing was charged."
SCENE_NOT_SENT = "A scene of this request is not in the storyboard any more. Nothing was sent."
MAX_CONFIRMED_PRICE_AGE = timedelta(minutes=1)  # an older price is requested before the send
RENDER_PRICE_CHANGED = (
    "The price is now {now} cr, it was {seen} cr when this was confirmed. Nothing was sent."
)
NO_PRICE = {"estimate": None, "quote_due_at": None, "quote_error": "", "quote_fields": None}
NO_SCENES = "This storyboard has no scenes yet."
NOTHING_SENT = " Nothing was sent."


class ScenesUnready(errors.UnsendableRequest):
    """A scene cannot be sent yet, or is not there any more."""

    code = "SCENES-UNREADY"

    def __init__(self, operation: Operation, sentence: str) -> None:
        super().__init__(operation, "a scene is not ready")
        self.sentence = sentence


class RenderPriceChanged(errors.UnsendableRequest):
    """The service asks another price for the render than the confirmed one."""

    code = "PRICE-CHANGED"

    def __init__(self, seen: Decimal, now: Decimal) -> None:
        super().__init__(get_operation(STORYBOARD_RENDER_OPERATION), "the price changed")
        self.sentence = RENDER_PRICE_CHANGED.format(
            seen=format_credits(seen), now=format_credits(now)
        )


class StoryboardKind(KindSpec):
    def resource_in(self, data: Any) -> UpstreamRecord:
        return storyboard_record.storyboard_in(data)

    def store_parts(self, job: Job, data: Any, requested_at: datetime | None = None) -> None:
        record = self.resource_in(data)
        storyboard_clips.store_clips(job, record, requested_at)
        storyboard_writing.adopt_unread_scenes(job, record)

    def request_body(self, charge: Charge) -> UpstreamRecord:
        """The scenes by their ids at the service. Raises `ScenesUnready` if one is not there."""
        draft = charge.job.draft_or_none if charge.job else None
        scenes = charge.body.get("scenes")
        if charge.operation != SCENE_CLIPS_OPERATION or draft is None or not scenes:
            return super().request_body(charge)
        operation, sent = get_operation(charge.operation), scenes_by_id(draft.sent_settings)
        unready = draft.settings.get("unready", {})
        for scene in scenes:
            if scene not in sent:
                sentence = unready.get(scene, "")
                raise ScenesUnready(
                    operation, sentence + NOTHING_SENT if sentence else SCENE_NOT_SENT
                )
        ids = [storyboard_requests.remote_id_of(sent[scene]) for scene in scenes]
        return {**charge.body, "scenes": ids}

    def check_before_send(self, charge: Charge, record: UpstreamRecord) -> None:
        self.request_body(charge)
        if charge.operation == STORYBOARD_RENDER_OPERATION and charge.job:
            unmet = missing_render_parts(charge.job.chosen_settings)
            if unmet and charge.job.draft_or_none:
                operation = get_operation(charge.operation)
                raise ScenesUnready(operation, unmet[0] + NOTHING_SENT)
            confirm_render_price(charge)

    def has_result(self, operation: Operation, record: UpstreamRecord) -> bool:
        return operation.name != WRITING_OPERATION or storyboard_writing.has_written_scenes(record)

    def store_result(self, job: Job, charge: Charge, record: UpstreamRecord) -> bool:
        if charge.operation == WRITING_OPERATION:
            since = charge.sent_at if charge.is_assumed_uncharged else None
            return storyboard_writing.adopt_written_scenes(job, charge, record, since)
        if charge.operation == SCENE_CLIPS_OPERATION:
            mark_clips_current(job, charge)
        return True

    def select_evidence(self, charge: Charge, record: UpstreamRecord) -> UpstreamRecord:
        """Of clips, the scenes of the charge alone: others may be made at the same time."""
        if charge.operation != SCENE_CLIPS_OPERATION:
            return record
        ids = storyboard_clips.ordered_scene_ids(charge)
        scenes = storyboard_record.scene_records(record)
        if ids is None or scenes is None:
            return record
        return {**record, "scenes": [scene for scene in scenes if str(scene["id"]) in ids]}

    def snapshot(self, operation: Operation, record: UpstreamRecord) -> UpstreamRecord:
        stored = super().snapshot(operation, record)
        if operation.name == SCENE_CLIPS_OPERATION:
            stored["part"] = storyboard_clips.clip_states(record)
        return stored

    def proves(self, operation: Operation, before: UpstreamRecord, record: UpstreamRecord) -> bool:
        known = before.get("part")
        if operation.name == SCENE_CLIPS_OPERATION:
            return storyboard_clips.shows_new_clip(known, storyboard_clips.clip_states(record))
        if operation.name == WRITING_OPERATION:
            # Without the scenes before, those that are there now may be older.
            return known is not None and super().proves(operation, before, record)
        return super().proves(operation, before, record)


def mark_clips_current(job: Job, charge: Charge) -> None:
    """The clips are made of what the service has now. The caller has locked the job."""
    draft = lock_draft(job)
    chosen = charge.body.get("scenes")
    if draft is None:
        return
    for id, scene in scenes_by_id(draft.sent_settings).items():
        if not chosen or id in chosen:
            scene.pop("outdated", None)
    draft.save(update_fields=["sent_settings"])


def missing_render_parts(chosen: UpstreamRecord) -> list[str]:
    """Why the copy cannot be priced and rendered yet, as sentences."""
    if not chosen.get("scenes") and "unready" in chosen:
        return [NO_SCENES]
    return list(chosen.get("unready", {}).values())


def sync_storyboard(job: Job, priority: Priority, permit_timeout_s: float) -> UpstreamRecord:
    """Send what was not sent, and return the record, whose clips are stored: a frame that was sent
    may have ended one."""
    record = storyboard_sync.sync_copy(job, priority, permit_timeout_s)
    STORYBOARD.store_parts(job, record)
    return record


def quote_storyboard(job: Job) -> None:
    """Send what was not sent and request the exact price of a render, if one is due; an error is
    stored as a sentence, not raised."""
    draft, edited_at, requested_at = job.draft, job.draft.edited_at, timezone.now()
    if draft.quote_due_at is None or not job.account.is_of_current_upstream:
        return
    rows = Draft.objects.filter(pk=draft.pk, quote_due_at=draft.quote_due_at)
    if job.state not in (JobState.DRAFT, JobState.FAILED):
        rows.update(quote_due_at=None)
    elif job.charges.holding().filter(applied_at=None).exists():
        # The charge's evidence is the copy before the send, so it must not change.
        rows.update(quote_due_at=requested_at + QUOTE_RETRY_WHILE_CHARGED)
    elif rows.update(quote_due_at=requested_at + QUOTE_LEASE):
        unmet = next(iter(missing_render_parts(draft.settings)), "")
        result = {"quote_error": unmet} if unmet else request_render_price(job)
        # A change meanwhile has dropped the price; this one does not apply to it.
        unedited = Draft.objects.filter(pk=draft.pk, edited_at=edited_at)
        unedited.update(**NO_PRICE | result, estimate_as_of=requested_at)
        publish_event(job.tenant_id, EventType.JOB, job.pk)


def request_render_price(job: Job) -> dict[str, Any]:
    """The fields of the draft after a request for the price."""
    try:
        sync_storyboard(job, Priority.PERSON, PATIENCE_S)
        price = fetch_render_price(job)
    except RateLimitExhausted as exhausted:
        wait = timedelta(seconds=max(1.0, exhausted.wait))
        return {"quote_due_at": timezone.now() + wait}
    except errors.UpstreamError as error:
        fields = error.field_messages if isinstance(error, errors.ValidationFailed) else None
        retry = None if isinstance(error, calls.PERMANENT_ERRORS) else timezone.now() + QUOTE_RETRY
        return {
            "quote_error": error.user_message,
            "quote_fields": fields,
            "quote_due_at": retry,
        }
    return {"estimate": price, "quote_error": "" if price is not None else UNREADABLE_PRICE}


def fetch_render_price(job: Job) -> Decimal | None:
    """The credits of a render now; None if the answer has none that are readable."""
    operation = get_operation(STORYBOARD_RENDER_OPERATION).price.estimate_operation
    path = {"storyboard": str(job.remote_id)}
    reply = calls.call_upstream(
        job.token, operation, Priority.PERSON, patience=PATIENCE_S, path=path
    )
    return parse_estimate_credits(reply.data)


def confirm_render_price(charge: Charge) -> None:
    """Request the price once more right before the render is sent, if the confirmed one is not
    fresh.

    Raises `RenderPriceChanged`, `errors.UpstreamError` or `RateLimitExhausted`; then nothing is
    sent. A price that is not readable now does not contradict the confirmed one.
    """
    job, now = charge.job, timezone.now()
    draft = job.draft_or_none if job else None
    if job is None or draft is None or charge.quote is None:
        return
    as_of = draft.estimate_as_of
    is_fresh = as_of is not None and timedelta(0) <= now - as_of < MAX_CONFIRMED_PRICE_AGE
    if is_fresh and draft.estimate == charge.quote:
        return
    price = fetch_render_price(job)
    if price is None:
        return
    Draft.objects.filter(pk=draft.pk).update(estimate=price, estimate_as_of=now)
    if price != charge.quote:
        publish_event(job.tenant_id, EventType.JOB, job.pk)
        raise RenderPriceChanged(charge.quote, price)


STORYBOARD = StoryboardKind(
    JobKind.STORYBOARD,
    "storyboard",
    "video",
    frozenset({"completed"}),
    may_hide_media_url=True,
    prepare=sync_storyboard,
    quote=quote_storyboard,
    preconditions=missing_render_parts,
    part_lists=(SCENE_CLIPS,),
)
