"""Read a web page for a url-based draft: the service attaches its images, free (spec, URL-based
flow).

The request is a row (`PageRead`), sent by a worker. The service's scraping pool is shared by all
its customers: while it is used up (429), the request waits by itself and is sent again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import faceless_draft
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import Draft, Job, JobState, PageRead, PageReadState, lock_draft
from proxyapi.models.job_part import ASSETS
from proxyapi.models.page_read import ACTIVE_PAGE_READS
from proxyapi.rate_limiter import RateLimitExhausted
from proxyapi.upstream import errors, response_parsing

SCRAPE_OPERATION = "faceless.scrape_images"
URL_BASED = "url-based"
RETRY_DELAYS_S = (15, 30, 60, 120, 240)
ANSWER_TIMEOUT = timedelta(seconds=75)  # the draft may have to be created first
MAX_ATTEMPTS = len(RETRY_DELAYS_S) + 1
PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a permit; longer waits postpone the request
MIN_IMAGE_PX = 200  # the shorter side; a smaller image is left out at first
LOGO_WORDS = frozenset({"logo", "logos", "favicon", "icon", "icons", "sprite", "avatar"})
ADVERT_WORDS = frozenset({"ad", "ads", "advert", "banner", "banners", "sponsor", "promo"})
PAGE_REFUSED = "{} Check the address; the page must open without signing in."
PAGE_NOT_READ = "The service could not read this page."
POOL_STAYED_FULL = (
    "The queue was full for {minutes} min. {attempts} attempts, the last at {time:%H:%M} UTC. "
    "Nothing was charged. Read it again later."
)
CHANGED_MEANWHILE = "The draft was changed or sent before the page was read. Nothing was charged."
READER_CRASHED = "An error in Reelroom stopped the reading. Nothing was charged."


def request_page_read(job: Job, url: str) -> PageRead:
    """Request the page in the background; the next tick sends it. A request in progress is
    replaced."""
    now = timezone.now()
    fields = {
        "url": url,
        "state": PageReadState.READING,
        "requested_at": now,
        "due_at": now,
        "attempts": 0,
        "message": "",
        "ended_at": None,
    }
    row, _ = PageRead.objects.update_or_create(job=job, defaults=fields)
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return row


def stop_page_read(job: Job) -> None:
    active = PageRead.objects.filter(job=job, state__in=ACTIVE_PAGE_READS)
    active.update(state=PageReadState.STOPPED, due_at=None, ended_at=timezone.now())
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def read_page(job: Job) -> None:
    """Send the request of the draft's page if it is still wanted, and store the result or when to
    try again. Never raises errors of the service; another exception ends the request."""
    row = PageRead.objects.filter(job=job, state__in=ACTIVE_PAGE_READS).first()
    if row is None:
        return
    answer_due_at = claim_images(job)
    if answer_due_at is None:
        finish_page_read(row, PageReadState.FAILED, CHANGED_MEANWHILE)
        return
    try:
        if job.remote_id is None:
            faceless_draft.sync_draft(job)
        requested_at = timezone.now()
        reply = calls.call_upstream(
            job.token,
            SCRAPE_OPERATION,
            calls.priority_of(job),
            patience=PERMIT_TIMEOUT_S,
            path={"faceless": str(job.remote_id)},
            json={"url": row.url},
        )
        record = faceless_draft.faceless_record(reply.data)
        store_page_images(job, row, record, requested_at)
    except RateLimitExhausted as exhausted:
        postpone_page_read(row, exhausted.wait, exhausted.user_message)
    except errors.UpstreamError as error:
        record_page_error(row, error)
    except Exception:
        finish_page_read(row, PageReadState.FAILED, READER_CRASHED)
        raise
    finally:
        release_images(job, answer_due_at)


@transaction.atomic
def claim_images(job: Job) -> datetime | None:
    """Return until when no render of the draft is admitted, because the service may replace its
    images; None if they must not be replaced."""
    if job.chosen_settings.get("type") != URL_BASED or not can_replace_images(job):
        return None
    answer_due_at = timezone.now() + ANSWER_TIMEOUT
    PageRead.objects.filter(job=job).update(answer_due_at=answer_due_at)
    return answer_due_at


def release_images(job: Job, answer_due_at: datetime) -> None:
    """Admit renders again, unless a later request of the draft has been sent."""
    claimed = PageRead.objects.filter(job=job, answer_due_at=answer_due_at)
    if claimed.update(answer_due_at=None):
        publish_event(job.tenant_id, EventType.JOB, job.pk)


@transaction.atomic
def can_replace_images(job: Job) -> bool:
    """Lock the job, and return whether it is a draft of which no render was confirmed."""
    locked = Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
    return locked.state == JobState.DRAFT and not locked.charges.starting_jobs().exists()


def record_page_error(row: PageRead, error: errors.UpstreamError) -> None:
    is_pool = isinstance(error, errors.RateLimited) and not error.is_token_wide
    if isinstance(error, errors.RateLimited) and not is_pool:
        postpone_page_read(row, error.retry_delay_s(RETRY_DELAYS_S[2]), error.user_message)
    elif not (is_pool or error.outcome is not errors.ErrorOutcome.REFUSED) or isinstance(
        error, calls.PERMANENT_ERRORS
    ):
        finish_page_read(row, PageReadState.FAILED, refusal_sentence(error))
    elif row.attempts + 1 >= MAX_ATTEMPTS:
        PageRead.objects.filter(pk=row.pk).update(attempts=MAX_ATTEMPTS)
        sentence = pool_sentence(row) if is_pool else error.user_message
        finish_page_read(row, PageReadState.FAILED, sentence)
    else:
        delay_s = error.retry_delay_s(RETRY_DELAYS_S[row.attempts])
        message = "" if is_pool else error.user_message
        postpone_page_read(row, delay_s, message, attempts=row.attempts + 1)


def refusal_sentence(error: errors.UpstreamError) -> str:
    """The service's words about the address, in quotes, and what to do."""
    if not isinstance(error, errors.ValidationFailed):
        return error.user_message
    message = next(iter(error.field_messages.values()), "") or error.detail
    return PAGE_REFUSED.format(f"“{message}”" if message else PAGE_NOT_READ)


