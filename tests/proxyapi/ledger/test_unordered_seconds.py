"""A ledger ordered by time alone: rows of one second have another order on every page."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings, strategies

from proxyapi import ledger
from proxyapi.models import Account, LedgerConflict, LedgerEntry, LedgerMirror
from tests.examples import WITHOUT_SHRINKING, examples
from tests.proxyapi.ledger.conftest import (
    ScriptedLedger,
    ledger_row,
    mirrored_amounts,
    set_page_size,
)
from tests.proxyapi.ledger.test_mirror_properties import start_anew

# A second is so many rows of the API and of the web.
SECONDS = strategies.tuples(strategies.integers(0, 3), strategies.integers(0, 2))
PAGE_SIZE = 16
MAX_ROWS_OF_SECOND = 5  # of fewer rows than half a page, some page shows all, wherever they stand
REPEATED = settings(
    max_examples=examples(10, 200),
    phases=WITHOUT_SHRINKING,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@REPEATED
@given(
    seed=strategies.integers(0, 999),
    readings=strategies.lists(
        strategies.lists(SECONDS, min_size=1, max_size=18), min_size=2, max_size=6
    ),
    is_same_second=strategies.booleans(),
)
def test_rows_of_one_second_are_mirrored_once_each_in_whatever_order_they_are_shown(
    account: Account,
    scripted_ledger: ScriptedLedger,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    readings: list[list[tuple[int, int]]],
    is_same_second: bool,
) -> None:
    """And attributed, with a second that grows between two readings, and with equal rows."""
    set_page_size(monkeypatch, PAGE_SIZE)
    start_anew(scripted_ledger, [])
    scripted_ledger.chance = random.Random(seed)  # noqa: S311
    minute = 0
    for seconds in readings:
        for number, (own, web) in enumerate(seconds):
            minute += bool(number) or not is_same_second
            add_second(scripted_ledger, minute, own, web)
        assert ledger.mirror_entries(account)
        assert not LedgerMirror.objects.exclude(problem="", api_problem="").exists()
        assert mirrored_rows() == service_rows(scripted_ledger)
    assert not LedgerConflict.objects.exists()


def add_pair_at_page_edge(book: ScriptedLedger) -> None:
    """A debit and its refund of one second, at the end of a page of ten and on the next one."""
    book.add_row(*[ledger_row("-4", minute) for minute in range(9)])
    book.add_row(ledger_row("-7", 9), ledger_row("7", 9))


@pytest.mark.usefixtures("small_pages")
def test_known_rows_that_change_places_across_two_pages_are_no_conflict(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    add_pair_at_page_edge(scripted_ledger)
    assert ledger.mirror_entries(account)
    scripted_ledger.rows[9:11] = scripted_ledger.rows[9:11][::-1]
    assert ledger.mirror_entries(account)
    LedgerMirror.objects.update(rechecked_at=timezone.now() - timedelta(days=1))
    assert ledger.mirror_entries(account)
    assert scripted_ledger.all_pages()[-2:] == [2, 1], "both sides of the edge were compared"
    assert mirrored_amounts(account)[9:] == ["-7", "7"]


@pytest.mark.usefixtures("small_pages")
def test_a_new_row_that_takes_the_place_of_a_known_one_on_the_page_before_is_mirrored(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    add_pair_at_page_edge(scripted_ledger)
    refund = scripted_ledger.rows.pop()
    assert ledger.mirror_entries(account)
    scripted_ledger.rows.insert(9, refund)
    assert ledger.mirror_entries(account)
    assert mirrored_amounts(account)[9:] == ["-7", "7"]


@pytest.mark.usefixtures("small_pages")
def test_a_row_that_changed_at_the_edge_of_two_pages_is_a_conflict(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """Both of its second are mirrored, and the page shows neither of them."""
    add_pair_at_page_edge(scripted_ledger)
    assert ledger.mirror_entries(account)
    scripted_ledger.rows[10] = ledger_row("8", 9)
    ledger.mirror_entries(account)
    assert LedgerConflict.objects.get().position == 10


def add_second(book: ScriptedLedger, minute: int, own: int, web: int) -> None:
    """Rows of the API are a debit, its equal and a refund; no two of the web are equal."""
    booked_at = ledger_row(minute=minute)["created_at"]
    left = MAX_ROWS_OF_SECOND - sum(row["created_at"] == booked_at for row in book.rows)
    for number in range(min(own, left)):
        label = "refund" if number == 2 else "debit"
        book.add_row(ledger_row("4" if number == 2 else "-4", minute, label=label))
    for number in range(min(web, left - own)):
        book.add_row(ledger_row("-4", minute, label=f"web {number} {len(book.rows)}"), web=True)


def mirrored_rows() -> Counter[tuple[str, str, bool | None]]:
    return Counter(LedgerEntry.objects.values_list("label", "booked_at", "via_api"))


def service_rows(book: ScriptedLedger) -> Counter[tuple[str, str, bool | None]]:
    return Counter(
        (row["label"], row["created_at"], at not in book.web) for at, row in enumerate(book.rows)
    )


def api_pages(book: ScriptedLedger) -> list[int]:
    return [page for page, source in book.pages if source]


@pytest.mark.usefixtures("small_pages")
def test_aligned_rows_that_change_places_at_the_edge_of_a_view_page_are_not_aligned_again(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    add_pair_at_page_edge(scripted_ledger)
    assert ledger.mirror_entries(account)
    scripted_ledger.view = scripted_ledger.rows[:9] + scripted_ledger.rows[9:11][::-1]
    for minute in (10, 11):
        row = ledger_row("-1", minute)
        scripted_ledger.add_row(row)
        scripted_ledger.view.append(row)
        scripted_ledger.pages.clear()
        assert ledger.mirror_entries(account)
        assert api_pages(scripted_ledger) == [2]
    assert not LedgerEntry.objects.exclude(via_api=True).exists()


@pytest.mark.usefixtures("small_pages")
def test_a_row_that_is_not_mirrored_yet_is_not_taken_for_an_equal_one_of_its_second(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """The mirror begins, with page 3, amid the second; the view's last page shows all of it."""
    scripted_ledger.add_row(*[ledger_row("-3", minute) for minute in range(8)], web=True)
    scripted_ledger.add_row(*[ledger_row("-1", minute) for minute in range(8, 19)])
    pair = [ledger_row("-4", 19), ledger_row("4", 19)]
    scripted_ledger.add_row(pair[0], *pair)
    scripted_ledger.add_row(*[ledger_row("-1", minute) for minute in range(22, 28)])
    assert ledger.mirror_entries(account)
    assert ledger.mirror_entries(account)
    assert mirrored_rows() == service_rows(scripted_ledger)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("mirrored_before", [0, 9])
