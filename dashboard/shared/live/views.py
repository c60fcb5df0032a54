"""The view that opens an event stream. If it responds 503, the page polls every ten seconds."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_GET

from dashboard.shared.http import TeamRequest
from dashboard.shared.live.stream_app import TICKETS_KEY
from dashboard.shared.live.stream_sessions import StreamSession, StreamTicket

MAX_VIDEOS_PER_STREAM = 20


@require_GET
def open_event_stream(request: TeamRequest) -> HttpResponse:
    """Write the ticket of the stream; `StreamApp` opens it after this request.

    `since` and `Last-Event-ID`: from when on changes are wanted, in seconds since 1970. `team` and
    `user`: those of the page; it gets no changes of another team that was chosen since, and none
    of somebody else who signed in since. `instance`: it is an operator's page of all teams.
    `videos`: the ids of those whose pages the browser shows, separated by commas.
    """
    tickets: list[StreamTicket] | None = getattr(request, "scope", {}).get(TICKETS_KEY)
    session = build_stream_session(request)
    if tickets is None or not is_of_session(request.GET, session):
        headers = {"Retry-After": "10", "Cache-Control": "no-store"}
        return HttpResponse(status=503, headers=headers)
    watches_instance = request.user.is_superuser and "instance" in request.GET
    videos = parse_videos(request.GET.get("videos", ""))
    tickets.append(StreamTicket(session, videos, parse_since(request), watches_instance))
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


def is_of_session(page: QueryDict, session: StreamSession) -> bool:
    """Whether the pages that ask are those of this person and team."""
    expected = {"team": str(session.team_id), "user": str(session.user_id)}
    return all(page.get(name, value) == value for name, value in expected.items())


def parse_videos(text: str) -> frozenset[UUID]:
    """Return the ids in it, at most `MAX_VIDEOS_PER_STREAM`. Those of other teams have no effect:
    viewers are recorded under the tenant of the session."""
    videos: set[UUID] = set()
    for id in text.split(",")[:MAX_VIDEOS_PER_STREAM]:
        with suppress(ValueError):
            videos.add(UUID(id))
    return frozenset(videos)


def parse_since(request: TeamRequest) -> float:
    text = request.headers.get("Last-Event-ID") or request.GET.get("since", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0