def pool_sentence(row: PageRead) -> str:
    now = timezone.now()
    minutes = max(1, round((now - row.requested_at).total_seconds() / 60))
    return POOL_STAYED_FULL.format(minutes=minutes, attempts=MAX_ATTEMPTS, time=now)


def postpone_page_read(
    row: PageRead, seconds: float, message: str, attempts: int | None = None
) -> None:
    """Send it again in `seconds`. Without a `message` it waits for the scraping pool."""
    due_at = timezone.now() + timedelta(seconds=max(1.0, seconds))
    changes = {"state": PageReadState.WAITING, "due_at": due_at, "message": message}
    save_if_wanted(row, **changes, **({} if attempts is None else {"attempts": attempts}))


def finish_page_read(row: PageRead, state: PageReadState, message: str = "") -> None:
    save_if_wanted(row, state=state, due_at=None, message=message, ended_at=timezone.now())


def save_if_wanted(row: PageRead, **changes: Any) -> None:
    """Save the outcome unless the request was stopped or replaced meanwhile."""
    wanted = PageRead.objects.filter(
        pk=row.pk, requested_at=row.requested_at, state__in=ACTIVE_PAGE_READS
    )
    if wanted.update(**changes):
        publish_event(row.job.tenant_id, EventType.JOB, row.pk)


@transaction.atomic
def store_page_images(
    job: Job, row: PageRead, record: Mapping[str, Any], requested_at: datetime
) -> None:
    """Store the images that the service attached, also if the request was stopped meanwhile: they
    have replaced those of an earlier reading. Those of a confirmed render stay as they are."""
    if not can_replace_images(job):
        finish_page_read(row, PageReadState.FAILED, CHANGED_MEANWHILE)
        return
    store_parts(job, record, (ASSETS,), requested_at)
    draft = lock_draft(job)
    items = record.get(ASSETS)
    assets = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    assets = [item for item in assets if response_parsing.is_resource_id(item.get("id"))]
    takes_order = bool(assets) and all(isinstance(item.get("used"), bool) for item in assets)
    if draft:
        use_page_images(draft, assets, takes_order=takes_order)
    ids, now = [item["id"] for item in assets], timezone.now()
    PageRead.objects.filter(pk=row.pk).update(
        image_ids=ids, takes_order=takes_order, read_url=row.url, read_at=now
    )
    finish_page_read(row, PageReadState.DONE)
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def use_page_images(
    draft: Draft, assets: Sequence[Mapping[str, Any]], *, takes_order: bool
) -> None:
    """Use the images of the page in its order. If the service takes an order, those that look like
    a logo or an advert are left out at first."""
    ids = [item["id"] for item in assets]
    fitting = [item["id"] for item in assets if not doubtful_image_reason(item)]
    used = fitting if takes_order and fitting else ids
    now = timezone.now()
    draft.settings = {**draft.settings, ASSETS: used}
    draft.sent_settings = {**draft.sent_settings, ASSETS: ids}
    draft.estimate, draft.quote_error, draft.quote_fields, draft.edited_at = None, "", None, now
    if not faceless_draft.missing_render_fields(draft.settings):
        draft.quote_due_at = now
    draft.save()


def doubtful_image_reason(item: Mapping[str, Any]) -> str:
    """Why an image of a page probably does not belong into a video; empty if it does. `item` is the
    asset in the record, whose fields the spec does not document."""
    sides = [item.get("width"), item.get("height")]
    if all(isinstance(side, int) and not isinstance(side, bool) for side in sides):
        width, height = sides
        if min(width, height) < MIN_IMAGE_PX:  # type: ignore[type-var, operator]
            return f"{width} × {height}, too small"
    address = str(item.get("source_url") or "").partition("?")[0]
    words = set(re.findall("[a-z]+", f"{address.rsplit('/', 1)[-1]} {item.get('text')}".lower()))
    if words & LOGO_WORDS:
        return "Looks like a logo"
    return "Looks like an advert" if words & ADVERT_WORDS else ""
