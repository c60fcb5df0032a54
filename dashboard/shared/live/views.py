"""Where a page opens its stream. Refused with 503 it looks by itself, every ten seconds."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import Resolver404, resolve
from django.views.decorators.http import require_GET

from dashboard.shared.connections import release_connections
from dashboard.shared.http import TeamRequest
from dashboard.shared.live.event_stream import (
    HubUnavailable,
    StreamListener,
    get_hub,
    stream_messages,
)
from dashboard.shared.live.stream_sessions import StreamSession

MAX_STREAMS_PER_USER = 20  # streams of one person in one process


@require_GET
async def open_event_stream(request: TeamRequest) -> HttpResponseBase:
    """`since` and `Last-Event-ID`: from when on the page wants to know, in seconds since 1970.
    `team`: whose page it is; it hears nothing of another one that was chosen since."""
    ticket = build_stream_session(request)
    if request.GET.get("team", str(ticket.team_id)) != str(ticket.team_id):
        return stream_unavailable()
    # The stream may last for minutes: the connection that the middleware used goes back before.
    await sync_to_async(release_connections)()
    if (
        sum(one.session.user_id == ticket.user_id for one in get_hub().listeners)
        >= MAX_STREAMS_PER_USER
    ):
        return stream_unavailable()
    try:
        await get_hub().wait_until_ready()
    except HubUnavailable:
        return stream_unavailable()
    listener = StreamListener(ticket, referring_video_id(request))
    response = StreamingHttpResponse(
        stream_messages(listener, parse_since(request)), content_type="text/event-stream"
    )
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"  # GZipMiddleware would hold every event back
    return response


def build_stream_session(request: TeamRequest) -> StreamSession:
    team = request.team
    return StreamSession(
        team.tenant_id, team.pk, request.user.pk, request.session.session_key or ""
    )


def referring_video_id(request: TeamRequest) -> UUID | None:
    """The video whose page opens the stream, as the browser tells where it comes from."""
    try:
        page = resolve(urlsplit(request.headers.get("Referer", "")).path)
    except (Resolver404, ValueError):
        return None
    job = page.kwargs.get("job_id")
    return job if isinstance(job, UUID) else None


def parse_since(request: TeamRequest) -> float:
    text = request.headers.get("Last-Event-ID") or request.GET.get("since", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def stream_unavailable() -> HttpResponse:
    return HttpResponse(status=503, headers={"Retry-After": "10", "Cache-Control": "no-store"})
