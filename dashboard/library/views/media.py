"""Stream a finished video or one of its parts through the portal: ranges for seeking, one refresh
of an expired URL."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_safe
from redis import RedisError

from dashboard.shared.access import fetch_job, fetch_part
from dashboard.shared.connections import release_connections
from dashboard.shared.http import TeamRequest
from proxyapi.kinds import KINDS
from proxyapi.media_proxy import (
    MEDIA_EXTENSIONS,
    MediaError,
    MediaGone,
    MediaStream,
    open_media_stream,
)
from proxyapi.models import Job, JobPart, JobState
from proxyapi.models.job_part import FILM_LISTS
from proxyapi.polling.poller import refresh_media_url
from proxyapi.redis_client import connect_redis

MIN_REFRESH_INTERVAL = timedelta(seconds=60)  # between two refreshes of a video's URL
RENEWAL_CHECKS, RENEWAL_CHECK_INTERVAL_S = 4, 0.4
FILM_UNAVAILABLE_TEXT = (
    "The service is not providing the video right now. It is not lost. Try again in a minute."
)


@require_safe
async def media(request: TeamRequest, job_id: UUID) -> HttpResponseBase:
    """Stream the file of a completed video. A still for a card never refreshes an expired URL, and
    is 204 if the file cannot be shown now, or is not there, as of a video that renders again."""
    job = await sync_to_async(fetch_job)(request, job_id)
    if job.state != JobState.COMPLETED or not job.media_url:
        if "still" in request.GET:
            return HttpResponse(status=204)
        raise Http404("There is no video file yet.")
    default_type, name = KINDS[job.kind].media_type, slugify(job.title)[:80]
    return await stream_media(request, job, job, default_type, name)


@require_safe
async def poster(request: TeamRequest, job_id: UUID) -> HttpResponseBase:
    """Stream the picture of a completed video. 204 without one: the card then shows a frame of the
    video (static/js/posters/card_pictures.js). An expired URL is not refreshed."""
    job = await sync_to_async(fetch_job)(request, job_id)
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        if job.state != JobState.COMPLETED or not job.poster_url:
            return HttpResponse(status=204)
        picture = await open_media_stream(job.poster_url, headers, head=request.method == "HEAD")
    except MediaError:
        return HttpResponse(status=204)
    finally:
        await sync_to_async(release_connections)()
    return media_response(request, picture, "image/jpeg", slugify(job.title)[:80])


@require_safe
async def part_media(request: TeamRequest, job_id: UUID, part_id: UUID) -> HttpResponseBase:
    """Stream the picture of a scene, or the film of an export or of a storyboard's scene."""
    job, part = await sync_to_async(fetch_part)(request, job_id, part_id)
    if not part.media_url:
        raise Http404("There is no file yet.")
    is_film = part.list_name in FILM_LISTS or part.details.get("type") == "video"
    default_type = "video/mp4" if is_film else "image/jpeg"
    name = f"{slugify(job.title)[:60]}-{slugify(part.list_name)}-{part.position}"
    return await stream_media(request, job, part, default_type, name)


async def stream_media(
    request: TeamRequest, job: Job, holder: Job | JobPart, default_type: str, name: str
) -> HttpResponseBase:
    """Stream the file at `holder.media_url`, which is read again once if it has expired."""
    is_still = "still" in request.GET
    try:
        film = await open_media(request, job, holder, renew=not is_still)
    except JobPart.DoesNotExist:
        raise Http404("The service no longer has this part.") from None
    except MediaError:
        if is_still:
            return HttpResponse(
                status=204
            )  # its card asks again (static/js/posters/card_pictures.js)
        return HttpResponse(
            FILM_UNAVAILABLE_TEXT, status=502, content_type="text/plain; charset=utf-8"
        )
    finally:
        # A video can play for an hour and must not hold a database connection.
        await sync_to_async(release_connections)()
    return media_response(request, film, default_type, name)


async def open_media(
    request: TeamRequest, job: Job, holder: Job | JobPart, *, renew: bool
) -> MediaStream:
    headers = {name.lower(): value for name, value in request.headers.items()}
    head = request.method == "HEAD"
    try:
        return await open_media_stream(holder.media_url, headers, head=head)
    except MediaGone:
        if not renew:
            raise
        if not await sync_to_async(renew_media_url)(job) and not await has_new_url(holder):
            raise
    await sync_to_async(holder.refresh_from_db)(fields=["media_url"])
    return await open_media_stream(holder.media_url, headers, head=head)


async def has_new_url(holder: Job | JobPart) -> bool:
    """Whether another request renews the URL within a moment: all pictures of a video expire
    together."""
    expired = holder.media_url
    for _ in range(RENEWAL_CHECKS):
        await sync_to_async(holder.refresh_from_db)(fields=["media_url"])
        if holder.media_url != expired:
            return True
        await asyncio.sleep(RENEWAL_CHECK_INTERVAL_S)
    return False


def renew_media_url(job: Job) -> bool:
    """Refresh the URL, unless that was done or tried within the last minute, whatever the
    result."""
    if job.media_as_of and timedelta(0) <= timezone.now() - job.media_as_of < MIN_REFRESH_INTERVAL:
        return False  # a time in the future, from a clock that was ahead, is ignored
    return claim_media_refresh(job) and refresh_media_url(job)


def claim_media_refresh(job: Job) -> bool:
    """Allow one refresh per minute and video, however often it is played (rule 9); none without
    Redis."""
    try:
        return bool(
            connect_redis().set(f"media:refresh:{job.pk}", 1, nx=True, ex=MIN_REFRESH_INTERVAL)
        )
    except RedisError:
        return False


def media_response(
    request: TeamRequest, film: MediaStream, default_type: str, name: str
) -> HttpResponseBase:
    type_ = film.content_type or default_type
    response = StreamingHttpResponse(film.body, status=film.status, content_type=type_)
    for header, value in film.headers.items():
        response[header] = value
    # The browser caches it, but revalidates it in the reader's own session each time.
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["Content-Encoding"] = (
        "identity"  # ranges count these bytes, so nothing may compress them
    )
    if "download" in request.GET:
        file_name = f"{name or 'video'}.{MEDIA_EXTENSIONS[type_]}"
        response["Content-Disposition"] = (
            content_disposition_header(True, file_name) or "attachment"
        )
    return response
