"""Where a page opens its stream. Refused with 503 it looks by itself, every ten seconds."""

from __future__ import annotations

from urllib.parse import urlsplit
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import Resolver404, resolve
from django.views.decorators.http import require_GET

from dashboard.database import give_back
from dashboard.http import TeamRequest
from dashboard.live import HubAway, Listener, hub, stream
from dashboard.tickets import Ticket

MOST_PAGES = 20  # streams of one person in one process


@require_GET
async def live(request: TeamRequest) -> HttpResponseBase:
    """`since` and `Last-Event-ID`: from when on the page wants to know, in seconds since 1970.
    `team`: whose page it is; it hears nothing of another one that was chosen since."""
    ticket = ticket_of(request)
    if request.GET.get("team", str(ticket.team)) != str(ticket.team):
        return refused()
    # The stream may last for minutes: the connection that the middleware used goes back before.
    await sync_to_async(give_back)()
    if sum(one.ticket.user == ticket.user for one in hub().listeners) >= MOST_PAGES:
        return refused()
    try:
        await hub().ready()
    except HubAway:
        return refused()
    listener = Listener(ticket, video_of(request))
    response = StreamingHttpResponse(
        stream(listener, since_of(request)), content_type="text/event-stream"
    )
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"  # GZipMiddleware would hold every event back
    return response


def ticket_of(request: TeamRequest) -> Ticket:
    team = request.team
    return Ticket(team.vault_id, team.pk, request.user.pk, request.session.session_key or "")


def video_of(request: TeamRequest) -> UUID | None:
    """The video whose page opens the stream, as the browser tells where it comes from."""
    try:
        page = resolve(urlsplit(request.headers.get("Referer", "")).path)
    except (Resolver404, ValueError):
        return None
    job = page.kwargs.get("job_id")
    return job if isinstance(job, UUID) else None


def since_of(request: TeamRequest) -> float:
    text = request.headers.get("Last-Event-ID") or request.GET.get("since", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def refused() -> HttpResponse:
    return HttpResponse(status=503, headers={"Retry-After": "10", "Cache-Control": "no-store"})
