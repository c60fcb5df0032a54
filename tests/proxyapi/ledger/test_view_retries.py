"""A view that was refused or did not fit is tried again: aligned pages stay aligned."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proxyapi import ledger
from proxyapi.ledger import api_view_alignment
from proxyapi.ledger.page_reader import API_SOURCE, UpstreamLedgerPage
from proxyapi.ledger.row_parser import parse_row
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.rollups import daily_totals
from tests.proxyapi.ledger.conftest import HISTORY, ScriptedLedger, ledger_row
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response

pytestmark = pytest.mark.postgresql

STRANGE = 20  # position of the view's row that the ledger does not have


def told() -> list[bool | None]:
    return list(LedgerEntry.objects.order_by("position").values_list("via_api", flat=True))


def of_the_view(book: ScriptedLedger) -> list[int]:
    return [page for page, source in book.pages if source == API_SOURCE]


def read_after_an_hour(account: Account, book: ScriptedLedger) -> None:
    LedgerMirror.objects.update(api_tried_at=timezone.now() - timedelta(hours=2))
    book.pages.clear()
    ledger.mirror_entries(account)


@pytest.fixture
def long_view(account: Account, scripted_ledger: ScriptedLedger) -> None:
    """A view of four pages, aligned as far as its pages were read."""
    scripted_ledger.add_row(*[ledger_row(-1 - number, number) for number in range(160)])


@pytest.fixture
def attributed_rows(
    account: Account, scripted_ledger: ScriptedLedger, long_view: None
) -> list[bool | None]:
    """A view whose older rows do not fit: what is attributed by it."""
    scripted_ledger.view = list(scripted_ledger.rows)
    scripted_ledger.view[STRANGE] = ledger_row(-999, STRANGE)
    ledger.mirror_entries(account)
    return [None] * (STRANGE + 1) + [True] * (159 - STRANGE)


@pytest.mark.parametrize("status", [404, 422])
def test_a_view_that_is_refused_once_is_gone_on_with(
    account: Account,
    scripted_ledger: ScriptedLedger,
    upstream: ScriptedUpstream,
    long_view: None,
    status: int,
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("source"):
            return error_response(status, "NOT_FOUND" if status == 404 else "INVALID")
        return scripted_ledger.history_response(request)

    ledger.mirror_entries(account)
    scripted_ledger.add_row(ledger_row(-300, 900))
    upstream.respond(*HISTORY, refuse)
    ledger.mirror_entries(account)
    assert LedgerMirror.objects.get().api_problem == api_view_alignment.API_VIEW_UNAVAILABLE
    upstream.respond(*HISTORY, scripted_ledger.history_response)
    read_after_an_hour(account, scripted_ledger)
    assert (told(), of_the_view(scripted_ledger)) == ([True] * 161, [4])
    assert (LedgerMirror.objects.get().api_problem, daily_totals.accounts_with_stale_zone()) == (
        "",
        [],
    )


def test_a_view_whose_older_rows_do_not_fit_keeps_the_newer_aligned_ones(
    account: Account, scripted_ledger: ScriptedLedger, attributed_rows: list[bool | None]
) -> None:
    assert (told(), LedgerMirror.objects.get().api_problem) == (
        attributed_rows,
        api_view_alignment.OLDER_API_VIEW_MISMATCH,
    )
    read_after_an_hour(account, scripted_ledger)
    assert (told(), LedgerMirror.objects.get().api_problem) == (
        attributed_rows,
        api_view_alignment.OLDER_API_VIEW_MISMATCH,
    )
    assert (len(of_the_view(scripted_ledger)), daily_totals.accounts_with_stale_zone()) == (2, [])
    scripted_ledger.view = None
    read_after_an_hour(account, scripted_ledger)
    assert (told(), LedgerMirror.objects.get().api_problem) == ([True] * 160, "")
    assert (len(of_the_view(scripted_ledger)), daily_totals.accounts_with_stale_zone()) == (2, [])


def test_while_older_rows_do_not_fit_new_rows_are_still_attributed(
    account: Account, scripted_ledger: ScriptedLedger, attributed_rows: list[bool | None]
) -> None:
    for number in range(3):
        newest = ledger_row(-5, 900 + number)
        scripted_ledger.add_row(newest, web=number == 1)
        if scripted_ledger.view is not None and number != 1:
            scripted_ledger.view.append(newest)
        scripted_ledger.pages.clear()
        ledger.mirror_entries(account)
        assert len(of_the_view(scripted_ledger)) == 1, "of what lies beneath nothing is asked"
    assert (told(), LedgerMirror.objects.get().api_problem) == (
        [*attributed_rows, True, False, True],
        api_view_alignment.OLDER_API_VIEW_MISMATCH,
    )


def test_a_view_that_is_repaired_within_the_hour_is_complete_again(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(*[ledger_row(-1 - number, number) for number in range(5)])
    scripted_ledger.view = [ledger_row(-999, 0), *scripted_ledger.rows[1:]]
    ledger.mirror_entries(account)
    assert LedgerMirror.objects.get().api_problem == api_view_alignment.OLDER_API_VIEW_MISMATCH
    scripted_ledger.view = None
    scripted_ledger.add_row(ledger_row(-5, 900))
    ledger.mirror_entries(account)
    assert (told(), LedgerMirror.objects.get().api_problem) == ([True] * 6, "")


def test_only_older_rows_are_never_attributed(attributed_rows: list[bool | None]) -> None:
    """A newer row without attribution may belong to anyone, and is waited for."""
    LedgerEntry.objects.filter(position=159).update(via_api=None)
    unknown = LedgerEntry.objects.filter(
        api_view_alignment.unattributable_filter(LedgerMirror.objects.get())
    )
    assert [one.position for one in unknown.order_by("position")] == list(range(STRANGE + 1))
    LedgerMirror.objects.update(api_problem=api_view_alignment.API_VIEW_MISMATCH)
    assert (
        LedgerEntry.objects.filter(
            api_view_alignment.unattributable_filter(LedgerMirror.objects.get())
        ).count()
        == STRANGE + 2
    )
    LedgerMirror.objects.update(api_problem="")
    assert not LedgerEntry.objects.filter(
        api_view_alignment.unattributable_filter(LedgerMirror.objects.get())
    ).exists()


@pytest.mark.parametrize(
    ("step", "is_past"),
    [(-1, api_view_alignment.is_far_before), (1, api_view_alignment.is_far_after)],
)
def test_a_row_that_fits_nowhere_is_not_searched_in_years_of_others(
    step: int, is_past: api_view_alignment.IsBeyondRow
) -> None:
    strange = parse_row(ledger_row(-999, 0))
    start = strange.happened_at
    assert start is not None
    free = iter(
        [LedgerEntry(happened_at=start + timedelta(days=step * day)) for day in range(-3, 900)]
    )
    assert api_view_alignment.pair_rows_with_entries([strange], free, is_past) == ([], [])
    assert len(list(free)) > 890


def test_a_view_whose_newest_rows_did_not_fit_is_aligned_again_from_its_end(
    account: Account, scripted_ledger: ScriptedLedger, long_view: None
) -> None:
    ledger.mirror_entries(account)
    scripted_ledger.add_row(ledger_row(-300, 900))
    scripted_ledger.view = [*scripted_ledger.rows[:160], ledger_row(-999, 900)]
    ledger.mirror_entries(account)
    assert LedgerMirror.objects.get().api_problem == api_view_alignment.API_VIEW_MISMATCH
    scripted_ledger.view = None
    read_after_an_hour(account, scripted_ledger)
    assert (told(), LedgerMirror.objects.get().api_problem) == ([True] * 161, "")
    assert of_the_view(scripted_ledger) == [1, 4, 3, 2, 1]  # the first page tells where its end is
    assert daily_totals.accounts_with_stale_zone() == [account.pk]


@pytest.mark.parametrize("count", [50, 100])
def test_no_page_beyond_its_end_is_asked_for(
    account: Account, scripted_ledger: ScriptedLedger, count: int
) -> None:
    """A service may refuse it, as if it had no view at all."""
    scripted_ledger.add_row(*[ledger_row(-1, number) for number in range(count)])
    ledger.mirror_entries(account)
    scripted_ledger.add_row(ledger_row(-3, 900), web=True)
    scripted_ledger.pages.clear()
    ledger.mirror_entries(account)
    assert (told()[-1], of_the_view(scripted_ledger)) == (False, [count // 50])


def the_end(total: int) -> UpstreamLedgerPage:
    return UpstreamLedgerPage(0, (), total, timezone.now(), known_total=0, mirrored_total=0)


def test_its_end_is_remembered_for_the_request_that_asks_for_it(account: Account) -> None:
    with CaptureQueriesContext(connection) as asked:
        api_view_alignment.remember_api_view_end(account, the_end(120))
    kept = LedgerMirror.objects.get()
    assert (kept.api_low, kept.api_high) == (120, 120)
    locked = next(one["sql"] for one in asked if one["sql"].startswith("SELECT"))
    assert 'FROM "proxyapi_account"' in locked
    assert connection.vendor == "sqlite" or "FOR NO KEY UPDATE" in locked


def test_its_end_is_not_stored_over_what_another_aligned_meanwhile(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1), ledger_row(-2, 2))
    ledger.mirror_entries(account)
    api_view_alignment.remember_api_view_end(account, the_end(120))
    kept = LedgerMirror.objects.get()
    assert (kept.api_low, kept.api_high) == (0, 2)
