"""A list with filters in its URL, one page at a time: what its template reads, what htmx gets of
it, and the file of all its rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import attrgetter
from typing import Any, NamedTuple

from asgiref.sync import sync_to_async
from django.db.models import Model, Q, QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import push_url

from dashboard.models import AuditAction
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.connections import (
    release_connections,
    release_request_thread,
    run_in_thread,
)
from dashboard.shared.file_export import empty_stream, stream_file
from dashboard.shared.filter_chips import (
    FilterChip,
    build_chips,
    build_filter_chip,
    build_hidden_params,
)
from dashboard.shared.http import TeamRequest
from dashboard.shared.query_params import Cursor, PageFilters

MAX_COUNT = 10_000  # a larger number of matching rows is not counted
MAX_CHIPS = 2  # on a phone; more are a sheet
WHOSE_LABELS = {"": "Everyone", "mine": "Mine"}


class ListTab(NamedTuple):
    """A state with the number of its rows, as templates/components/list_tabs.html shows it."""

    label: str
    glyph: str
    total: int
    url: str
    is_current: bool


@dataclass(slots=True)
class ListPage:
    """One page of a list. `total` counts the rows of all pages, up to `MAX_COUNT` and one more; the
    URLs are empty at the ends."""

    filters: PageFilters
    rows: list[Any]
    total: int
    next_url: str
    first_url: str
    chips: Sequence[FilterChip] = ()
    has_filters: bool = True  # on the page; a short list has none

    @property
    def url(self) -> str:
        """Return the URL of this page, from which it refreshes."""
        cursor = self.filters.CURSOR
        return self.filters.url(**{cursor: getattr(self.filters, cursor)})

    @property
    def page_url(self) -> str:
        return reverse(self.filters.PAGE)

    @property
    def count_text(self) -> str:
        return f"more than {MAX_COUNT:,}" if self.total > MAX_COUNT else f"{self.total:,}"

    @property
    def sort(self) -> FilterChip | None:
        order = self.filters.params().get("sort")
        return build_filter_chip("sort", "", order.options or {}, self.filters) if order else None

    @property
    def owners(self) -> list[tuple[str, str, bool]]:
        """Return label, URL and whether it is shown, of a list with the filter `whose`."""
        return [
            (label, self.filters.url(whose=value), value == self.filters.named["whose"])
            for value, label in WHOSE_LABELS.items()
            if "whose" in self.filters.params()
        ]

    @property
    def selects(self) -> list[FilterChip]:
        return [*self.chips, *filter(None, [self.sort])]

    @property
    def has_sheet(self) -> bool:
        return len(self.selects) > MAX_CHIPS

    @property
    def is_chosen(self) -> bool:
        return any(chip.clear_url for chip in self.chips)

    @property
    def hidden_params(self) -> tuple[tuple[str, str], ...]:
        """Return what the form sends beside its fields."""
        return build_hidden_params(self.filters, "q", *(chip.name for chip in self.selects))

    @property
    def sheet_params(self) -> tuple[tuple[str, str], ...]:
        """Return what the sheet sends beside its fields, which are the chips."""
        return build_hidden_params(self.filters, *(chip.name for chip in self.selects))


def load_list(
    filters: PageFilters,
    rows: QuerySet[Any],
    size: int,
    *,
    load: Callable[[QuerySet[Any]], list[Any]] = list,
    total: int | None = None,
    **loaded: Mapping[str, str] | None,
) -> ListPage:
    """Return a page of ordered rows by key; one query, and a second if there are more pages and
    their `total` is not given. `load` fetches a page; `loaded`: options of chips."""
    cursor: Cursor | None = getattr(filters, filters.CURSOR)
    page = load(rows_after(rows, cursor)[: size + 1])
    shown, has_more = page[:size], len(page) > size
    end: dict[str, Any] = {filters.CURSOR: cursor_at(rows, shown[-1])} if has_more else {}
    if total is None:
        is_whole = not (cursor or has_more)
        total = len(shown) if is_whole else rows.order_by().values("pk")[: MAX_COUNT + 1].count()
    return ListPage(
        filters=filters,
        rows=shown,
        total=total,
        next_url=filters.url(**end) if has_more else "",
        first_url=filters.url() if cursor else "",
        chips=tuple(build_chips(filters, **loaded)),
    )


def slice_list(
    filters: PageFilters,
    rows: Sequence[Any] | QuerySet[Any],
    size: int,
    *,
    total: int | None = None,
    **loaded: Mapping[str, str] | None,
) -> ListPage:
    """Return a page of rows by the filter `offset`; `total`: their number, if they are not all
    here."""
    total = len(rows) if total is None else total
    start: int = getattr(filters, filters.CURSOR) or 0
    end: dict[str, Any] = {filters.CURSOR: start + size}
    return ListPage(
        filters=filters,
        rows=list(rows[start : start + size]),
        total=total,
        next_url=filters.url(**end) if total > start + size else "",
        first_url=filters.url() if start else "",
        chips=tuple(build_chips(filters, **loaded)),
    )


def rows_after(rows: QuerySet[Any], cursor: Cursor | None) -> QuerySet[Any]:
    """Return the rows after the cursor, in the order of `rows`, whose last key is unique."""
    if cursor is None:
        return rows
    keys = [(str(key).lstrip("-"), "lt" if str(key)[0] == "-" else "gt") for key in ordering(rows)]
    (first, comparison), *_ = keys
    after = reduce(
        lambda rest, key: Q(**{f"{key[0]}__{key[1]}": key[2]}) | (Q(**{key[0]: key[2]}) & rest),
        [(*key, value) for key, value in zip(keys, cursor, strict=True)][::-1],
        Q(pk__in=()),
    )
    # The first condition alone can use an index.
    return rows.filter(Q(**{f"{first}__{comparison}e": cursor[0]}) & after)


def cursor_at(rows: QuerySet[Any], row: Model) -> Cursor:
    """Return the cursor behind a row, which may be a model or a row of values."""
    names = [str(key).lstrip("-").replace("__", ".") for key in ordering(rows)]
    return Cursor(attrgetter(name)(row) for name in names)


def ordering(rows: QuerySet[Any]) -> Sequence[Any]:
    return rows.query.order_by


def render_list(
    request: TeamRequest, page: str, part: str, context: Mapping[str, Any], *also: str
) -> HttpResponse:
    """Render the page; for htmx the template `part` of its list, with the chips and the templates
    `also`, which depend on the filters too. `context["list"]` is the `ListPage`."""
    if not request.htmx or request.htmx.history_restore_request:
        return render(request, page, context)
    context = {**context, "part": part, "also": also}
    response = render(request, "components/list_updated.html", context)
    filters: PageFilters = context["list"].filters
    # Only a filter that a person chose changes the page's URL, not an automatic reload of the list.
    is_chosen = request.htmx.trigger == f"{filters.ID}-filters"
    return push_url(response, filters.url()) if is_chosen else response


Chunk = Callable[[Any, Any], tuple[str, Any]]


async def export_list(
    request: TeamRequest,
    filename: str,
    build: Callable[[], Any],
    header: Callable[[Any], str],
    chunk: Chunk,
    *,
    action: AuditAction | None = None,
    content_type: str = "text/csv",
) -> HttpResponseBase:
    """Stream a file: the header of what `build` returns, then its chunks. A chunk is a text and the
    cursor at its end, None if there is no more. `action` is recorded with the file's name."""
    is_head = request.method == "HEAD"
    if action and not is_head:
        await sync_to_async(record_audit_event)(request.membership, action, filename)
    # The export may take minutes: release the middleware's database connection first.
    await sync_to_async(release_connections)()
    lines = empty_stream() if is_head else stream_chunks(build, header, chunk)
    return stream_file(lines, filename, content_type)


async def stream_chunks(
    build: Callable[[], Any], header: Callable[[Any], str], chunk: Chunk
) -> AsyncIterator[str]:
    release_request_thread()
    source = await run_in_thread(build)
    yield header(source)
    cursor: Any = None
    while True:
        text, cursor = await run_in_thread(chunk, source, cursor)
        yield text
        if cursor is None:
            return
