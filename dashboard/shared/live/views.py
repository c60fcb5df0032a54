"""The view that opens an event stream. If it responds 503, the page polls every ten seconds."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpResponse
from django.urls import Resolver404, ResolverMatch, resolve
from django.views.decorators.http import require_GET

from dashboard.shared.http import TeamRequest
from dashboard.shared.live.stream_app import TICKETS_KEY
from dashboard.shared.live.stream_sessions import StreamSession, StreamTicket


@require_GET
def open_event_stream(request: TeamRequest) -> HttpResponse:
    """Write the ticket of the stream; `StreamApp` opens it after this request.

    `since` and `Last-Event-ID`: from when on changes are wanted, in seconds since 1970. `team`: the
    team of the page; it gets no changes of another team that was chosen since.
    """
    tickets: list[StreamTicket] | None = getattr(request, "scope", {}).get(TICKETS_KEY)
    session = build_stream_session(request)
    if tickets is None or request.GET.get("team", str(session.team_id)) != str(session.team_id):
        headers = {"Retry-After": "10", "Cache-Control": "no-store"}
        return HttpResponse(status=503, headers=headers)
    job_id, since = referring_video_id(request), parse_since(request)
    tickets.append(StreamTicket(session, job_id, since, is_of_instance_page(request)))
    response = HttpResponse(content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"  # compression would delay the events
    return response


def build_stream_session(request: TeamRequest) -> StreamSession:
    team = request.team
    return StreamSession(
        team.tenant_id, team.pk, request.user.pk, request.session.session_key or ""
    )


def referring_video_id(request: TeamRequest) -> UUID | None:
    """Return the video whose page opens the stream."""
    page = find_referring_page(request)
    job = page.kwargs.get("job_id") if page else None
    return job if isinstance(job, UUID) else None


def is_of_instance_page(request: TeamRequest) -> bool:
    """Whether an operator's page of all teams opens the stream."""
    page = find_referring_page(request)
    return request.user.is_superuser and page is not None and page.route.startswith("instance/")


def find_referring_page(request: TeamRequest) -> ResolverMatch | None:
    """Return the page that the Referer header names."""
    try:
        return resolve(urlsplit(request.headers.get("Referer", "")).path)
    except (Resolver404, ValueError):
        return None


def parse_since(request: TeamRequest) -> float:
    text = request.headers.get("Last-Event-ID") or request.GET.get("since", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0
