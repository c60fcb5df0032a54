"""Whatever comes in between: in the end the mirror holds the service's rows, each as often."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from proxyapi import ledger
from proxyapi.ledger.audit import SUM_TABLES
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors
from tests.examples import examples
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row, set_page_size

REPEATED = settings(
    max_examples=examples(6, 25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
AMOUNTS = strategies.sampled_from(["-4", "-4", "-15", "-0.68", "100"])
# What happens before a page is answered: so many rows come, or the line breaks.
TROUBLES = strategies.lists(
    strategies.one_of(strategies.integers(0, 9), strategies.just("cut")), max_size=40
)


@REPEATED
@given(
    size=strategies.integers(1, 50),
    rows=strategies.lists(AMOUNTS, max_size=160),
    troubles=TROUBLES,
)
def test_rule_4_the_mirror_is_the_ledger(
    account: Account,
    scripted_ledger: ScriptedLedger,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    rows: list[str],
    troubles: list[int | str],
) -> None:
    set_page_size(monkeypatch, size)
    start_anew(scripted_ledger, rows)
    coming = iter(troubles)
    scripted_ledger.before_page = lambda: meet(scripted_ledger, next(coming, 0))
    for _ in range(len(troubles) + 2):
        read(account)
    assert ledger.mirror_entries(account)
    assert mirror_of(account) == [
        (row["credit_spend"], row["created_at"]) for row in scripted_ledger.rows
    ]
    total = sum(LedgerEntry.objects.values_list("amount", flat=True))
    for sums in SUM_TABLES:
        assert sum(sums._default_manager.values_list("amount", flat=True)) == total
    assert not LedgerEntry.objects.filter(via_api=None).exists(), LedgerMirror.objects.values()


def start_anew(book: ScriptedLedger, rows: list[str]) -> None:
    LedgerMirror.objects.all().delete()
    LedgerEntry.objects.all().delete()
    for sums in SUM_TABLES:
        sums._default_manager.all().delete()
    book.rows, book.web, book.pages, book.cut_after = [], set(), [], None
    for at, amount in enumerate(rows):
        book.add_row(ledger_row(amount, at // 5), web=at % 7 == 0)


def meet(book: ScriptedLedger, trouble: int | str) -> None:
    book.cut_after = 0 if trouble == "cut" else None
    if trouble == "cut":
        return
    for _ in range(int(trouble)):
        book.add_row(ledger_row("-4", 10_000 + len(book.rows) // 5), web=len(book.rows) % 3 == 0)


def read(account: Account) -> None:
    try:
        ledger.mirror_entries(account)
    except errors.UpstreamError:
        return


def mirror_of(account: Account) -> list[tuple[str, str]]:
    rows = LedgerEntry.objects.filter(account=account).order_by("position")
    return list(rows.values_list("credit_spend", "booked_at"))
