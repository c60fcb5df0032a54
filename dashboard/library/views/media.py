"""A finished film through the portal: ranges for seeking, one re-read of an expired address."""

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

MIN_REFRESH_INTERVAL = timedelta(
    seconds=60
)  # an address that was asked for since then is not asked for again
FILM_UNAVAILABLE_TEXT = (
    "The service is not providing the video right now. It is not lost. Try again in a minute."
)


@require_safe
async def media(request: TeamRequest, job_id: UUID) -> HttpResponseBase:
    """The film of a completed video. A still for a card never has its address renewed."""
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
        # A film can run for an hour: it holds no connection to the database meanwhile.
        await sync_to_async(release_connections)()
    return film_response(request, job, film)


async def open_job_film(request: TeamRequest, job: Job, *, renew: bool) -> MediaStream:
    wishes = {name.lower(): value for name, value in request.headers.items()}
    head = request.method == "HEAD"
    try:
        return await open_media_stream(job.media_url, wishes, head=head)
    except MediaGone:
        if not renew or not await sync_to_async(renew_media_url)(job):
            raise
    return await open_media_stream(job.media_url, wishes, head=head)


def renew_media_url(job: Job) -> bool:
    """Have the address read again, unless that was done just now, or tried, whatever came of it."""
    if job.media_as_of and timedelta(0) <= timezone.now() - job.media_as_of < MIN_REFRESH_INTERVAL:
        return False  # of a clock that was ahead it says nothing
    return claim_media_refresh(job) and refresh_media_url(job)


def claim_media_refresh(job: Job) -> bool:
    """Once a minute for each film, however often it is played (rule 9); never uncounted."""
    try:
        return bool(
            connect_redis().set(f"media:asked:{job.pk}", 1, nx=True, ex=MIN_REFRESH_INTERVAL)
        )
    except RedisError:
        return False


def film_response(request: TeamRequest, job: Job, film: MediaStream) -> HttpResponseBase:
    type_ = film.content_type or KINDS[job.kind].media_type
    response = StreamingHttpResponse(film.body, status=film.status, content_type=type_)
    for name, value in film.headers.items():
        response[name] = value
    # Kept by the browser, asked for again under the reader's own session each time.
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["Content-Encoding"] = (
        "identity"  # ranges are of these bytes: nothing may compress them
    )
    if "download" in request.GET:
        name = f"{slugify(job.title)[:80] or 'video'}.{MEDIA_EXTENSIONS[type_]}"
        response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response
