"""Read the view `source=api`: which of the mirrored rows were spent by tokens of the API.

It is read only while the mirror has rows without attribution, and aligned with them
(`api_view_alignment`). A row that the view does not contain in time is not of the API. If one of
our charges lacks exactly that debit, the view is read for some time longer, because in a quiet
account no newer row would cause a correction.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from proxyapi.backoff import Backoff
from proxyapi.ledger import backfill, mirror_range
from proxyapi.ledger.api_attribution import unattributed_entries
from proxyapi.ledger.api_view_alignment import (
    API_VIEW_UNAVAILABLE,
    OLDER_API_VIEW_MISMATCH,
    align_page,
    entries_newer_than_api_view,
    finish_attribution,
    is_alignment_started,
    lowest_attributed_position,
    remember_api_view_end,
    restart_alignment,
    start_alignment,
    suspend_alignment,
)
from proxyapi.ledger.api_view_pages import (
    fetch_last_second,
    fetch_newer_view_page,
    fetch_older_view_page,
    next_newer_page,
)
from proxyapi.ledger.matching import build_match_candidate
from proxyapi.ledger.matching_rules import MATCH_SEARCH_MARGIN, WIDEST_WINDOW, MatchCandidate
from proxyapi.ledger.page_reader import API_SOURCE, LedgerReader, UpstreamLedgerPage, page_at
from proxyapi.models import Charge, ChargeState, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors

API_VIEW_UNSUPPORTED_ERRORS = (
    errors.BadRequest,
    errors.NotFound,
    errors.MethodNotAllowed,
    errors.ValidationFailed,
)
MAX_API_VIEW_ATTEMPTS = 2
# The delay before a failed alignment is retried. A view that contains only some of several equal
# new rows can be aligned a minute later.
API_VIEW_BACKOFF = Backoff(timedelta(minutes=1), timedelta(hours=1))


def sync_api_view(
    source: LedgerReader, since: datetime | None = None, most: int | None = None
) -> None:
    """Attribute every mirrored row, or those from `since` on; no request if there is none.

    `most` bounds the pages read below the newest one. An upstream without such a view is not
    requested again for a while; the ledger itself is still read.
    """
    try:
        sync_unattributed_rows(source, since, most)
    except API_VIEW_UNSUPPORTED_ERRORS:
        suspend_alignment(source.account, API_VIEW_UNAVAILABLE)


def sync_unattributed_rows(source: LedgerReader, since: datetime | None, most: int | None) -> None:
    account, page_count = source.account, 0
    ledger = mirror_range.get_or_create_ledger(account)
    if ledger.problem or not is_api_view_behind(ledger, since):
        return
    is_backing_off = is_api_view_backing_off(ledger)
    if is_backing_off and not (
        ledger.api_problem == OLDER_API_VIEW_MISMATCH and is_alignment_started(ledger)
    ):
        return
    aligned = (
        sync_newest_api_rows(source, ledger, is_backing_off)
        if needs_newest_api_page(ledger, is_backing_off)
        else ledger
    )
    if aligned is None or is_backing_off:
        return  # only older rows do not fit
    ledger, page = aligned, None
    while ledger.api_low > 0 and needs_older_api_pages(ledger, since) and page_count != most:
        page, before, page_count = (
            fetch_older_view_page(source, ledger, page),
            ledger.api_low,
            page_count + 1,
        )
        ledger, _ = align_page(account, page)
        if ledger.api_low == before:
            if ledger.low == 0:
                suspend_alignment(account, OLDER_API_VIEW_MISMATCH)
            break  # the older rows are not mirrored yet
    if unattributed_entries(ledger).exists():
        finish_attribution(account)


def is_api_view_behind(ledger: LedgerMirror, since: datetime | None = None) -> bool:
    """Whether a row is not attributed, or may still appear in the view."""
    rows = unattributed_entries(ledger)
    unknown = rows.filter(happened_at__gte=since) if since else rows
    return unknown.exists() or may_have_missed_debit(ledger)


def may_have_missed_debit(ledger: LedgerMirror) -> bool:
    """Whether a row missing from the view may be the debit of a charge without one, for ten minutes
    after the charge was settled or its answer was given up."""
    candidates = recent_candidates_without_debit(ledger)
    if not candidates:
        return False
    rows = entries_newer_than_api_view(ledger).filter(via_api=False, charge__isnull=True)
    since = min(candidate.booked_from for candidate in candidates) - MATCH_SEARCH_MARGIN
    near = list(rows.filter(amount__lt=0, happened_at__gte=since))
    return any(may_be_debit_of(row, candidate) for candidate in candidates for row in near)


def recent_candidates_without_debit(ledger: LedgerMirror) -> list[MatchCandidate]:
    charges, now = Charge.objects.filter(account_id=ledger.pk), timezone.now()
    # A call that may take minutes is not finally given up before its full timeout.
    lately = now - MATCH_SEARCH_MARGIN
    lost = charges.filter(state=ChargeState.UNKNOWN, lost_at__gte=lately)
    refused = charges.refused_after_sending().filter(settled_at__range=(lately, now))
    settled = charges.without_debit().filter(settled_at__range=(lately, now))
    return [build_match_candidate(charge) for charge in (*settled, *lost, *refused)]


def may_be_debit_of(row: LedgerEntry, candidate: MatchCandidate) -> bool:
    is_charged = candidate.charge.is_charged
    fits = candidate.cost == -row.amount if is_charged else candidate.charge.can_cost(-row.amount)
    return fits and candidate.accepts_entry(row, WIDEST_WINDOW)


def is_api_view_backing_off(ledger: LedgerMirror) -> bool:
    """Whether the view, which could not be aligned at the last attempt, is not read yet."""
    tried = ledger.api_tried_at
    if not ledger.api_problem or tried is None:
        return False
    delay = API_VIEW_BACKOFF.delay_after(tried - (ledger.api_problem_at or tried))
    return tried > timezone.now() - delay


def needs_newest_api_page(ledger: LedgerMirror, is_backing_off: bool = False) -> bool:
    """Whether the view has to be read at its end, not only below the aligned rows."""
    if (ledger.api_problem and not is_backing_off) or not is_alignment_started(ledger):
        return True
    if ledger.api_read_at and ledger.read_at and ledger.api_read_at >= ledger.read_at:
        return False  # missing rows are requested after the ledger's next read
    return entries_newer_than_api_view(ledger).filter(
        via_api__isnull=True
    ).exists() or may_have_missed_debit(ledger)


def needs_older_api_pages(ledger: LedgerMirror, since: datetime | None) -> bool:
    """Whether the view has to be read below the aligned rows."""
    lowest = lowest_attributed_position(ledger)
    rows = unattributed_entries(ledger).filter(
        position__lt=ledger.high if lowest is None else lowest
    )
    return (rows.filter(happened_at__gte=since) if since else rows).exists()


def sync_newest_api_rows(
    source: LedgerReader, ledger: LedgerMirror, is_backing_off: bool = False
) -> LedgerMirror | None:
    """Align the view's newest rows; return None if that is not possible now."""
    account, failed_attempts = source.account, 0
    if ledger.api_problem and not is_backing_off:
        ledger = restart_alignment(account)
    was_started = is_alignment_started(ledger)
    page = fetch_newest_api_page(source, ledger, was_started)
    if not was_started and not try_start_alignment(source, page):
        return None
    while failed_attempts <= MAX_API_VIEW_ATTEMPTS:
        ledger, end = align_page(account, page)
        if not is_alignment_started(ledger):
            return None  # the view changed; the next sync starts again
        if ledger.api_high == page.total:
            return ledger
        if ledger.api_high == end:
            page = fetch_newer_view_page(source, ledger, next_newer_page(ledger, page))
        else:
            # The next row is newer than the mirror, or matches no entry.
            failed_attempts += 1
            if backfill.catch_up_to_end(source).problem:
                return None  # the ledger itself has a conflict
    suspend_alignment(account)
    return None


