"""Actions on the parts of a video: a new image, own media, an export; and the render that shows
them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from dashboard.models import Membership
from dashboard.shared.access import check_permission
from dashboard.shared.charging import (
    CONFIRMED,
    PRICE_MISSING,
    ConfirmAnswer,
    require_job_state,
    require_shown_price,
    require_voice_consent,
    submit_charge,
)
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.media_files import MediaFile
from dashboard.shared.videos.parts import EXPORT, NEW_IMAGE, OWN_MEDIA, has_scenes
from proxyapi import pricing
from proxyapi.models import Charge, Job, JobPart, JobState, Upload
from proxyapi.models.job_part import PartSource
from proxyapi.operations import FACELESS_RENDER_OPERATIONS
from proxyapi.refusals import NotReady

RENDER = FACELESS_RENDER_OPERATIONS[0]  # the generic one, for every type
IS_RENDERING = "Not sent: the video is rendering. Available when it is done."
NO_SCENES = "Only AI visuals videos have images that can be changed. Nothing was sent."
NOT_DRAWN = "Only an image that the service made can be replaced by a new one. Nothing was sent."
NOT_COMPLETED = "Only a completed video can be exported. Nothing was sent."
NOT_RENDERED_YET = "This video was not rendered yet. Render it in the studio. Nothing was sent."
PRICE_UNKNOWN = (
    "The service’s price list has no price for this, so nothing was sent. Try again later."
)
OWN_MEDIA_PRICE = Decimal(0)  # the spec names none


def request_new_image(
    *,
    by: Membership,
    job: Job,
    part: JobPart,
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Let the service make another image for one scene. It charges each time."""
    check_permission(by, Permission.RENDER)
    quote, path = partial(quote_new_image, job, part, seen), {"asset": part.remote_id}
    return submit_charge(by, job, NEW_IMAGE, nonce, quote, path=path, answer=answer)


def quote_new_image(job: Job, part: JobPart, seen: Decimal) -> Decimal:
    """Return the price in credits, here and below; raise `Refusal` if nothing can be sent."""
    require_changeable_images(job)
    if part.source not in ("", PartSource.GENERATED):
        raise NotReady(NOT_DRAWN)
    return require_listed_price(job, NEW_IMAGE, seen)


def require_changeable_images(job: Job) -> None:
    if not has_scenes(job):
        raise NotReady(NO_SCENES)
    if job.state == JobState.RUNNING:
        raise NotReady(IS_RENDERING)


def require_listed_price(job: Job, operation: str, seen: Decimal) -> Decimal:
    """Return the price of the service's list if it is the one that was shown."""
    price = pricing.fixed_price(job.account, operation)
    if price is None:
        raise NotReady(PRICE_UNKNOWN)
    require_shown_price(seen, price)
    return price


def add_own_media(
    *, by: Membership, job: Job, nonce: UUID, file: MediaFile | None = None, address: str = ""
) -> Charge:
    """Add a file, or what is at an address, to the video. The spec names no price; what the
    service charges after all is read from the ledger."""
    check_permission(by, Permission.RENDER)
    uploads = (build_upload(file),) if file else ()
    body: dict[str, object] = {} if file else {"url": address}
    quote = partial(quote_own_media, job)
    return submit_charge(by, job, OWN_MEDIA, nonce, quote, body=body, uploads=uploads)


def build_upload(file: MediaFile) -> Upload:
    """The name is ours: the member's may say more than they want to tell the service."""
    return Upload(
        field="file",
        name=f"own-media.{file.extension}",
        content_type=file.content_type,
        content=file.content,
    )


def quote_own_media(job: Job) -> Decimal:
    require_changeable_images(job)
    return OWN_MEDIA_PRICE


def export_video(
    *,
    by: Membership,
    job: Job,
    style: Mapping[str, Any],
    nonce: UUID,
    seen: Decimal,
    answer: ConfirmAnswer = CONFIRMED,
) -> Charge:
    """Have a cut of the finished video made with other captions. It charges each time."""
    check_permission(by, Permission.RENDER)
    quote = partial(quote_export, job, seen)
    return submit_charge(by, job, EXPORT, nonce, quote, body=dict(style), answer=answer)


def quote_export(job: Job, seen: Decimal) -> Decimal:
    require_job_state(job, JobState.COMPLETED, NOT_COMPLETED)
    return require_listed_price(job, EXPORT, seen)


def render_video_again(
    *, by: Membership, job: Job, nonce: UUID, seen: Decimal, answer: ConfirmAnswer = CONFIRMED
) -> Charge:
    """Render a finished video again, with its present images, at about the cost of the last
    render."""
    check_permission(by, Permission.RENDER)
    quote = partial(quote_new_render, job, seen)
    return submit_charge(by, job, RENDER, nonce, quote, answer=answer)


def quote_new_render(job: Job, seen: Decimal) -> Decimal:
    require_job_state(job, JobState.COMPLETED, NOT_RENDERED_YET)
    require_voice_consent(job)
    price = pricing.estimate_retry_price(job)
    if price is None:
        raise NotReady(PRICE_MISSING)
    require_shown_price(seen, price)
    return price
