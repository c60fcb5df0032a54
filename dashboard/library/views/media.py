"""Stream a finished video through the portal: ranges for seeking, one refresh of an expired URL."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_safe
from redis import RedisError

from dashboard.shared.access import fetch_job
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
from proxyapi.models import Job, JobState
from proxyapi.polling.poller import refresh_media_url
from proxyapi.redis_client import connect_redis

MIN_REFRESH_INTERVAL = timedelta(seconds=60)  # between two refreshes of a video's URL
FILM_UNAVAILABLE_TEXT = (
    "The service is not providing the video right now. It is not lost. Try again in a minute."
)


@require_safe
async def media(request: TeamRequest, job_id: UUID) -> HttpResponseBase:
    """Stream the file of a completed video. A still for a card never refreshes an expired URL."""
    job = await sync_to_async(fetch_job)(request, job_id)
    if job.state != JobState.COMPLETED or not job.media_url:
        raise Http404("There is no video file yet.")
    try:
        film = await open_job_film(request, job, renew="still" not in request.GET)
    except MediaError:
        return HttpResponse(
            FILM_UNAVAILABLE_TEXT, status=502, content_type="text/plain; charset=utf-8"
        )
    finally:
        # A video can play for an hour and must not hold a database connection.
        await sync_to_async(release_connections)()
    return film_response(request, job, film)


async def open_job_film(request: TeamRequest, job: Job, *, renew: bool) -> MediaStream:
    headers = {name.lower(): value for name, value in request.headers.items()}
    head = request.method == "HEAD"
    try:
        return await open_media_stream(job.media_url, headers, head=head)
    except MediaGone:
        if not renew or not await sync_to_async(renew_media_url)(job):
            raise
    return await open_media_stream(job.media_url, headers, head=head)


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


def film_response(request: TeamRequest, job: Job, film: MediaStream) -> HttpResponseBase:
    type_ = film.content_type or KINDS[job.kind].media_type
    response = StreamingHttpResponse(film.body, status=film.status, content_type=type_)
    for name, value in film.headers.items():
        response[name] = value
    # The browser caches it, but revalidates it in the reader's own session each time.
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["Content-Encoding"] = (
        "identity"  # ranges count these bytes, so nothing may compress them
    )
    if "download" in request.GET:
        name = f"{slugify(job.title)[:80] or 'video'}.{MEDIA_EXTENSIONS[type_]}"
        response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response
