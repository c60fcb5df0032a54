"""Clips, from text to video. The request that creates a clip charges for it, at an exact price.

A draft is kept here alone: the service has no drafts of clips. Its price is requested for the
parameters that are sent, again when one of them changes, and once more right before the clip is
sent if it is not fresh: a clip is never sent at another price than the confirmed one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.kinds.declaration import KindSpec, UpstreamRecord
from proxyapi.kinds.faceless_draft import parse_estimate_credits
from proxyapi.models import Account, Draft, Job, JobState
from proxyapi.operations import JobKind, get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.refusals import format_credits
from proxyapi.upstream import errors

CREATE_CLIP_OPERATION = "text_to_video.create"
OPTION_FIELDS = ("duration", "resolution", "aspect_ratio", "audio")
REFERENCE_FIELDS = ("first_frame", "last_frame", "image", "video")
ADDRESS_KEY, FILE_KEY = "address", "file"  # of a reference in the settings
MIN_PROMPT_WORDS, MAX_PROMPT_WORDS = 5, 1500  # spec, Limits
PATIENCE_S = 2.0  # seconds to wait for a permit
QUOTE_LEASE = timedelta(seconds=30)  # one request for a price, with its waits
QUOTE_RETRY = timedelta(seconds=30)  # until a price that did not come is requested again
MAX_CONFIRMED_PRICE_AGE = timedelta(minutes=1)  # an older price is requested before the send
UNREADABLE_PRICE = "The service returned no readable price. Nothing was charged."
PRICE_NOT_ANSWERED = (
    "The service did not answer when it was asked for the price. It is asked again by itself."
)
PRICE_CHANGED = (
    "The price is now {now} cr, it was {seen} cr when this was confirmed. Nothing was sent."
)


class ClipPriceChanged(errors.UnsendableRequest):
    """The service asks another price than the confirmed one."""

    code = "PRICE-CHANGED"

    def __init__(self, seen: Decimal, now: Decimal) -> None:
        super().__init__(get_operation(CREATE_CLIP_OPERATION), "the price changed")
        self.text = PRICE_CHANGED.format(seen=format_credits(seen), now=format_credits(now))

    @property
    def user_message(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ClipQuote:
    """What the service answered to a request for the price: an amount, or why there is none."""

    price: Decimal | None
    error: str = ""
    fields: dict[str, str] | None = None
    retry_at: datetime | None = None


def clip_parameters(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a price, of the settings of a draft: model, options, and the references
    that are addresses. A file is sent with the clip alone: a query cannot hold it."""
    parameters = {name: chosen[name] for name in ("model", *OPTION_FIELDS) if chosen.get(name)}
    addresses = {name: reference_address(chosen.get(name)) for name in REFERENCE_FIELDS}
    return {**parameters, **{name: address for name, address in addresses.items() if address}}


def clip_body(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The body that creates the clip: the priced parameters and the prompt."""
    return {**clip_parameters(chosen), "prompt": str(chosen.get("prompt") or "")}


def reference_address(reference: Any) -> str:
    return str(reference.get(ADDRESS_KEY) or "") if isinstance(reference, dict) else ""


def missing_clip_fields(chosen: UpstreamRecord) -> list[str]:
    """What a price cannot be requested without."""
    return [] if chosen.get("model") else ["model"]


def quote_clip(job: Job) -> None:
    """Request the price of a draft if one is due; an error is stored as a sentence, not raised.

    Several changes cost one request: the first task that claims the row asks for all of them. It
    stays due while the account is of another upstream.
    """
    draft = job.draft
    if draft.quote_due_at is None or not job.account.is_of_current_upstream:
        return
    rows, now = Draft.objects.filter(pk=draft.pk, quote_due_at=draft.quote_due_at), timezone.now()
    if job.state != JobState.DRAFT or missing_clip_fields(draft.settings):
        rows.update(quote_due_at=None)
    elif rows.update(quote_due_at=now + QUOTE_LEASE):
        asked = clip_parameters(draft.settings)
        store_quote(job, asked, request_quote(job, asked), requested_at=now)


def request_quote(job: Job, asked: dict[str, Any]) -> ClipQuote:
    try:
        price = fetch_clip_price(job, asked, Priority.PERSON, PATIENCE_S)
    except RateLimitExhausted as exhausted:
        wait = timedelta(seconds=max(1.0, exhausted.wait))
        return ClipQuote(None, retry_at=timezone.now() + wait)
    except errors.Refused as error:
        fields = error.field_messages if isinstance(error, errors.ValidationFailed) else None
        # The kept models may be of another plan: they are read again.
        Account.objects.filter(pk=job.account_id).update(refreshed_at=None)
        return ClipQuote(None, error.user_message, fields)
    except errors.UpstreamError as error:
        if isinstance(error, calls.PERMANENT_ERRORS):
            return ClipQuote(None, error.user_message)
        return ClipQuote(None, PRICE_NOT_ANSWERED, retry_at=timezone.now() + QUOTE_RETRY)
    return ClipQuote(price, "" if price is not None else UNREADABLE_PRICE)


def fetch_clip_price(
    job: Job, asked: dict[str, Any], lane: Priority, patience: float
) -> Decimal | None:
    """The credits of a clip with these parameters; None if the answer has none that are
    readable."""
    operation = get_operation(CREATE_CLIP_OPERATION).price.estimate_operation
    reply = calls.call_upstream(job.token, operation, lane, patience=patience, query=asked)
    return parse_estimate_credits(reply.data)


@transaction.atomic
def store_quote(
    job: Job, asked: dict[str, Any], quote: ClipQuote, *, requested_at: datetime
) -> None:
    """Store the price, unless a parameter changed meanwhile: that change has requested another. A
    changed prompt does not change the price."""
    draft = Draft.objects.select_for_update().get(pk=job.pk)
    if clip_parameters(draft.settings) != asked:
        return
    draft.estimate, draft.quote_error = quote.price, quote.error
    draft.quote_fields, draft.quote_due_at = quote.fields, quote.retry_at
    draft.estimate_as_of = requested_at
    draft.sent_settings = draft.settings if quote.price is not None else {}
    draft.save()
    publish_event(job.tenant_id, EventType.JOB, job.pk)


def confirm_clip_price(job: Job, lane: Priority, patience: float) -> UpstreamRecord:
    """Request the price once more before the clip is sent, if it is not fresh.

    Raises `ClipPriceChanged`, `errors.UpstreamError` or `RateLimitExhausted`; then nothing is sent.
    """
    draft, now = job.draft, timezone.now()
    as_of, confirmed = draft.estimate_as_of, draft.estimate
    is_fresh = as_of is not None and timedelta(0) <= now - as_of < MAX_CONFIRMED_PRICE_AGE
    if is_fresh or confirmed is None:
        return {}
    asked = clip_parameters(draft.settings)
    price = fetch_clip_price(job, asked, lane, patience)
    if price is not None:
        store_quote(job, asked, ClipQuote(price), requested_at=now)
        if price != confirmed:
            raise ClipPriceChanged(confirmed, price)
    return {}


CLIP = KindSpec(
    JobKind.CLIP,
    "clip",
    "asset",
    frozenset({"success"}),
    prepare=confirm_clip_price,
    quote=quote_clip,
    preconditions=missing_clip_fields,
)
