"""pitfall_65: which mirrored rows the view source=api shows, though neither view has ids."""

from __future__ import annotations

from datetime import timedelta
from itertools import cycle

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings, strategies

from proxyapi import ledger
from proxyapi.ledger import api_view_alignment
from proxyapi.models import Account, DailyBreakdown, LedgerEntry, LedgerMirror
from proxyapi.rollups import daily_totals
from proxyapi.upstream import errors
from tests.examples import examples
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row

REPEATED = settings(
    max_examples=examples(5, 40),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
RETRY_MINUTES = [0, 1, 2, 4, 8, 16, 32, 64, 124, 184]
VISITED_MINUTES = sorted({*RETRY_MINUTES, *(at - 1 for at in RETRY_MINUTES[1:]), 90, 199})


def of_web(account: Account) -> list[int]:
    rows = LedgerEntry.objects.filter(account=account, via_api=False).order_by("position")
    return list(rows.values_list("position", flat=True))


def words_of_web(account: Account) -> list[tuple[str, str]]:
    rows = LedgerEntry.objects.filter(account=account, via_api=False).order_by("position")
    return list(rows.values_list("credit_spend", "booked_at"))


@pytest.mark.usefixtures("small_pages")
def test_rows_of_both_kinds_are_distinguished(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    for number in range(26):
        scripted_ledger.add_row(ledger_row(-number - 1, number), web=number % 3 == 0)
    assert ledger.mirror_entries(account)
    assert of_web(account) == [number for number in range(26) if number % 3 == 0]
    assert not LedgerEntry.objects.filter(via_api=None).exists()


@pytest.mark.usefixtures("small_pages")
def test_a_view_that_shows_nothing(account: Account, scripted_ledger: ScriptedLedger) -> None:
    scripted_ledger.add_row(*[ledger_row(-1, number) for number in range(12)], web=True)
    assert ledger.mirror_entries(account)
    assert of_web(account) == list(range(12))


def test_it_is_asked_only_when_rows_came(account: Account, scripted_ledger: ScriptedLedger) -> None:
    scripted_ledger.add_row(ledger_row(-1), ledger_row(-2))
    ledger.mirror_entries(account)
    scripted_ledger.pages.clear()
    ledger.mirror_entries(account)
    assert scripted_ledger.pages == [(1, "")]
    scripted_ledger.add_row(ledger_row(-3))
    ledger.mirror_entries(account)
    assert scripted_ledger.pages == [(1, ""), (1, ""), (1, "api")]


def test_a_row_that_came_between_both_readings_is_waited_for(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1), ledger_row(-2, 2))
    ledger.mirror_entries(account)
    scripted_ledger.add_row(ledger_row(-3, 3))
    scripted_ledger.pages.clear()
    late = iter([(), (ledger_row(-4, 4),), (), (ledger_row(-5, 5),)])
    scripted_ledger.before_page = lambda: scripted_ledger.add_row(*next(late, ()))
    ledger.mirror_entries(account)
    ledger.mirror_entries(account)
    assert of_web(account) == []
    assert not LedgerEntry.objects.filter(via_api=None).exists()


def test_sums_of_days_know_of_it(account: Account, scripted_ledger: ScriptedLedger) -> None:
    scripted_ledger.add_row(ledger_row(-1))
    scripted_ledger.add_row(ledger_row(-2), web=True)
    ledger.mirror_entries(account)
    told = DailyBreakdown.objects.order_by("amount").values_list("via_api", "amount")
    assert [(via_api, int(amount)) for via_api, amount in told] == [(False, -2), (True, -1)]


@pytest.mark.parametrize("minute", [0.5, 1.5, 9])
def test_a_view_that_does_not_fit_is_said_and_left_for_a_while(
    account: Account, scripted_ledger: ScriptedLedger, minute: float
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1), ledger_row(-2, 2))
    scripted_ledger.view = [ledger_row(-9, minute)]
    assert ledger.mirror_entries(account), "the mirror itself has no trouble"
    assert LedgerMirror.objects.get().api_problem == api_view_alignment.API_VIEW_MISMATCH
    scripted_ledger.pages.clear()
    ledger.mirror_entries(account)
    assert scripted_ledger.pages == [(1, "")]
    LedgerMirror.objects.update(api_tried_at=timezone.now() - timedelta(hours=2))
    scripted_ledger.view = None
    ledger.mirror_entries(account)
    assert LedgerMirror.objects.get().api_problem == ""
    assert list(LedgerEntry.objects.values_list("via_api", flat=True)) == [True, True]


