"""The ledger as a file: streamed, and between two stretches it holds no database connection."""

from __future__ import annotations

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from dashboard.access import check
from dashboard.database import give_back, let_thread_go
from dashboard.http import TeamRequest
from dashboard.live import in_thread
from dashboard.models import Team
from dashboard.queries.ledger.export import head, next_lines, source_of
from dashboard.queries.ledger.filters import Filters, Place, filters_of
from dashboard.roles import Permission


@require_safe
async def export(request: TeamRequest) -> HttpResponseBase:
    check(request.membership, Permission.SEE)
    filters = filters_of(request.GET.dict())
    # It may last for minutes: the connection that the middleware used goes back before.
    await sync_to_async(give_back)()
    lines = nothing() if request.method == "HEAD" else written(request.team, filters)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name_of(filters)}"'
    response["X-Accel-Buffering"] = "no"
    # GZipMiddleware makes each part of a stream a gzip of its own, and browsers read the first one.
    response["Content-Encoding"] = "identity"
    return response


async def written(team: Team, filters: Filters) -> AsyncIterator[str]:
    let_thread_go()
    source = await in_thread(source_of, team, filters)
    yield head()
    place: Place | None = None
    while True:
        text, place = await in_thread(next_lines, source, place)
        yield text
        if place is None:
            return


async def nothing() -> AsyncIterator[str]:
    """The body of an answer to HEAD."""
    for _ in ():
        yield ""


def name_of(filters: Filters) -> str:
    first, between, last = filters.period.partition("..")
    days = (
        f"{first}-to-{last}" if first and last else f"since-{first}" if first else f"until-{last}"
    )
    period = days if between else first or "30-days"
    return f"ledger-{period}{'-filtered' if filters.narrow else ''}.csv"