def fetch_newest_api_page(
    source: LedgerReader, ledger: LedgerMirror, was_started: bool
) -> UpstreamLedgerPage:
    """The page of the newest aligned row, which the next row follows; without one, the view's last
    page. A page beyond the end is not requested: the upstream may refuse it."""
    if was_started:
        # With one request in each sync, a full page would be read again and again.
        position = ledger.api_high if ledger.api_read_at is None else max(ledger.api_high, 1) - 1
        return fetch_newer_view_page(source, ledger, page_at(position))
    page = source.fetch_page_at(max(ledger.api_high, 1) - 1, API_SOURCE)
    for _ in range(MAX_API_VIEW_ATTEMPTS):
        if page.end == page.total:
            break
        remember_api_view_end(source.account, page)
        page = source.fetch_page_at(page.total - 1, API_SOURCE)
    return fetch_last_second(source, ledger, page)


def try_start_alignment(source: LedgerReader, page: UpstreamLedgerPage) -> bool:
    account = source.account
    if is_alignment_started(start_alignment(account, page)):
        return True
    if not is_ledger_unchanged(source, page):
        return False
    ledger = start_alignment(account, page, still=True)
    if not is_alignment_started(ledger) and page.rows and ledger.low == 0 and not ledger.problem:
        suspend_alignment(account)  # otherwise its newest row may not be mirrored yet
    return is_alignment_started(ledger)


def is_ledger_unchanged(source: LedgerReader, page: UpstreamLedgerPage) -> bool:
    """Whether no row was added between the reading of the mirror's end and of the view's page. Any
    page contains the ledger's length, so the next older one is read."""
    ledger = mirror_range.get_or_create_ledger(source.account)
    probe = source.fetch_page_patiently(page_at(max(ledger.low or ledger.high, 1) - 1))
    ledger = mirror_range.apply_page(source.account, probe)
    return page.end == page.total and probe.total == page.mirrored_total == ledger.high