def test_it_is_tried_again_ever_more_seldom_while_it_does_not_fit(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    scripted_ledger.add_row(ledger_row(-1, 1), ledger_row(-2, 2))
    scripted_ledger.view = [ledger_row(-9, 1)]
    tried = []
    for minute in VISITED_MINUTES:
        now = start + timedelta(minutes=minute, seconds=minute)
        scripted_ledger.pages.clear()
        ledger.mirror_entries(account)
        if (1, "api") in scripted_ledger.pages:
            tried.append(minute)
    assert tried == RETRY_MINUTES
    scripted_ledger.view = None
    now += timedelta(hours=1)
    ledger.mirror_entries(account)
    kept = LedgerMirror.objects.get()
    assert (kept.api_problem, kept.api_problem_at) == ("", None)


def test_a_view_that_attributed_nothing_is_tried_again_without_a_new_count(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """Once an hour while the service has none: otherwise the whole ledger would be recounted."""
    scripted_ledger.add_row(ledger_row(-1, 1), ledger_row(-2, 2))
    ledger.mirror_entries(account)
    LedgerMirror.objects.update(api_problem=api_view_alignment.API_VIEW_UNAVAILABLE, api_high=2)
    LedgerEntry.objects.update(via_api=None)
    api_view_alignment.restart_alignment(account)
    assert (LedgerMirror.objects.get().api_high, daily_totals.accounts_with_stale_zone()) == (0, [])


def test_a_view_that_changed_has_its_days_recounted_outside_the_path_of_payers(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1), ledger_row(-2, 2))
    ledger.mirror_entries(account)
    LedgerMirror.objects.update(api_problem=api_view_alignment.API_VIEW_MISMATCH)
    api_view_alignment.restart_alignment(account)
    assert set(DailyBreakdown.objects.values_list("via_api", flat=True)) == {True}
    assert daily_totals.accounts_with_stale_zone() == [account.pk]
    daily_totals.rebuild_if_zone_changed(account)
    assert set(DailyBreakdown.objects.values_list("via_api", flat=True)) == {None}
    assert daily_totals.accounts_with_stale_zone() == []


def test_a_view_that_changed_meanwhile_is_aligned_again(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1), ledger_row(-2, 2))
    ledger.mirror_entries(account)
    scripted_ledger.web = {1}
    scripted_ledger.add_row(ledger_row(-3, 3))
    ledger.mirror_entries(account)
    ledger.mirror_entries(account)
    assert of_web(account) == [1]


@pytest.mark.parametrize("lot", [3, api_view_alignment.ATTRIBUTION_BATCH_SIZE])
@REPEATED
@given(
    kinds=strategies.lists(strategies.tuples(strategies.booleans(), strategies.integers(1, 3))),
    later=strategies.lists(
        strategies.tuples(strategies.booleans(), strategies.integers(1, 9)), max_size=12
    ),
    cut=strategies.integers(1, 9),
)
def test_any_mixture_of_equal_rows_is_distinguished_by_its_labels(
    account: Account,
    scripted_ledger: ScriptedLedger,
    monkeypatch: pytest.MonkeyPatch,
    lot: int,
    kinds: list[tuple[bool, int]],
    later: list[tuple[bool, int]],
    cut: int,
) -> None:
    monkeypatch.setattr(api_view_alignment, "ATTRIBUTION_BATCH_SIZE", lot)
    LedgerMirror.objects.all().delete()
    LedgerEntry.objects.all().delete()
    scripted_ledger.rows, scripted_ledger.web, scripted_ledger.pages = [], set(), []
    for at, (web, amount) in enumerate(kinds * 3):
        scripted_ledger.add_row(ledger_row(-amount, at // 4), web=web)
    scripted_ledger.cut_after = cut
    for _ in range(2):
        try:
            ledger.mirror_entries(account)
        except errors.UpstreamError:
            scripted_ledger.cut_after = None
    for web, times in later:
        scripted_ledger.add_row(
            *[ledger_row(-1, 10_000 + len(scripted_ledger.rows) // 4) for _ in range(times)],
            web=web,
        )
    scripted_ledger.cut_after = None
    ledger.mirror_entries(account)
    ledger.mirror_entries(account)
    assert not LedgerEntry.objects.filter(via_api=None).exists()
    web_rows = [scripted_ledger.rows[at] for at in sorted(scripted_ledger.web)]
    assert sorted(words_of_web(account)) == sorted(
        (row["credit_spend"], row["created_at"]) for row in web_rows
    )


@pytest.mark.usefixtures("small_pages")
def test_rows_of_one_second_may_have_another_order_each_time(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """Else a debit of ours counts as spent outside the API, and its charge as never charged."""
    signs = cycle((1, -1))

    def order_by_second_alone() -> None:
        api = [row for at, row in enumerate(scripted_ledger.rows) if at not in scripted_ledger.web]
        sign = next(signs)
        scripted_ledger.view = sorted(
            api, key=lambda row: (row["created_at"], sign * int(row["credit_spend"]))
        )

    scripted_ledger.before_page = order_by_second_alone
    for number in range(24):
        web = number % 5 == 2
        scripted_ledger.add_row(ledger_row(-number - 1, number // 4), web=web)
        ledger.mirror_entries(account)
    assert of_web(account) == [2, 7, 12, 17, 22]
    assert not LedgerEntry.objects.filter(via_api=None).exists()


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 100, 101])
def test_page_borders_are_no_borders_of_it(
    account: Account, scripted_ledger: ScriptedLedger, count: int
) -> None:
    scripted_ledger.add_row(ledger_row("-3", 0), web=True)
    scripted_ledger.add_row(*[ledger_row(-1, 1 + number) for number in range(count)])
    scripted_ledger.add_row(ledger_row("-3", 900), web=True)
    assert ledger.mirror_entries(account)
    assert of_web(account) == [0, count + 1]