def test_a_second_that_the_edge_of_a_view_page_cuts_is_aligned_whole(
    account: Account, scripted_ledger: ScriptedLedger, mirrored_before: int
) -> None:
    """Its rows stand in another order in the view. They are aligned downwards, with all others, and
    upwards, after those before them."""
    add_pair_at_page_edge(scripted_ledger)
    scripted_ledger.add_row(*[ledger_row("-1", minute) for minute in (10, 11, 12)])
    shown = scripted_ledger.rows[:]
    if mirrored_before:
        del scripted_ledger.rows[mirrored_before:]
        assert ledger.mirror_entries(account)
    scripted_ledger.rows[:] = shown
    scripted_ledger.view = [*shown[:9], shown[10], shown[9], *shown[11:]]
    assert ledger.mirror_entries(account)
    assert not LedgerMirror.objects.exclude(api_problem="").exists()
    assert not LedgerEntry.objects.exclude(via_api=True).exists()


@pytest.mark.usefixtures("small_pages")
def test_a_new_row_that_takes_the_place_of_an_aligned_one_on_the_page_before_is_aligned(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    add_pair_at_page_edge(scripted_ledger)
    debit, refund = scripted_ledger.rows[9:]
    scripted_ledger.rows.pop()
    assert ledger.mirror_entries(account)
    scripted_ledger.add_row(refund)
    scripted_ledger.view = [*scripted_ledger.rows[:9], refund, debit]
    assert ledger.mirror_entries(account)
    assert not LedgerMirror.objects.exclude(api_problem="").exists()
    assert not LedgerEntry.objects.exclude(via_api=True).exists()
