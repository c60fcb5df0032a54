"""A charge waits for its debit while rows of its time are not read, or not told to be the API's."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone

from proxyapi import ledger
from proxyapi.ledger import matching, trace
from proxyapi.models import Account, Charge, ChargeState, Entry, Ledger
from tests.proxyapi.ledger.conftest import START, Book, Confirmed, line, matches

LATER = 1 + 10 / 60  # minutes: ten seconds after a charge of the first minute


def test_the_row_in_its_time_may_stand_on_an_older_page(
    account: Account, book: Book, confirmed: Confirmed
) -> None:
    confirmed(4, minute=1)
    book.add(*[line(-5)] * 45, line(-4, 1), *[line(-5, 1)] * 13, line(-4, LATER))
    ledger.mirror(account)
    assert matches() == [(45, "likely")]


def test_the_row_in_its_time_may_not_be_told_to_be_the_apis_yet(
    account: Account, book: Book, confirmed: Confirmed
) -> None:
    """The view's newest page begins at another row than the ledger's."""
    confirmed(4, minute=1)
    book.add(*[line(-5)] * 41)
    book.add(*[line(-5)] * 9, web=True)
    book.add(line(-4, 1), *[line(-5, 1)] * 8, line(-4, LATER))
    ledger.mirror(account)
    assert matches() == [(50, "likely")]


def test_where_the_view_cannot_be_had_nothing_waits_for_it(
    account: Account, book: Book, confirmed: Confirmed
) -> None:
    confirmed(4, minute=1)
    book.add(line(-4, 1))
    book.view = [line(-9)]
    ledger.mirror(account)
    assert Ledger.objects.get(pk=account.pk).api_problem
    assert matches() == [(0, "certain")]


def test_an_equal_row_that_is_not_told_keeps_the_next_one_for_it(
    account: Account, confirmed: Confirmed
) -> None:
    """Neither the charge nor one whose answer got lost takes what may be either's."""
    known, lost = confirmed(4, minute=1), lost_retry(confirmed)
    read_to(account, START + timedelta(hours=1))
    dark, near = row(account, 0, seconds=61, via_api=None), row(account, 1, seconds=70)
    assert matching.match(account) == {near.pk}
    assert trace.debit_alone(lost) is None
    assert trace.trace_of(lost)
    Entry.objects.filter(pk=dark.pk).update(via_api=True)
    assert matching.match(account) == set()
    assert Entry.objects.get(charge=known) == dark
    assert trace.debit_alone(lost) == near


def test_a_charge_that_was_answered_after_the_reading_waits_for_the_next(
    account: Account, confirmed: Confirmed
) -> None:
    slow = confirmed(4, minute=1, settled_at=START + timedelta(seconds=90))
    read_to(account, START + timedelta(seconds=80))
    outside = row(account, 0, seconds=65)
    assert matching.match(account) == {outside.pk}
    own = row(account, 1, seconds=89)
    read_to(account, timezone.now())
    matching.match(account)
    assert Entry.objects.get(charge=slow) == own


def lost_retry(confirmed: Confirmed) -> Charge:
    """Sent a few seconds after a charge of the first minute; nobody knows what became of it."""
    return confirmed(
        None, operation="faceless.retry", state=ChargeState.UNKNOWN, settled_at=None,
        sent_at=START + timedelta(seconds=66), hold=Decimal(4), quote=Decimal(4),
    )  # fmt: skip


def read_to(account: Account, read_at: datetime) -> None:
    Ledger.objects.update_or_create(account=account, defaults={"read_at": read_at, "low": 0})


def row(account: Account, position: int, seconds: int, via_api: bool | None = True) -> Entry:
    happened_at = START + timedelta(seconds=seconds)
    return Entry.objects.create(
        account=account, position=position, credit_spend="-4", amount=Decimal(-4),
        happened_at=happened_at, booked_at=happened_at.isoformat(), via_api=via_api,
    )  # fmt: skip
